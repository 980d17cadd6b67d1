// SPDX-License-Identifier: Apache-2.0

/// The name of a Wi-Fi network: 1 to 32 bytes of anything (IEEE 802.11, 9.4.2.2). As text: UTF-8, in which U+FFFD stands
/// for what is no UTF-8 and for control characters, so that it can stand in JSON, in a log and on a terminal.
package struct SSID: Equatable, Sendable, CustomStringConvertible {
  package static let mostBytes = 32

  package let description: String

  /// - Returns: nil for a hidden network: no bytes, or zeros only.
  /// - Throws: `SSIDTrouble.tooLong`.
  package init?(_ bytes: some Collection<UInt8>) throws(SSIDTrouble) {
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    guard bytes.count <= Self.mostBytes else { throw .tooLong(bytes.count) }
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      text.append(Self.isPlain(scalar) ? scalar : "\u{FFFD}")
    }
    description = String(text)
  }

  /// Neither a control character nor one that changes the direction or the line of what follows. The joiner of emoji
  /// is plain.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format: scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

/// What one look at a source has found.
package enum SSIDReading: Equatable, Sendable {
  case ssid(SSID)
  /// Not connected, switched off, or a hidden network.
  case none
  case trouble(SSIDTrouble)
}
