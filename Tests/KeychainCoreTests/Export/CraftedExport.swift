// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// An export made, and one read, by hand, as the format says and without the code that exports. So what is in a
/// file with the right passphrase can be anything.
struct CraftedExport {
  static let chunkLength = 65_536

  var passphrase = ExportedFile.passphrase
  var salt = [UInt8](repeating: 5, count: 16)
  var store = [UInt8](repeating: 6, count: 16)
  /// Each sealed on its own, with its tag.
  var chunks: [(bytes: [UInt8], tag: SecretStream.Tag)] = []

  /// The records in one chunk.
  init(_ records: [[UInt8]]) { chunks = [(records.flatMap { $0 }, .final)] }

  init(chunks: [(bytes: [UInt8], tag: SecretStream.Tag)]) { self.chunks = chunks }

  static func big(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) }
  }

  static func record(_ kind: UInt8, version: UInt8 = 1, _ body: [UInt8]) -> [UInt8] {
    [kind, version] + big(UInt64(body.count), 4) + body
  }

  static func text(_ number: UInt8, _ text: String) -> [UInt8] {
    [number, 1] + big(UInt64(text.utf8.count), 4) + text.utf8
  }

  static func date(_ number: UInt8, _ date: UInt64 = 1_700_000_000_000_000) -> [UInt8] {
    [number, 4] + big(8, 4) + big(date, 8)
  }

  /// A generic password.
  static func password(
    _ account: String, class itemClass: UInt8 = 1, accessible: UInt8 = 1,
    attributes: [[UInt8]] = [date(13), date(14)], secret: String = "secret"
  ) -> [UInt8] {
    let all = [text(1, account), text(2, "mail"), text(3, "own")] + attributes
    return record(
      1,
      [itemClass, accessible] + big(UInt64(all.count), 2) + all.flatMap { $0 }
        + big(UInt64(secret.utf8.count), 4) + secret.utf8)
  }

  static func end(_ items: UInt64, damaged: UInt64 = 0) -> [UInt8] {
    record(255, big(items, 8) + big(damaged, 8) + [0])
  }

  func bytes() throws -> [UInt8] {
    let (stream, proof) = try Self.keys(passphrase, salt, passes: 2, memory: 64 << 20)
    var writer = try SecretStreamWriter(key: stream)
    var header = Array("TKEXPORT".utf8)
    header += Self.big(1, 4) + Self.big(0, 4) + Self.big(1, 4) + Self.big(2, 4)
    header += Self.big(64 << 20, 8) + salt + store + Self.big(1_700_000_000_000_000, 8)
    header += writer.header
    header += try Self.hash(header)
    header += try Self.hash(header, key: proof)
    var bytes = header
    for (chunk, tag) in chunks {
      var sealed = [UInt8](repeating: 0, count: chunk.count + 17)
      try sealed.withUnsafeMutableBytes { output in
        try chunk.withUnsafeBytes { chunk in
          try header.withUnsafeBytes { header in
            try writer.seal(chunk, additionalData: header, tag: tag, into: output)
          }
        }
      }
      bytes += sealed
    }
    return bytes
  }

  /// The records of an export, one after the other.
  static func read(_ bytes: [UInt8], passphrase: String) throws -> [UInt8] {
    func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
    let (stream, proof) = try keys(
      passphrase, Array(bytes[32..<48]), passes: number(20..<24), memory: number(24..<32))
    guard try hash(bytes[..<112], key: proof) == Array(bytes[112..<128]) else {
      throw SodiumError.notAuthentic
    }
    var reader = try SecretStreamReader(header: Array(bytes[72..<96]), key: stream)
    var (records, offset) = ([UInt8](), 128)
    let header = Array(bytes[..<128])
    while offset < bytes.count {
      let sealed = Array(bytes[offset..<min(offset + chunkLength + 17, bytes.count)])
      offset += sealed.count
      var chunk = [UInt8](repeating: 0, count: sealed.count - 17)
      let tag = try chunk.withUnsafeMutableBytes { output in
        try sealed.withUnsafeBytes { sealed in
          try header.withUnsafeBytes {
            try reader.open(sealed, additionalData: $0, into: output)
          }
        }
      }
      guard (tag == .final) == (offset == bytes.count) else { throw SodiumError.notAuthentic }
      records += chunk
    }
    return records
  }

  private static func keys(
    _ passphrase: String, _ salt: [UInt8], passes: Int, memory: Int
  ) throws -> (stream: SecretBytes, proof: SecretBytes) {
    func fill(_ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> SecretBytes {
      try SecretBytes(capacity: 32) { memory in
        try body(memory)
        return 32
      }
    }
    let root = try fill { output in
      try salt.withUnsafeBytes {
        try Argon2id.derive(
          from: Sample.secret(passphrase), salt: $0,
          parameters: .init(operations: passes, memory: memory), into: output)
      }
    }
    func subkey(_ number: UInt64) throws -> SecretBytes {
      try fill { output in
        try root.withUnsafeBytes {
          try KeyDerivation.derive(number, context: "tk-expo1", from: $0, into: output)
        }
      }
    }
    return (try subkey(1), try subkey(2))
  }

  private static func hash(
    _ bytes: some Collection<UInt8>, key: SecretBytes? = nil
  ) throws -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: 16)
    try sum.withUnsafeMutableBytes { sum in
      try Array(bytes).withUnsafeBytes { bytes in
        guard let key else { return try BLAKE2b.hash(bytes, into: sum) }
        try key.withUnsafeBytes { try BLAKE2b.hash(bytes, key: $0, into: sum) }
      }
    }
    return sum
  }
}
