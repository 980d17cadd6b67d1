import CLibSodium

/// Authenticated encryption: XChaCha20-Poly1305, the IETF form with additional data
/// (draft-irtf-cfrg-xchacha, RFC 8439 below it). Its nonce is long enough to be random.
package enum XChaCha20Poly1305 {
  /// Bytes of a key, of a nonce, and of the tag at the end of what is sealed.
  package static let keyLength = 32
  package static let nonceLength = 24
  package static let tagLength = 16

  /// Seals `message` into `output`, which must have room for it and the tag.
  package static func seal(
    _ message: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
    key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    try check(key: key, nonce: nonce)
    guard output.count == message.count + tagLength else {
      throw .wrongLength(expected: message.count + tagLength, found: output.count)
    }
    var written: UInt64 = 0
    let result = crypto_aead_xchacha20poly1305_ietf_encrypt(
      try output.requiredPointer(), &written, message.pointer, UInt64(message.count), additionalData.pointer,
      UInt64(additionalData.count), nil, try nonce.requiredPointer(), try key.requiredPointer())
    guard result == 0, written == UInt64(output.count) else { throw .notAuthentic }
  }

  /// Opens `sealed` into `output`, which must have room for it without its tag. Nothing is
  /// written unless all of it is authentic.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
    key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(SodiumError) {
    try check(key: key, nonce: nonce)
    guard sealed.count >= tagLength, output.count == sealed.count - tagLength else {
      throw .wrongLength(expected: output.count + tagLength, found: sealed.count)
    }
    var written: UInt64 = 0
    let result = crypto_aead_xchacha20poly1305_ietf_decrypt(
      output.pointer, &written, nil, try sealed.requiredPointer(), UInt64(sealed.count), additionalData.pointer,
      UInt64(additionalData.count), try nonce.requiredPointer(), try key.requiredPointer())
    guard result == 0, written == UInt64(output.count) else { throw .notAuthentic }
  }

  private static func check(key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer) throws(SodiumError) {
    guard key.count == keyLength else { throw .wrongLength(expected: keyLength, found: key.count) }
    guard nonce.count == nonceLength else { throw .wrongLength(expected: nonceLength, found: nonce.count) }
  }
}

/// Padding that hides a length (ISO/IEC 7816-4: one 0x80, then zeros).
package enum Padding {
  /// The length of `count` bytes padded to a multiple of `block`: always at least one more.
  package static func paddedCount(_ count: Int, block: Int) -> Int { (count / block + 1) * block }

  /// Pads the first `count` bytes of `buffer`, which must be as long as `paddedCount` says.
  package static func pad(_ buffer: UnsafeMutableRawBufferPointer, count: Int) {
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).initializeMemory(as: UInt8.self, repeating: 0)
    buffer[count] = 0x80
  }

  /// The number of bytes before the padding, found in constant time.
  package static func unpaddedCount(_ buffer: UnsafeRawBufferPointer, block: Int) throws(SodiumError) -> Int {
    var count = 0
    guard try sodium_unpad(&count, buffer.requiredPointer(), buffer.count, block) == 0 else { throw .badPadding }
    return count
  }
}
