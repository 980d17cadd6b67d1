// SPDX-License-Identifier: Apache-2.0

/// A service on the local network, as it describes itself. Nothing of it is authenticated.
package struct ServiceRecord: Sendable, Equatable {
  /// The instance name (RFC 6763, section 4.1.1): 1 to 63 bytes of UTF-8, without control characters.
  package let name: String
  /// The host that offers it, such as `router.local`: 1 to 255 bytes of UTF-8, without control characters.
  package let host: String
  package let port: UInt16
  package let text: TXTRecord

  package init(name: String, host: String, port: UInt16, text: TXTRecord) {
    self.name = name
    self.host = host
    self.port = port
    self.text = text
  }
}
