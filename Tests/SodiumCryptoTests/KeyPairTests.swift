import SodiumCrypto
import TestKit
import Testing

@Suite struct Ed25519Tests {
  struct Vector: Sendable { let seed, publicKey, message, signature: String }

  // RFC 8032, section 7.1: TEST 1, 2 and 3.
  static let vectors = [
    Vector(
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
      signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    Vector(
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
      signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    Vector(
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
      signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
  ]

  @Test(arguments: vectors) func signsAsTheStandardSays(_ vector: Vector) throws {
    let keys = try SigningKeyPair(seed: SecretBytes(copying: [UInt8](hex: vector.seed)))
    #expect(keys.publicKey == [UInt8](hex: vector.publicKey))
    #expect(try keys.sign([UInt8](hex: vector.message)) == [UInt8](hex: vector.signature))
    #expect(
      Ed25519.isValid(
        [UInt8](hex: vector.signature), of: [UInt8](hex: vector.message), by: [UInt8](hex: vector.publicKey)))
  }

  @Test func anythingAlteredIsInvalid() throws {
    let keys = try SigningKeyPair()
    let message = Array("the exact bytes".utf8)
    let signature = try keys.sign(message)
    for position in signature.indices {
      var altered = signature
      altered[position] ^= 1
      #expect(!Ed25519.isValid(altered, of: message, by: keys.publicKey))
    }
    for position in message.indices {
      var altered = message
      altered[position] ^= 1
      #expect(!Ed25519.isValid(signature, of: altered, by: keys.publicKey))
    }
    let other = try SigningKeyPair()
    #expect(!Ed25519.isValid(signature, of: message, by: other.publicKey))
    #expect(!Ed25519.isValid(Array(signature.dropLast()), of: message, by: keys.publicKey))
    #expect(!Ed25519.isValid(signature, of: message, by: Array(keys.publicKey.dropLast())))
  }

  @Test func aSignatureHasOneFormOnly() throws {
    // The scalar plus the order of the group: the same to a careless verifier.
    let vector = Self.vectors[0]
    var signature = [UInt8](hex: vector.signature)
    let order = [UInt8](hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    var carry = 0
    for position in 0..<32 {
      let sum = Int(signature[32 + position]) + Int(order[position]) + carry
      signature[32 + position] = UInt8(sum & 255)
      carry = sum >> 8
    }
    #expect(!Ed25519.isValid(signature, of: [], by: [UInt8](hex: vector.publicKey)))
  }

  @Test func onlyPointsOfTheGroupAreKeys() throws {
    #expect(try Ed25519.isUsable(SigningKeyPair().publicKey))
    #expect(!Ed25519.isUsable([UInt8](repeating: 0, count: 32)))
    #expect(!Ed25519.isUsable([1] + [UInt8](repeating: 0, count: 31)))
    #expect(!Ed25519.isUsable([]))
  }
}

/// The sealed bytes come from an X25519, XSalsa20 and Poly1305 written down after their papers in
/// Python, with BLAKE2b of its hashlib.
@Suite struct SealedBoxTests {
  // RFC 7748, section 6.1: Bob's key.
  private let secretKey = [UInt8](hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
  private let publicKey = [UInt8](hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
  private let message = Array("Only the keeper reads this.".utf8)
  private let sealed = [UInt8](
    hex: "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c"
      + "1832316b21b699ae880ba38a75049fd8f985b40474dc8b4183dedd4839fc9832" + "c3c418832f4885443d0f49")

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

  @Test func opensWhatAnotherImplementationSealed() throws { #expect(try open(sealed) == message) }

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
  ]) func nothingIsSealedToAKeyThatProtectsNothing(_ key: String) {
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
