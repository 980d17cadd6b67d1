// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The beginning of an export, in plaintext. Numbers are big-endian, the time is microseconds since 1970.
///
///     "TKEXPORT" | format 4 | 0 4 | key derivation 4 | passes 4 | memory 8 | salt 16 | store 16
///     | created 8 | stream header 24 | checksum 16 | proof 16
///
/// 128 bytes. The checksum is BLAKE2b-128 over what is before it: so damage is not taken for a wrong
/// passphrase. The proof is the same hash under a key of the passphrase, over what is before that: so a
/// wrong passphrase is not taken for damage, and nobody alters the header who does not know it. All of
/// it is additional data of every chunk.
struct ExportHeader: Equatable {
  static let length = 128
  static let checkedLength = 96
  static let provenLength = 112
  static let format: UInt32 = 1
  static let magic = Array("TKEXPORT".utf8)
  /// The only key derivation there is: Argon2id, version 1.3.
  static let argon2id13: UInt32 = 1

  var cost: Argon2id.Parameters
  var salt: [UInt8]
  /// The store that was exported.
  var store: StoreID
  var created: Int64
  /// See `SecretStream`.
  var stream: [UInt8]

  /// Up to the proof.
  func proven() throws -> [UInt8] {
    var bytes = Self.magic
    bytes.append(bigEndian: Self.format)
    bytes.append(bigEndian: UInt32(0))
    bytes.append(bigEndian: Self.argon2id13)
    bytes.append(bigEndian: UInt32(clamping: cost.operations))
    bytes.append(bigEndian: UInt64(clamping: cost.memory))
    bytes += salt + store.bytes
    bytes.append(bigEndian: created)
    bytes += stream
    return try bytes + Self.checksum(bytes)
  }

  static func checksum(_ bytes: some Collection<UInt8>) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: provenLength - checkedLength)
    try output.withUnsafeMutableBytes { output in
      try Array(bytes).withUnsafeBytes { try BLAKE2b.hash($0, into: output) }
    }
    return output
  }

  init(
    cost: Argon2id.Parameters, salt: [UInt8], store: StoreID, created: Int64, stream: [UInt8]
  ) {
    self.cost = cost
    self.salt = salt
    self.store = store
    self.created = created
    self.stream = stream
  }

  /// Reads the first `length` bytes of a file, or fewer where it has no more.
  ///
  /// - Throws: `decode`, with words for each thing that can be wrong.
  init(decoding bytes: [UInt8], path: String) throws {
    guard bytes.starts(with: Self.magic) else {
      let isStore = bytes.starts(with: Array("SQLite format 3\0".utf8))
      throw KeychainError(
        .decode,
        "\(path) is no export of a threadkeeper store"
          + (isStore ? ": it may be a backup, which `threadkeeper store restore` takes" : ""))
    }
    guard bytes.count == Self.length else {
      throw KeychainError(
        .decode, "\(path) ends within its header: it was cut off. Use a whole copy")
    }
    var reader = ExportBytes(bytes[Self.magic.count...])
    let format: UInt32 = try reader.number()
    guard format == Self.format else {
      throw KeychainError(
        .decode,
        "\(path) is an export of format \(format), this program knows \(Self.format):"
          + " use the newer program")
    }
    guard
      try Self.checksum(bytes[..<Self.checkedLength])
        == Array(bytes[Self.checkedLength..<Self.provenLength])
    else {
      throw KeychainError(
        .decode,
        "the header of \(path), its first \(Self.length) bytes, is damaged: use another copy")
    }
    let reserved: UInt32 = try reader.number()
    let derivation: UInt32 = try reader.number()
    guard reserved == 0, derivation == Self.argon2id13 else {
      throw KeychainError(
        .decode,
        "\(path) makes its key in a way (\(derivation)) that this program does not know:"
          + " use the newer program")
    }
    let operations: UInt32 = try reader.number()
    let memory: UInt64 = try reader.number()
    cost = Argon2id.Parameters(operations: Int(operations), memory: Int(clamping: memory))
    do {
      try cost.check()
    } catch {
      throw KeychainError(
        .decode,
        "\(path) is not opened, because nobody but an attacker makes such an export: \(error)")
    }
    salt = Array(try reader.take(Argon2id.saltLength))
    guard let store = StoreID(Array(try reader.take(16))) else { throw SodiumError.notAuthentic }
    self.store = store
    created = Int64(bitPattern: try reader.number())
    stream = Array(try reader.take(SecretStream.headerLength))
  }
}
