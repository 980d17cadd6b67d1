// SPDX-License-Identifier: Apache-2.0

/// The broker that a password is for. One that was given for an encrypted connection is never found
/// for one in plaintext.
package struct BrokerAddress: Sendable, Hashable, CustomStringConvertible {
  package let host: String
  package let port: UInt16
  package let isEncrypted: Bool

  package init(host: String, port: UInt16, isEncrypted: Bool) {
    self.host = host
    self.port = port
    self.isEncrypted = isEncrypted
  }

  /// Names the broker and how it is spoken to: `mqtts://broker.local:8883`.
  package var url: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(self)".lowercased() }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
