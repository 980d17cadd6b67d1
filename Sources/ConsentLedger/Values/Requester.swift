// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Who asks, as the broker or the kernel has it: no requester can claim to be another.
package enum Requester: Sendable {
  /// A login of the broker.
  case mqttUser(String)
  /// A user of this machine, by number.
  case systemUser(UInt32)

  /// Whether it is the user that this process runs as, or root.
  package var isDaemonUser: Bool {
    if case .systemUser(let number) = self { number == geteuid() || number == 0 } else { false }
  }

  /// For audit, consent and log.
  package var words: String {
    switch self {
    case .mqttUser(let name): "mqtt user \(name)"
    case .systemUser(let number): "uid \(number)"
    }
  }
}

extension Requester: RawRepresentable, Codable, Hashable {
  private static let mqtt = "mqtt/"
  private static let system = "uid/"

  /// As it is stored: `mqtt/phone`, `uid/1000`.
  package var rawValue: String {
    switch self {
    case .mqttUser(let name): Self.mqtt + name
    case .systemUser(let number): "\(Self.system)\(number)"
    }
  }

  package init?(rawValue: String) {
    // Byte by byte: a name may begin with what would join the slash to one Character.
    let bytes = rawValue.utf8
    if bytes.starts(with: Self.mqtt.utf8) {
      self = .mqttUser(String(Substring(bytes.dropFirst(Self.mqtt.utf8.count))))
    } else if bytes.starts(with: Self.system.utf8),
      let number = UInt32(Substring(bytes.dropFirst(Self.system.utf8.count)))
    {
      self = .systemUser(number)
    } else {
      return nil
    }
  }

  /// Byte by byte, as the broker has it: texts that only look the same are two users.
  package static func == (a: Self, b: Self) -> Bool {
    a.rawValue.utf8.elementsEqual(b.rawValue.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in rawValue.utf8 { hasher.combine(byte) }
  }
}
