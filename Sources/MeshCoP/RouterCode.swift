import SodiumCrypto

/// A code that a border router shows for a few minutes, with which others get its credentials (Thread 1.4, credential
/// sharing): nine digits.
package struct RouterCode: Sendable {
  /// Wrong codes after which OpenThread closes a window.
  package static let mostTries = 10

  /// Its digits.
  package let secret: SecretBytes
  /// Whether the last digit is the check digit of the others (Verhoeff), as OpenThread makes codes. Of a code that was
  /// mistyped it is not.
  package let isChecked: Bool

  /// - Parameter text: with spaces and hyphens wherever somebody writes them.
  package init?(_ text: some StringProtocol) {
    let digits = text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
    guard digits.count == 9, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    secret = SecretBytes(copying: digits)
    var sum = 0
    for (place, digit) in digits.reversed().enumerated() {
      let permuted = (0..<place % 8).reduce(Int(digit & 0x0F)) { value, _ in Self.permutation[value] }
      sum = Self.product(sum, permuted)
    }
    isChecked = sum == 0
  }

  private static let permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

  /// In the dihedral group of ten elements: 0 to 4 are rotations, 5 to 9 reflections.
  private static func product(_ a: Int, _ b: Int) -> Int {
    let rotation = (a < 5 ? a + b : a - b + 5) % 5
    return (a < 5) == (b < 5) ? rotation : rotation + 5
  }
}
