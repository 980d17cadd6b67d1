// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Tells whether a device would be announced as it was before: 16 bytes of BLAKE2b (RFC 7693).
///
/// That of a border router is made from that of a router without a name, so that a start need not encode each of
/// them.
package struct HomeAssistantForm: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Public: it keeps these hashes apart from others, and hides nothing.
  private static let domain = Array("threadkeeper/home-assistant/1".utf8)
  /// Between texts; a text that is missing is another mark, and neither is in UTF-8.
  private static let end: UInt8 = 0xFF
  private static let missing: UInt8 = 0xFE

  /// Of the device as it is published.
  package init(_ device: HomeAssistantDevice) {
    self.init(hashing: WireJSON().encode(device))
  }

  /// Of a border router.
  ///
  /// - Parameter plain: the form of a router without texts, of the same place.
  package init(_ router: HomeAssistantDevice.Router, plain: HomeAssistantForm) {
    var input = plain.bytes
    for text in [router.agent, router.name, router.vendor, router.model] {
      if let text { input += Array(text.utf8) } else { input.append(Self.missing) }
      input.append(Self.end)
    }
    if router.isOnlySeen { input.append(Self.missing) }
    self.init(hashing: input)
  }

  /// As it was stored; nil unless it has 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  private init(hashing input: [UInt8]) {
    var hash = [UInt8](repeating: 0, count: 16)
    input.withUnsafeBytes { input in
      Self.domain.withUnsafeBytes { domain in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: domain, into: $0) }
      }
    }
    bytes = hash
  }
}
