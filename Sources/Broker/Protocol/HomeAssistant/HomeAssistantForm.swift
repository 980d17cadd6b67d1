// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Tells whether a device would be announced as it was before: 16 bytes of BLAKE2b (RFC 7693) of what is published.
package struct HomeAssistantForm: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/home-assistant/1".utf8)

  /// - Parameter payload: the device as it is published.
  package init(of payload: [UInt8]) {
    var hash = [UInt8](repeating: 0, count: 16)
    payload.withUnsafeBytes { input in
      Self.domain.withUnsafeBytes { domain in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: domain, into: $0) }
      }
    }
    bytes = hash
  }

  /// As it was stored; nil unless it has 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }
}
