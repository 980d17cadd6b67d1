// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The `parameters` of a passphrase slot: algorithm 1 | passes 4 | memory 8 | salt 16.
struct PassphraseParameters {
  private static let argon2id13: UInt8 = 1

  let cost: Argon2id.Parameters
  let salt: [UInt8]

  init(_ cost: Argon2id.Parameters) {
    self.cost = cost
    salt = RandomBytes.make(Argon2id.saltLength)
  }

  init(decoding bytes: [UInt8]) throws {
    guard bytes.count == 13 + Argon2id.saltLength, bytes[0] == Self.argon2id13 else {
      throw SodiumError.refusedParameters("a passphrase slot has parameters that are not known")
    }
    let (operations, memory) = bytes.withUnsafeBytes {
      (
        UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
      )
    }
    cost = Argon2id.Parameters(operations: Int(operations), memory: Int(clamping: memory))
    salt = Array(bytes[13...])
  }

  var encoded: [UInt8] {
    var bytes = [Self.argon2id13]
    withUnsafeBytes(of: UInt32(clamping: cost.operations).bigEndian) {
      bytes.append(contentsOf: $0)
    }
    withUnsafeBytes(of: UInt64(clamping: cost.memory).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes + salt
  }
}
