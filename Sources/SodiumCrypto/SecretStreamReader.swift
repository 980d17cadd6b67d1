// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Opens the messages of a `SecretStream`, in the order in which they were sealed and in no other.
package struct SecretStreamReader: ~Copyable {
  private let state = SecretStreamState()
  /// Whether the last message was opened: without it, the rest of the stream is missing.
  package private(set) var isOver = false

  /// - Parameter header: what `SecretStreamWriter.header` was.
  package init(header: [UInt8], key: some KeyMaterial) throws(SodiumError) {
    guard header.count == SecretStream.headerLength else {
      throw .wrongLength(expected: SecretStream.headerLength, found: header.count)
    }
    let memory = state.memory
    try key.withUnsafeBytes { key throws(SodiumError) in
      guard key.count == SecretStream.keyLength else {
        throw .wrongLength(expected: SecretStream.keyLength, found: key.count)
      }
      guard
        crypto_secretstream_xchacha20poly1305_init_pull(memory, header, try key.requiredPointer())
          == 0
      else { throw .notAuthentic }
    }
  }

  /// Opens the next message into `output`, which must be shorter by `SecretStream.overhead`.
  ///
  /// - Throws: `notAuthentic` when it was altered, comes from elsewhere, or is not the next one; the
  ///   stream stands where it stood. `streamEnded` after the one with the tag `final`.
  package mutating func open(
    _ sealed: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) -> SecretStream.Tag {
    guard !isOver else { throw .streamEnded }
    guard sealed.count >= SecretStream.overhead,
      output.count == sealed.count - SecretStream.overhead
    else { throw .wrongLength(expected: output.count + SecretStream.overhead, found: sealed.count) }
    var written: UInt64 = 0
    var tag: UInt8 = 0
    let result = crypto_secretstream_xchacha20poly1305_pull(
      state.memory, output.pointer, &written, &tag, try sealed.requiredPointer(),
      UInt64(sealed.count),
      additionalData.pointer, UInt64(additionalData.count))
    guard result == 0, written == UInt64(output.count), let tag = SecretStream.Tag(rawValue: tag)
    else { throw .notAuthentic }
    isOver = tag == .final
    return tag
  }
}
