import SodiumCrypto

/// A code of 140 random bits that a person keeps on paper: seven groups of five,
/// `8KQ2M-1XV7C-…`.
///
/// The alphabet is Crockford's base 32, which has no I, L, O and U: they are read as 1, 1, 0, and U is
/// refused. The fifth of each group is a check digit: with the digits d as elements of GF(32)
/// (x⁵ + x² + 1), 1·d₁ + 2·d₂ + 3·d₃ + 4·d₄ + 5·d₅ is the number of the group. So one wrong digit,
/// two that changed places, and two groups that changed places are noticed, and in which group.
package struct RecoveryCode: Sendable {
  private static let groups = 7
  private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let separators: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "-")]

  /// The digits without what separates them, in capitals.
  private let text: SecretBytes

  /// A new one.
  package init() {
    text = SecretBytes(capacity: Self.groups * 5) { memory in
      RandomBytes.fill(memory)
      for group in 0..<Self.groups {
        let start = group * 5
        for position in start..<(start + 5) { memory[position] &= 31 }
        let rest = (0..<4).reduce(UInt8(group + 1)) { sum, position in
          sum ^ Self.multiply(UInt8(position + 1), memory[start + position])
        }
        memory[start + 4] = Self.multiply(rest, Self.inverseOfFive)
        for position in start..<(start + 5) { memory[position] = Self.digits[Int(memory[position])] }
      }
      return memory.count
    }
  }

  /// What a person has typed, with spaces and hyphens anywhere.
  ///
  /// - Throws: `authFailed` with the group that has a mistake; never the code.
  package init(typed: some Sequence<UInt8>) throws(KeychainError) {
    let count = Self.groups * 5
    var failure: String?
    text = SecretBytes(capacity: count) { memory in
      var filled = 0
      for byte in typed where !Self.separators.contains(byte) {
        guard filled < count else {
          filled += 1
          continue
        }
        guard let digit = Self.value(byte) else {
          failure = "group \(filled / 5 + 1) has a character that no code has"
          return 0
        }
        memory[filled] = digit
        filled += 1
      }
      guard filled == count else {
        let words = filled > count ? "more" : "\(filled)"
        failure = "a recovery code has \(count) letters and digits, this one has \(words)"
        return 0
      }
      for group in 0..<Self.groups {
        let sum = (0..<5).reduce(UInt8(0)) { sum, position in
          sum ^ Self.multiply(UInt8(position + 1), memory[group * 5 + position])
        }
        guard sum == UInt8(group + 1) else {
          failure = "group \(group + 1) is mistyped"
          return 0
        }
      }
      for position in 0..<count { memory[position] = Self.digits[Int(memory[position])] }
      return count
    }
    if let failure { throw KeychainError(.authFailed, "this is no recovery code: \(failure)") }
  }

  /// For the one time that a person sees it.
  package func revealed() -> String {
    text.withUnsafeBytes { bytes in
      (0..<Self.groups).map { group in String(decoding: bytes[(group * 5)..<(group * 5 + 5)], as: UTF8.self) }.joined(
        separator: "-")
    }
  }

  /// Whether this is its third group, as a person types it who has written the code down.
  package func hasThirdGroup(_ typed: some Sequence<UInt8>) -> Bool {
    let group = typed.filter { !Self.separators.contains($0) }.map { Self.value($0).map { Self.digits[Int($0)] } }
    return text.withUnsafeBytes { group.elementsEqual($0[10..<15].map(Optional.some)) }
  }

  /// The secret of the slot: BLAKE2b-256 of the digits, keyed with what they are.
  func secret() throws -> SecretBytes {
    let name = Array("threadkeeper recovery code".utf8)
    return try SecretBytes(capacity: 32) { memory in
      try text.withUnsafeBytes { digits in try name.withUnsafeBytes { try BLAKE2b.hash(digits, key: $0, into: memory) }
      }
      return memory.count
    }
  }

  private static func value(_ byte: UInt8) -> UInt8? {
    let capital = byte >= UInt8(ascii: "a") ? byte & 0xDF : byte
    switch capital {
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    case UInt8(ascii: "O"): return 0
    default: return digits.firstIndex(of: capital).map { UInt8($0) }
    }
  }

  private static let inverseOfFive: UInt8 = (1..<32).first { multiply($0, 5) == 1 } ?? 1

  /// In GF(32).
  private static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var (product, factor) = (UInt8(0), left)
    for bit in 0..<5 {
      if right >> bit & 1 == 1 { product ^= factor }
      factor = factor << 1 ^ (factor & 0x10 == 0 ? 0 : 0x25)
    }
    return product & 31
  }
}

extension RecoveryCode: CustomStringConvertible, CustomReflectable {
  package var description: String { "<recovery code>" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
