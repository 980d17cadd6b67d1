// SPDX-License-Identifier: Apache-2.0

/// What the command of `--command` prints.
enum CommandOutput {
  /// The first line, byte for byte, without its end. Blanks count: an SSID may begin or end with them.
  static func reading(_ output: [UInt8]) throws(SSIDTrouble) -> SSIDReading {
    var line = output.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return try SSID(line).map { .ssid($0) } ?? .none
  }
}
