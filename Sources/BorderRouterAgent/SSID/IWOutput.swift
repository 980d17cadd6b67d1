// SPDX-License-Identifier: Apache-2.0

/// What `iw dev INTERFACE info` and `link` print: a fact on each line, behind a tab. An SSID is the rest of its line;
/// all but visible ASCII and inner blanks is `\xNN` there, and so is a backslash.
enum IWOutput {
  enum Kind: String, CaseIterable {
    /// `ssid NAME`: of an access point, and with newer kernels of a station.
    case info
    /// `SSID: NAME`, of a station; `Not connected.`
    case link

    var field: String { self == .info ? "ssid " : "SSID: " }
  }

  static func arguments(_ kind: Kind, _ interface: String) -> [String] {
    ["dev", interface, kind.rawValue]
  }

  /// - Returns: nil when no line has an SSID.
  static func ssid(in output: [UInt8], of kind: Kind) throws(SSIDTrouble) -> SSID? {
    let field = Array(kind.field.utf8)
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let fact = line.drop { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      guard fact.starts(with: field) else { continue }
      return try SSID(try unescaped(fact.dropFirst(field.count)))
    }
    return nil
  }

  static func unescaped(_ text: ArraySlice<UInt8>) throws(SSIDTrouble) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard rest.first == UInt8(ascii: "x"), let high = digit(rest.dropFirst().first),
        let low = digit(rest.dropFirst(2).first)
      else { throw .malformed(tool: "iw") }
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(3)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
  }
}
