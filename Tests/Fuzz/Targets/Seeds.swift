import Foundation

/// The inputs in the repository: texts as they are, and `.hex` files, in which white space and what follows a `#` do
/// not count.
package enum Seeds {
  /// - Parameter directory: `Tests/Fuzz/Corpus`.
  /// - Returns: by the name of the file, sorted.
  package static func read(of target: FuzzTarget, in directory: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = directory + "/" + target.rawValue
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
      let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
      guard name.hasSuffix(".hex") else { return (name, Array(data)) }
      return (name, try need("\(name) holds hex") { bytes(String(decoding: data, as: UTF8.self)) })
    }
  }

  /// Where they are in the repository that this was built from.
  package static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus").path

  /// No bytes, and each seed whole, cut and with one byte changed, at some 16 places each.
  ///
  /// - Throws: what reading does; a `FuzzFinding` when a target has no seed.
  package static func variants(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let seeds = try read(of: target, in: corpus)
    try expect(!seeds.isEmpty, "\(target.rawValue) has seeds")
    var variants: [(name: String, bytes: [UInt8])] = [("nothing", [])] + seeds
    for (name, bytes) in seeds {
      for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 16)) {
        var changed = bytes
        changed[count] ^= 0xFF
        variants.append(("\(name), the first \(count) bytes", Array(bytes.prefix(count))))
        variants.append(("\(name), byte \(count) changed", changed))
      }
    }
    return variants
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.split(whereSeparator: \.isNewline).flatMap { $0.prefix { $0 != "#" } }.filter { !$0.isWhitespace }
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
