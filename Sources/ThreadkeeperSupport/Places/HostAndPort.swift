// SPDX-License-Identifier: Apache-2.0

/// A host with its port, for messages and URLs: `broker.lan:1883`, `[fd00::1]:1883`.
package struct HostAndPort: CustomStringConvertible {
  private let host: String
  private let port: Int

  /// - Parameter host: a name or an address without brackets.
  package init(_ host: String, _ port: some BinaryInteger) {
    self.host = host
    self.port = Int(port)
  }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
