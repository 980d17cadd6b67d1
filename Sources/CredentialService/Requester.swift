// SPDX-License-Identifier: Apache-2.0

/// Who asks, as the broker or the kernel has it: nobody can claim to be another.
package enum Requester: Hashable, Sendable {
  /// A login of the broker.
  case mqttUser(String)
  /// A user of this machine, by number.
  case systemUser(UInt32)

  /// For audit, consent and log.
  package var words: String {
    switch self {
    case .mqttUser(let name): "mqtt user \(name)"
    case .systemUser(let number): "uid \(number)"
    }
  }
}
