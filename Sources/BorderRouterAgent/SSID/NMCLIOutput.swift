// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What `nmcli --terse --fields ACTIVE,SSID-HEX,DEVICE device wifi list` prints: a line for each access point.
///
/// The field SSID-HEX has the bytes: SSID is cut and converted for terminals. The name of a connection, which
/// GENERAL.CONNECTION has, can be anything. Separators in a value come with a backslash (nmcli(1), `--escape`).
enum NMCLIOutput {
  static func arguments(_ interface: String?) -> [String] {
    let list = [
      "--terse", "--escape", "yes", "--colors", "no", "--fields", "ACTIVE,SSID-HEX,DEVICE",
      "device", "wifi", "list",
      // Without a scan, which takes seconds and disturbs the Wi-Fi.
      "--rescan", "no",
    ]
    return list + (interface.map { ["ifname", $0] } ?? [])
  }

  static func reading(_ output: [UInt8], interface: String?) throws(SSIDTrouble) -> SSIDReading {
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let fields = fields(of: line)
      guard fields.count == 3 else { throw .malformed(tool: "nmcli") }
      guard fields[0] == Array("yes".utf8) else { continue }
      if let interface, fields[2] != Array(interface.utf8) { continue }
      // A hidden network.
      if fields[1].isEmpty || fields[1] == Array("--".utf8) { continue }
      guard let bytes = Hexadecimal.decode(String(decoding: fields[1], as: UTF8.self)) else {
        throw .malformed(tool: "nmcli")
      }
      if let ssid = try SSID(bytes) { return .ssid(ssid) }
    }
    return .none
  }

  /// Parted at each colon that has no backslash before it.
  static func fields(of line: some Sequence<UInt8>) -> [[UInt8]] {
    var fields: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in line {
      if isEscaped {
        fields[fields.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: ":") {
        fields.append([])
      } else {
        fields[fields.count - 1].append(byte)
      }
    }
    return fields
  }
}
