// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import TestKit
import Testing

/// The sealed bytes come from an X25519, XSalsa20 and Poly1305 written down after their papers in
/// Python, with BLAKE2b of its hashlib.
@Suite struct SealedBoxTests {
  // RFC 7748, section 6.1: Bob's key.
  private let secretKey = [UInt8](
    hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
  private let publicKey = [UInt8](
    hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
  private let message = Array("Only the keeper reads this.".utf8)
  private let sealed = [UInt8](
    hex:
      "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"
      + "1832316b21b699ae880ba38a75049fd8f985b40474dc8b4183dedd4839fc9832"
      + "c3c418832f4885443d0f49")

  private func open(_ sealed: [UInt8]) throws -> [UInt8] {
    let keys = try SealingKeyPair(secretKey: SecretBytes(copying: secretKey))
    var output = [UInt8](repeating: 0, count: max(sealed.count - SealedBox.overhead, 0))
    try output.withUnsafeMutableBytes { output in
      try sealed.withUnsafeBytes { try SealedBox.open($0, with: keys, into: output) }
    }
    return output
  }

  private func seal(_ message: [UInt8], to key: [UInt8]) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: message.count + SealedBox.overhead)
    try output.withUnsafeMutableBytes { output in
      try message.withUnsafeBytes { try SealedBox.seal($0, to: key, into: output) }
    }
    return output
  }

  @Test func aSecretKeyHasThePublicKeyOfTheStandard() throws {
    let keys = try SealingKeyPair(secretKey: SecretBytes(copying: secretKey))
    #expect(keys.publicKey == publicKey)
  }

  @Test func opensWhatAnotherImplementationSealed() throws {
    #expect(try open(sealed) == message)
  }

  @Test func opensWhatItSealed() throws {
    #expect(try open(seal(message, to: publicKey)) == message)
    #expect(try open(seal([], to: publicKey)) == [])
    #expect(try seal(message, to: publicKey) != seal(message, to: publicKey))
  }

  @Test func refusesEveryAlteredByte() throws {
    for position in sealed.indices {
      var altered = sealed
      altered[position] ^= 0x04
      #expect(throws: SodiumError.notAuthentic) { try open(altered) }
    }
    #expect(throws: SodiumError.notAuthentic) { try open(Array(sealed.dropLast())) }
    #expect(throws: SodiumError.self) { try open(Array(sealed.prefix(47))) }
  }

  @Test func anotherKeyDoesNotOpen() throws {
    let sealed = try seal(message, to: SealingKeyPair().publicKey)
    #expect(throws: SodiumError.notAuthentic) { try open(sealed) }
  }

  // The points of small order (Curve25519's page, "contributory behaviour").
  @Test(arguments: [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ])
  func nothingIsSealedToAKeyThatProtectsNothing(_ key: String) {
    #expect(throws: SodiumError.unusableKey) { try seal(message, to: [UInt8](hex: key)) }
    #expect(!SealedBox.isUsable([UInt8](hex: key)))
  }

  @Test func ordinaryKeysAreUsable() throws {
    #expect(SealedBox.isUsable(publicKey))
    #expect(try SealedBox.isUsable(SealingKeyPair().publicKey))
    #expect(!SealedBox.isUsable(Array(publicKey.dropLast())))
  }

  @Test func keysAreAsLongAsTheyShouldBe() {
    #expect(throws: SodiumError.wrongLength(expected: 32, found: 31)) {
      _ = try SealingKeyPair(secretKey: SecretBytes(copying: secretKey.dropLast()))
    }
    #expect(throws: SodiumError.wrongLength(expected: 32, found: 31)) {
      try seal(message, to: Array(publicKey.dropLast()))
    }
  }
}
