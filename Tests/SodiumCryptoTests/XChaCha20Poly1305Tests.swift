// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto
import TestKit
import Testing

@Suite struct XChaCha20Poly1305Tests {
  // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
  private let key = Array<UInt8>(0x80...0x9F)
  private let nonce = Array<UInt8>(0x40...0x57)
  private let additionalData = [UInt8](hex: "50515253c0c1c2c3c4c5c6c7")
  private let plaintext = Array(
    ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future,"
      + " sunscreen would be it.").utf8)
  private let sealed = [UInt8](
    hex:
      "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
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
              try XChaCha20Poly1305.seal(
                message, additionalData: additionalData, nonce: nonce, key: key, into: output)
            }
          }
        }
      }
    }
    return output
  }

  private func open(
    _ sealed: [UInt8], additionalData: [UInt8]? = nil, nonce: [UInt8]? = nil, key: [UInt8]? = nil
  ) throws -> [UInt8] {
    var output = [UInt8](
      repeating: 0, count: max(sealed.count - XChaCha20Poly1305.tagLength, 0))
    try output.withUnsafeMutableBytes { output in
      try sealed.withUnsafeBytes { sealed in
        try (additionalData ?? self.additionalData).withUnsafeBytes { additionalData in
          try (nonce ?? self.nonce).withUnsafeBytes { nonce in
            try (key ?? self.key).withUnsafeBytes { key in
              try XChaCha20Poly1305.open(
                sealed, additionalData: additionalData, nonce: nonce, key: key, into: output)
            }
          }
        }
      }
    }
    return output
  }

  @Test func sealsAsThePublishedVectorSays() throws {
    #expect(try seal(plaintext) == sealed)
  }

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
    #expect(throws: SodiumError.wrongLength(expected: 32, found: 31)) {
      try open(sealed, key: Array(key.dropLast()))
    }
    #expect(throws: SodiumError.wrongLength(expected: 24, found: 12)) {
      try open(sealed, nonce: Array(nonce.prefix(12)))
    }
    #expect(throws: SodiumError.self) { try open([1, 2, 3]) }
  }
}
