// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Reads what `ExportWriter` wrote. The passphrase is tried once; the records can be gone through again
/// and again, and each time every byte is authenticated.
final class ExportReader {
  let header: ExportHeader
  /// Bytes of the file.
  let length: Int
  private let file: FileBytes
  private let head: [UInt8]
  private let key: GuardedKey

  /// - Throws: `decode` for what is no export, is damaged, or has parameters that are refused; `authFailed`
  ///   for a wrong passphrase.
  init(_ file: FileBytes, passphrase: SecretBytes, arena: KeyArena) throws {
    self.file = file
    length = try file.length()
    head = try file.read(at: 0, count: min(length, ExportHeader.length))
    header = try ExportHeader(decoding: head, path: file.path)
    let key = try ExportKey(passphrase, cost: header.cost, salt: header.salt, in: arena)
    let proof = try key.proof(of: head[..<ExportHeader.provenLength])
    guard
      SecretBytes(copying: proof) == SecretBytes(copying: head[ExportHeader.provenLength...])
    else {
      throw KeychainError(
        .authFailed,
        "the passphrase does not open \(file.path): it is mistyped, or that of another export")
    }
    self.key = key.stream
  }

  /// Gives each item to `body`, in the order in which they were written, and returns the end.
  ///
  /// - Parameter progress: told the bytes that are read.
  /// - Throws: `decode` when anything is altered, missing, or of an unknown kind; what `body` throws.
  ///   Items that came before it have been given out by then.
  func forEachItem(
    progress: (Int) throws -> Void = { _ in }, _ body: (NewItem) throws -> Void
  ) throws -> ExportEnd {
    var stream = try SecretStreamReader(header: header.stream, key: key)
    var records = ExportRecords()
    defer { records.wipe() }
    var offset = ExportHeader.length
    var chunk = [UInt8](repeating: 0, count: ExportWriter.chunkLength)
    defer { wipe(&chunk) }
    while offset < length {
      let sealed = try file.read(
        at: offset, count: min(ExportWriter.chunkLength + SecretStream.overhead, length - offset))
      guard sealed.count > SecretStream.overhead else { throw cutOff() }
      let count = sealed.count - SecretStream.overhead
      let tag: SecretStream.Tag
      do {
        tag = try chunk.withUnsafeMutableBytes { output in
          try sealed.withUnsafeBytes { sealed in
            try head.withUnsafeBytes { head in
              try stream.open(
                sealed, additionalData: head,
                into: UnsafeMutableRawBufferPointer(rebasing: output[..<count]))
            }
          }
        }
      } catch {
        // A file that was cut within a chunk looks the same as one with an altered last chunk.
        throw damaged("bytes \(offset) to \(offset + sealed.count - 1) were altered, or cut off")
      }
      offset += sealed.count
      guard tag == (offset == length ? .final : .message) else {
        throw offset == length ? cutOff() : damaged("something follows after its end")
      }
      do {
        try records.take(chunk[..<count], body)
      } catch let flaw as ExportFlaw {
        throw KeychainError(
          .decode, "\(file.path) is not imported: record \(records.number + 1) \(flaw.words)")
      }
      try progress(offset)
    }
    guard stream.isOver else { throw cutOff() }
    guard let end = records.end, records.isEmpty, end.items == UInt64(records.items) else {
      throw damaged("its records are not those that it counts")
    }
    return end
  }

  private func cutOff() -> KeychainError {
    KeychainError(.decode, "\(file.path) ends too early: it was cut off. Use a whole copy")
  }

  private func damaged(_ what: String) -> KeychainError {
    KeychainError(.decode, "\(file.path) is damaged: \(what). Use another copy")
  }
}

/// Puts the records of an export together again, wherever the chunks cut them.
private struct ExportRecords {
  private var bytes: [UInt8] = []
  /// Records that were read.
  private(set) var number = 0
  private(set) var items = 0
  private(set) var end: ExportEnd?

  var isEmpty: Bool { bytes.isEmpty }

  init() { bytes.reserveCapacity(2 * ExportWriter.chunkLength) }

  mutating func wipe() { SodiumCrypto.wipe(&bytes) }

  /// Makes room for so many in all. An array that grows by itself leaves what it held in freed memory.
  private mutating func makeRoom(for count: Int) {
    guard count > bytes.capacity else { return }
    var larger: [UInt8] = []
    larger.reserveCapacity(count)
    larger.append(contentsOf: bytes)
    SodiumCrypto.wipe(&bytes)
    bytes = larger
  }

  mutating func take(_ chunk: ArraySlice<UInt8>, _ body: (NewItem) throws -> Void) throws {
    makeRoom(for: bytes.count + chunk.count)
    bytes.append(contentsOf: chunk)
    var (done, room) = (0, 0)
    while bytes.count - done >= ExportRecord.headLength {
      let head = bytes[done..<done + ExportRecord.headLength]
      let length = head.dropFirst(2).reduce(0) { $0 << 8 | Int($1) }
      guard length <= ExportRecord.limit else { throw ExportFlaw("is too long") }
      let start = done + ExportRecord.headLength
      guard bytes.count - start >= length else {
        // All of it at once, and a chunk beyond: not again and again while it comes.
        room = ExportRecord.headLength + length + ExportWriter.chunkLength
        break
      }
      let record = try ExportRecord(
        kind: bytes[done], version: bytes[done + 1], body: bytes[start..<start + length])
      guard end == nil else { throw ExportFlaw("comes after the end") }
      switch record {
      case .item(let item):
        try body(item)
        items += 1
      case .end(let found): end = found
      }
      number += 1
      done = start + length
    }
    drop(done)
    makeRoom(for: room)
  }

  /// Removes what was read, and zeroes it.
  private mutating func drop(_ count: Int) {
    guard count > 0 else { return }
    let left = bytes.count - count
    bytes.withUnsafeMutableBytes { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[count...]))
      UnsafeMutableRawBufferPointer(rebasing: bytes[left...])
        .initializeMemory(as: UInt8.self, repeating: 0)
    }
    bytes.removeLast(count)
  }
}
