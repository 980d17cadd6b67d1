// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// Seals the messages of a `SecretStream`, one after the other. It cannot be copied: two of the same
/// state would seal two messages with the same key stream.
package struct SecretStreamWriter: ~Copyable {
  /// The beginning of the stream, in plaintext: `SecretStream.headerLength` bytes.
  package let header: [UInt8]
  private let state = SecretStreamState()
  private var isOver = false

  /// Begins a stream of its own, also under a key that was used before.
  package init(key: some KeyMaterial) throws(SodiumError) {
    var header = [UInt8](repeating: 0, count: SecretStream.headerLength)
    let memory = state.memory
    try key.withUnsafeBytes { key throws(SodiumError) in
      guard key.count == SecretStream.keyLength else {
        throw .wrongLength(expected: SecretStream.keyLength, found: key.count)
      }
      guard
        crypto_secretstream_xchacha20poly1305_init_push(memory, &header, try key.requiredPointer())
          == 0
      else { throw .notInitialized }
    }
    self.header = header
  }

  /// Seals the next message into `output`, which must have room for it and `SecretStream.overhead`.
  ///
  /// - Throws: `streamEnded` after one with the tag `final`.
  package mutating func seal(
    _ message: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer,
    tag: SecretStream.Tag = .message, into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    guard !isOver else { throw .streamEnded }
    guard output.count == message.count + SecretStream.overhead else {
      throw .wrongLength(expected: message.count + SecretStream.overhead, found: output.count)
    }
    var written: UInt64 = 0
    let result = crypto_secretstream_xchacha20poly1305_push(
      state.memory, try output.requiredPointer(), &written, message.pointer, UInt64(message.count),
      additionalData.pointer, UInt64(additionalData.count), tag.rawValue)
    guard result == 0, written == UInt64(output.count) else { throw .notAuthentic }
    isOver = tag == .final
  }
}
