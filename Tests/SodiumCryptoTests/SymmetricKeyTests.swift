import SodiumCrypto
import TestKit
import Testing

/// The expected bytes come from Python's hashlib (BLAKE2b, the key derivation, which is BLAKE2b
/// with salt and personalization) and from OpenSSL (Argon2id).
@Suite struct KeyFunctionTests {
  private let key = Array<UInt8>(0..<32)

  private func output(_ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes(body)
    return bytes
  }

  private func blake2b(_ message: [UInt8], key: [UInt8], _ count: Int) throws -> [UInt8] {
    try output(count) { output in
      try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { try BLAKE2b.hash(message, key: $0, into: output) }
      }
    }
  }

  private func subkey(_ number: UInt64, _ context: StaticString) throws -> [UInt8] {
    try output(32) { output in
      try key.withUnsafeBytes { try KeyDerivation.derive(number, context: context, from: $0, into: output) }
    }
  }

  private func argon2id(_ passphrase: String, salt: [UInt8] = Array(0..<16), _ parameters: Argon2id.Parameters) throws
    -> [UInt8]
  {
    try output(32) { output in
      try salt.withUnsafeBytes {
        try Argon2id.derive(
          from: SecretBytes(copying: Array(passphrase.utf8)), salt: $0, parameters: parameters, into: output)
      }
    }
  }

  @Test func blake2bAgreesWithTheReference() throws {
    #expect(
      try blake2b([], key: Array(0..<64), 64)
        == [UInt8](
          hex: "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
            + "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"))
    #expect(
      try blake2b(Array("abc".utf8), key: key, 32)
        == [UInt8](hex: "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f"))
    #expect(try blake2b(Array("abc".utf8), key: key, 16) == [UInt8](hex: "1a64be47e4729d951c302ee543f97cf3"))
  }

  @Test func blake2bWithoutAKeyAgreesWithTheReference() throws {
    #expect(
      try BLAKE2b.hash256(Array("abc".utf8))
        == [UInt8](hex: "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"))
  }

  @Test func blake2bRefusesShortKeysAndOutputs() {
    #expect(throws: SodiumError.self) { try blake2b([], key: [1, 2, 3], 32) }
    #expect(throws: SodiumError.self) { try blake2b([], key: key, 8) }
  }

  @Test func subkeysAgreeWithTheReference() throws {
    #expect(
      try subkey(0, "tk-wrap1") == [UInt8](hex: "78478cfb3508ec4511ae6257c841a937e0c73dea6064c8c62448049e51841f6c"))
    #expect(
      try subkey(1, "tk-wrap1") == [UInt8](hex: "1274f2ad7f6b61c67e661408ed3c55129aab7180b73ba1ed20fb1e22f6743197"))
    #expect(
      try subkey((1 << 40) + 3, "tk-wrap1")
        == [UInt8](hex: "35b370b2aa205bfb76b9a67768ac1526ccc37288a5419fd4d6c6288a7518cdbb"))
  }

  @Test func aContextHasEightBytes() { #expect(throws: SodiumError.self) { try subkey(1, "short") } }

  @Test func argon2idAgreesWithTheReference() throws {
    #expect(
      try argon2id("correct horse battery staple", .floor)
        == [UInt8](hex: "c05ce4c4dd7e0e45ee6011cc59d068ade47df1b01fc0cf9cd4678bdf68a5b7b0"))
  }

  @Test(arguments: [
    Argon2id.Parameters(operations: 1, memory: 64 << 20), Argon2id.Parameters(operations: 2, memory: 63 << 20),
    Argon2id.Parameters(operations: 17, memory: 64 << 20), Argon2id.Parameters(operations: 2, memory: 2 << 30),
    Argon2id.Parameters(operations: -1, memory: -1),
  ]) func argon2idRefusesWhatIsTooWeakOrTooMuch(_ parameters: Argon2id.Parameters) {
    #expect(throws: SodiumError.self) { try argon2id("x", parameters) }
  }
}

@Suite struct XChaCha20Poly1305Tests {
  // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
  private let key = Array<UInt8>(0x80...0x9F)
  private let nonce = Array<UInt8>(0x40...0x57)
  private let additionalData = [UInt8](hex: "50515253c0c1c2c3c4c5c6c7")
  private let plaintext = Array(
    ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future,"
      + " sunscreen would be it.").utf8)
  private let sealed = [UInt8](
    hex: "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
      + "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
      + "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
      + "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49")

  private func seal(_ message: [UInt8]) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: message.count + XChaCha20Poly1305.tagLength)
    try output.withUnsafeMutableBytes { output in
      try message.withUnsafeBytes { message in
        try additionalData.withUnsafeBytes { additionalData in
          try nonce.withUnsafeBytes { nonce in
            try key.withUnsafeBytes { key in
              try XChaCha20Poly1305.seal(message, additionalData: additionalData, nonce: nonce, key: key, into: output)
            }
          }
        }
      }
    }
    return output
  }

  private func open(_ sealed: [UInt8], additionalData: [UInt8]? = nil, nonce: [UInt8]? = nil, key: [UInt8]? = nil)
    throws -> [UInt8]
  {
    var output = [UInt8](repeating: 0, count: max(sealed.count - XChaCha20Poly1305.tagLength, 0))
    try output.withUnsafeMutableBytes { output in
      try sealed.withUnsafeBytes { sealed in
        try (additionalData ?? self.additionalData).withUnsafeBytes { additionalData in
          try (nonce ?? self.nonce).withUnsafeBytes { nonce in
            try (key ?? self.key).withUnsafeBytes { key in
              try XChaCha20Poly1305.open(sealed, additionalData: additionalData, nonce: nonce, key: key, into: output)
            }
          }
        }
      }
    }
    return output
  }

  @Test func sealsAsThePublishedVectorSays() throws { #expect(try seal(plaintext) == sealed) }

  @Test func opensWhatItSealed() throws {
    #expect(try open(sealed) == plaintext)
    #expect(try open(seal([])) == [])
  }

  @Test func refusesEveryAlteredByte() throws {
    for position in sealed.indices {
      var altered = sealed
      altered[position] ^= 0x40
      #expect(throws: SodiumError.notAuthentic) { try open(altered) }
    }
  }

  @Test func refusesAnotherKeyNonceOrPlace() {
    var other = key
    other[31] ^= 1
    #expect(throws: SodiumError.notAuthentic) { try open(sealed, key: other) }
    var otherNonce = nonce
    otherNonce[0] ^= 1
    #expect(throws: SodiumError.notAuthentic) { try open(sealed, nonce: otherNonce) }
    #expect(throws: SodiumError.notAuthentic) { try open(sealed, additionalData: []) }
    #expect(throws: SodiumError.notAuthentic) { try open(Array(sealed.dropLast())) }
  }

  @Test func refusesLengthsThatCannotBe() {
    #expect(throws: SodiumError.wrongLength(expected: 32, found: 31)) { try open(sealed, key: Array(key.dropLast())) }
    #expect(throws: SodiumError.wrongLength(expected: 24, found: 12)) {
      try open(sealed, nonce: Array(nonce.prefix(12)))
    }
    #expect(throws: SodiumError.self) { try open([1, 2, 3]) }
  }
}
