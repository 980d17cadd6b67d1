// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The tag over a whole backup file: keyed BLAKE2b-256, piece after piece, each with the tag of what
/// came before it. The key is subkey 3 of the manifest key (see `ManifestKey`).
struct BackupTag {
  static let length = 32
  static let pieceLength = 1 << 20

  private let key: GuardedKey
  private(set) var value = [UInt8](repeating: 0, count: Self.length)

  init(_ manifestKey: GuardedKey, in arena: KeyArena) throws {
    key = try arena.key { memory in
      try manifestKey.withUnsafeBytes { key in
        try KeyDerivation.derive(3, context: "tk-mani1", from: key, into: memory)
      }
    }
  }

  /// Goes on with the next piece: `pieceLength` bytes, the last one fewer.
  mutating func add(_ piece: some Collection<UInt8>) throws {
    let message = value + piece
    try value.withUnsafeMutableBytes { output in
      try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { try BLAKE2b.hash(message, key: $0, into: output) }
      }
    }
  }
}
