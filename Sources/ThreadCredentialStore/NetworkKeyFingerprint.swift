// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadDataset

/// Names a Network Key in the records of consent and of routers that left, without revealing it.
///
///     hex(BLAKE2b-128(key: Network Key, message: "threadkeeper consent" | Extended PAN ID))
///
/// The Network Key itself is the key of the hash, not a secret of the store: so the fingerprint stays the
/// same after a rotation of the store's keys and in a backup. Only who has the Network Key can compute it.
/// It is kept in sealed items and is not published, logged or printed.
package enum NetworkKeyFingerprint {
  private static let length = 16
  private static let context = Array("threadkeeper consent".utf8)

  /// - Returns: 32 hex digits; nil for a dataset without a Network Key or an Extended PAN ID.
  package static func make(of dataset: OperationalDataset) -> String? {
    guard let key = dataset.networkKey, let network = dataset.extendedPANID else { return nil }
    let message = context + network.bytes
    var output = [UInt8](repeating: 0, count: length)
    do {
      try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { key in
          try output.withUnsafeMutableBytes { try BLAKE2b.hash(message, key: key, into: $0) }
        }
      }
    } catch {
      return nil
    }
    return Hexadecimal.encode(output)
  }
}
