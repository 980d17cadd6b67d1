// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What the passphrase of an export comes to: Argon2id makes a key of it, and that has two subkeys
/// (`crypto_kdf`, context "tk-expo1"): number 1 seals the stream, number 2 proves the header.
struct ExportKey {
  let stream: GuardedKey
  private let proof: GuardedKey

  /// Takes as long as `cost` says.
  init(
    _ passphrase: SecretBytes, cost: Argon2id.Parameters, salt: [UInt8], in arena: KeyArena
  ) throws {
    let root = try arena.key { memory in
      try salt.withUnsafeBytes { salt in
        try Argon2id.derive(from: passphrase, salt: salt, parameters: cost, into: memory)
      }
    }
    func subkey(_ number: UInt64) throws -> GuardedKey {
      try arena.key { memory in
        try root.withUnsafeBytes { root in
          try KeyDerivation.derive(number, context: "tk-expo1", from: root, into: memory)
        }
      }
    }
    stream = try subkey(1)
    proof = try subkey(2)
  }

  /// The end of the header, over all before it.
  func proof(of bytes: some Collection<UInt8>) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: ExportHeader.length - ExportHeader.provenLength)
    try output.withUnsafeMutableBytes { output in
      try Array(bytes).withUnsafeBytes { bytes in
        try proof.withUnsafeBytes { try BLAKE2b.hash(bytes, key: $0, into: output) }
      }
    }
    return output
  }
}
