// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Writes an export: the header, then chunks of a `SecretStream`. Each chunk but the last holds
/// `chunkLength` bytes of records, the last one holds from 1 to as many and the tag `final`. The header is
/// additional data of every chunk.
final class ExportWriter {
  static let chunkLength = 1 << 16

  private let file: FileBytes
  private let header: [UInt8]
  private var stream: SecretStreamWriter
  private var chunk: [UInt8] = []
  private var sealed = [UInt8](repeating: 0, count: chunkLength + SecretStream.overhead)
  /// Bytes that are written.
  private(set) var length = 0

  /// - Parameter file: an empty one.
  init(
    _ file: FileBytes, passphrase: SecretBytes, cost: Argon2id.Parameters, store: StoreID,
    created: Int64, arena: KeyArena
  ) throws {
    let salt = RandomBytes.make(Argon2id.saltLength)
    let key = try ExportKey(passphrase, cost: cost, salt: salt, in: arena)
    let stream = try SecretStreamWriter(key: key.stream)
    let proven = try ExportHeader(
      cost: cost, salt: salt, store: store, created: created, stream: stream.header
    ).proven()
    self.file = file
    self.stream = stream
    header = try proven + key.proof(of: proven)
    chunk.reserveCapacity(Self.chunkLength)
    try file.write(header, at: 0)
    length = header.count
  }

  deinit { wipe(&chunk) }

  /// Adds a record, and wipes it.
  func add(_ record: inout [UInt8]) throws {
    defer { wipe(&record) }
    var rest = record[...]
    while !rest.isEmpty {
      // Only when more comes: the last chunk must not be empty.
      if chunk.count == Self.chunkLength { try flush(.message) }
      let piece = rest.prefix(Self.chunkLength - chunk.count)
      chunk.append(contentsOf: piece)
      rest = rest.dropFirst(piece.count)
    }
  }

  /// Writes the last chunk, and makes all of it last.
  func finish(_ end: ExportEnd) throws {
    var record = ExportRecord.encode(end)
    try add(&record)
    try flush(.final)
    try file.sync()
  }

  private func flush(_ tag: SecretStream.Tag) throws {
    let count = chunk.count + SecretStream.overhead
    try sealed.withUnsafeMutableBytes { output in
      try chunk.withUnsafeBytes { chunk in
        try header.withUnsafeBytes { header in
          try stream.seal(
            chunk, additionalData: header, tag: tag,
            into: UnsafeMutableRawBufferPointer(rebasing: output[..<count]))
        }
      }
    }
    wipe(&chunk)
    chunk.removeAll(keepingCapacity: true)
    try file.write(count == sealed.count ? sealed : Array(sealed[..<count]), at: length)
    length += count
  }
}
