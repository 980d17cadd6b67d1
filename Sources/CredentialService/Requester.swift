// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Who asks, as the broker or the kernel has it: nobody can claim to be another.
package enum Requester: Hashable, Sendable {
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
