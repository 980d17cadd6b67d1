// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import ThreadDataset

/// The client ids of agents at the broker.
///
/// Whoever connects with a client id ends the connection that has it, and gets its session. So an id follows from a
/// secret, and from nothing that is published. All begin in the same way, for a broker with `clientid_prefixes`.
package struct ClientIDs: Sendable {
  package static let beginning = "threadkeeper-"
  /// Bytes of the secret, and of what follows the beginning.
  package static let size = 16

  private let secret: [UInt8]

  /// - Parameter secret: 16 bytes; without it, one for this process.
  package init(secret: [UInt8]? = nil) { self.secret = secret ?? RandomBytes.make(Self.size) }

  /// - Parameter name: of the connection; the same name always gets the same id.
  package func id(of name: String) -> String {
    var id = RandomBytes.make(Self.size)
    // The lengths are right, so it does not fail.
    try? Array(name.utf8).withUnsafeBytes { message in
      try secret.withUnsafeBytes { key in
        try id.withUnsafeMutableBytes { try BLAKE2b.hash(message, key: key, into: $0) }
      }
    }
    return Self.beginning + Hexadecimal.encode(id)
  }
}
