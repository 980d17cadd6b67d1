// SPDX-License-Identifier: Apache-2.0

/// Where an SSID comes from.
package enum SSIDSource: Equatable, Sendable {
  /// The first line that this command of `/bin/sh` prints.
  case command(String)
  /// What NetworkManager is connected to, or offers, on this interface; nil: on the first that is.
  case networkManager(interface: String?)
  /// What the kernel's Wi-Fi knows of this interface.
  case iw(interface: String)
  /// What a file of hostapd says of this BSS; nil: of its first.
  case hostapd(file: String, bss: String?)

  /// The program that must be there.
  package var tool: String? {
    switch self {
    case .command, .hostapd: nil
    case .networkManager: "nmcli"
    case .iw: "iw"
    }
  }

  /// 1 to 15 bytes, as the kernel takes them (IFNAMSIZ), and nothing that a program takes for an option.
  package static func isInterface(_ name: String) -> Bool {
    (1...15).contains(name.utf8.count) && !name.hasPrefix("-") && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }
}
