/// What a service says about itself: the key/value pairs of its TXT record (RFC 6763, section 6).
///
/// Anybody on the local network can publish one. Values are bytes, and mean nothing before they are checked.
package struct TXTRecord: Sendable, Equatable {
  /// More entries than this are left out, in the order of the record.
  package static let maximumEntries = 64
  /// Bytes of the record on the wire, each entry with its length byte. RFC 6763, section 6.2: more does not fit into
  /// one packet of Ethernet.
  package static let maximumBytes = 1_300
  /// Bytes of a key. RFC 6763, section 6.4 recommends 9.
  package static let maximumKeyBytes = 32

  /// Entries that were left out because a limit was exceeded or the key is not printable ASCII. Those that the RFC
  /// says to ignore, without a key or with one that came before, are not counted.
  package let refused: Int

  private struct Pair: Sendable, Equatable {
    /// In lowercase.
    var key: [UInt8]
    var value: [UInt8]?
  }

  private let pairs: [Pair]

  /// - Parameter entries: the strings of the record, `key=value`, in their order.
  package init(entries: [[UInt8]]) {
    var pairs: [Pair] = []
    var refused = 0
    var bytes = 0
    for (index, entry) in entries.enumerated() {
      bytes += 1 + entry.count
      guard index < Self.maximumEntries, bytes <= Self.maximumBytes else {
        refused += entries.count - index
        break
      }
      // Section 6.4: no key is silently ignored. Section 6.1: so is an empty string.
      guard let first = entry.first, first != UInt8(ascii: "=") else { continue }
      let key = entry.prefix { $0 != UInt8(ascii: "=") }
      guard entry.count <= 255, key.count <= Self.maximumKeyBytes, key.allSatisfy({ (0x20...0x7E).contains($0) }) else {
        refused += 1
        continue
      }
      let lowercase = Self.lowercase(key)
      // Section 6.4: only the first of a repeated key counts.
      guard !pairs.contains(where: { $0.key == lowercase }) else { continue }
      let hasValue = key.endIndex < entry.endIndex
      pairs.append(Pair(key: lowercase, value: hasValue ? Array(entry[(key.endIndex + 1)...]) : nil))
    }
    self.pairs = pairs
    self.refused = refused
  }

  /// The bytes after the `=` of the first entry with this key, perhaps none; nil when there is no such entry, or it
  /// has no `=`. Upper and lower case are the same (section 6.4).
  package subscript(key: String) -> [UInt8]? { pair(key)?.value }

  /// Whether there is an entry with this key, with a value or without.
  package func contains(_ key: String) -> Bool { pair(key) != nil }

  private func pair(_ key: String) -> Pair? {
    let wanted = Self.lowercase(key.utf8)
    return pairs.first { $0.key == wanted }
  }

  /// ASCII alone, as in names of the DNS (RFC 6762, section 16).
  static func lowercase(_ key: some Sequence<UInt8>) -> [UInt8] {
    key.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

/// Checks names that come from the network.
enum CheckedText {
  /// The text at `pointer`, up to its NUL, when it is 1 to `limit` bytes of valid UTF-8 that can be shown: without
  /// control characters, line separators, and characters that change the direction of what follows. Nil otherwise.
  ///
  /// At most `limit` + 1 bytes are read.
  static func text(_ pointer: UnsafePointer<CChar>?, limit: Int) -> String? {
    guard let pointer else { return nil }
    let bytes = bytes(pointer, limit: limit + 1)
    return bytes.count > limit ? nil : text(bytes)
  }

  /// The same, cut off at the limit, with U+FFFD in place of what cannot be shown.
  static func shown(_ pointer: UnsafePointer<CChar>?, limit: Int) -> String {
    guard let pointer else { return "" }
    let text = String(decoding: bytes(pointer, limit: limit), as: UTF8.self)
    return String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : "\u{FFFD}" }))
  }

  private static func bytes(_ pointer: UnsafePointer<CChar>, limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit, pointer[bytes.count] != 0 { bytes.append(UInt8(bitPattern: pointer[bytes.count])) }
    return bytes
  }

  private static func text(_ bytes: [UInt8]) -> String? {
    guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.allSatisfy(isHarmless)
    else { return nil }
    return text
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
    // Joiners belong to names, in emoji and in some scripts. Overrides and isolates do not.
    case .format: !scalar.properties.isBidiControl
    default: true
    }
  }
}
