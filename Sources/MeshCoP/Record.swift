import CLibCrypto
import SodiumCrypto

/// What a record has in it (RFC 5246, section 6.2.1).
package enum ContentType: UInt8, Sendable { case changeCipherSpec = 20, alert, handshake, applicationData }

/// A record of DTLS 1.2 (RFC 6347, section 4.1), as it lies in a datagram.
///
/// ```
/// | type | version, 2 | epoch, 2 | sequence number, 6 | length, 2 | body, length bytes |
/// ```
/// Epoch 0 is in plaintext. In epoch 1 the body is epoch and sequence number again, the ciphertext, and a tag of 8
/// bytes (RFC 6655, section 3).
package struct Record {
  /// More than any message of a border router, and less than Ethernet carries.
  package static let mostDatagramBytes = 1_500

  package var type: UInt8
  /// The epoch in the upper 16 bits, the sequence number in the others.
  package var number: UInt64
  package var body: ArraySlice<UInt8>

  package var epoch: UInt16 { UInt16(number >> 48) }

  /// The records of a datagram, up to the first that is invalid: RFC 6347, section 4.1.2.7, discards it silently.
  package static func split(_ datagram: [UInt8]) -> [Record] {
    guard datagram.count <= mostDatagramBytes else { return [] }
    var (reader, records) = (ByteReader(datagram[...]), [Record]())
    while let type = reader.number(1), let version = reader.number(2), let number = reader.number(8),
      let body = reader.counted(by: 2)
    {
      // A HelloVerifyRequest may say DTLS 1.0 (RFC 6347, section 4.2.1).
      guard version == 0xFEFD || version == 0xFEFF && number >> 48 == 0 else { break }
      records.append(Record(type: UInt8(type), number: number, body: body))
    }
    return records
  }

  package static func write(_ type: ContentType, _ number: UInt64, _ body: some Collection<UInt8>) -> [UInt8] {
    [type.rawValue, 0xFE, 0xFD] + bigEndian(number, 8) + bigEndian(body.count, 2) + body
  }
}

/// The numbers of records that have come, so that none is taken twice (RFC 6347, section 4.1.2.6): the highest, and
/// which of the 64 up to it.
struct ReplayWindow {
  private var highest: UInt64 = 0
  private var seen: UInt64 = 0

  func isNew(_ number: UInt64) -> Bool {
    guard number <= highest else { return true }
    let age = highest - number
    return age < 64 && seen & 1 << age == 0
  }

  /// For a record that is authentic.
  mutating func insert(_ number: UInt64) {
    // A shift by 64 or more leaves 0.
    if number > highest { (seen, highest) = (seen << (number - highest), number) }
    seen |= 1 << (highest - number)
  }
}

/// The keys of epoch 1, and what the two Finished messages say (RFC 5246, sections 6.3, 7.4.9 and 8.1).
package struct SessionKeys: Sendable {
  package enum Side: String, Sendable { case client, server }

  private static let (keyLength, implicitNonceLength, explicitNonceLength, tagLength) = (16, 4, 8, 8)

  package let masterSecret: SecretBytes
  /// The client's key, the server's key, the client's nonce, the server's nonce.
  package let keyBlock: SecretBytes

  /// - Throws: `KeyExchangeError.libraryFailed`.
  package init(premasterSecret: SecretBytes, clientRandom: [UInt8], serverRandom: [UInt8]) throws(KeyExchangeError) {
    masterSecret = try Self.pseudorandom(48, premasterSecret, "master secret", clientRandom + serverRandom)
    let count = 2 * (Self.keyLength + Self.implicitNonceLength)
    keyBlock = try Self.pseudorandom(count, masterSecret, "key expansion", serverRandom + clientRandom)
  }

  /// What is in the Finished message of a side, 12 bytes.
  ///
  /// - Parameter messages: of the handshake up to it, each with its header.
  package func verifyData(_ side: Side, after messages: [UInt8]) throws(KeyExchangeError) -> SecretBytes {
    let hash = try sha256(messages, messages.count).withUnsafeBytes { Array($0) }
    return try Self.pseudorandom(12, masterSecret, "\(side) finished", hash)
  }

  /// The body of a record of epoch 1.
  ///
  /// - Returns: nil where libcrypto fails.
  package func seal(_ plaintext: UnsafeRawBufferPointer, _ type: UInt8, _ number: UInt64, from side: Side) -> [UInt8]? {
    var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
    var tag = [UInt8](repeating: 0, count: Self.tagLength)
    let isSealed = ciphertext.withUnsafeMutableBytes { output in
      crypt(plaintext, into: output, &tag, isSealing: true, type, number, side)
    }
    return isSealed ? bigEndian(number, 8) + ciphertext + tag : nil
  }

  /// The plaintext of a record of epoch 1.
  ///
  /// - Returns: nil where it is empty, or not what the side has sealed.
  package func open(_ record: Record, from side: Side) -> SecretBytes? {
    let ciphertext = Array(record.body.dropFirst(Self.explicitNonceLength).dropLast(Self.tagLength))
    guard !ciphertext.isEmpty, record.body.starts(with: bigEndian(record.number, 8)) else { return nil }
    var tag = Array(record.body.suffix(Self.tagLength))
    var isAuthentic = false
    let plaintext = SecretBytes(capacity: ciphertext.count) { output in
      isAuthentic = ciphertext.withUnsafeBytes {
        crypt($0, into: output, &tag, isSealing: false, record.type, record.number, side)
      }
      return output.count
    }
    return isAuthentic ? plaintext : nil
  }

  /// AES-128-CCM with a tag of 8 bytes (RFC 6655, section 3), and the additional data of RFC 5246, section 6.2.3.3.
  private func crypt(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ tag: UnsafeMutablePointer<UInt8>,
    isSealing: Bool, _ type: UInt8, _ number: UInt64, _ side: Side
  ) -> Bool {
    guard let context = EVP_CIPHER_CTX_new() else { return false }
    defer { EVP_CIPHER_CTX_free(context) }
    let (direction, count): (Int32, Int32) = (isSealing ? 1 : 0, Int32(input.count))
    let additional = bigEndian(number, 8) + [type, 0xFE, 0xFD] + bigEndian(input.count, 2)
    let tagLength = Int32(Self.tagLength)
    return keyBlock.withUnsafeBytes { block in
      let key = block[(side == .client ? 0 : Self.keyLength)...].prefix(Self.keyLength)
      let nonces = block[(2 * Self.keyLength)...]
      let nonce = nonces.dropFirst(side == .client ? 0 : Self.implicitNonceLength).prefix(Self.implicitNonceLength)
      var written: Int32 = 0
      return EVP_CipherInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil, direction) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 12, nil) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tagLength, isSealing ? nil : tag) == 1
        && EVP_CipherInit_ex(
          context, nil, nil, UnsafeRawBufferPointer(rebasing: key).pointer, nonce + bigEndian(number, 8), direction)
          == 1
        && EVP_CipherUpdate(context, nil, &written, nil, count) == 1
        && EVP_CipherUpdate(context, nil, &written, additional, Int32(additional.count)) == 1
        && EVP_CipherUpdate(context, output.pointer, &written, input.pointer, count) == 1
        && (!isSealing || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tagLength, tag) == 1)
    }
  }

  /// The pseudorandom function with SHA-256 (RFC 5246, section 5).
  private static func pseudorandom(_ count: Int, _ secret: SecretBytes, _ label: String, _ seed: [UInt8])
    throws(KeyExchangeError) -> SecretBytes
  {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_TLS1_PRF, nil) else { throw .libraryFailed }
    defer { EVP_PKEY_CTX_free(context) }
    let seed = Array(label.utf8) + seed
    try require(EVP_PKEY_derive_init(context))
    try require(EVP_PKEY_CTX_set_tls1_prf_md(context, EVP_sha256()))
    try require(secret.withUnsafeBytes { EVP_PKEY_CTX_set1_tls1_prf_secret(context, $0.pointer, Int32($0.count)) })
    try require(EVP_PKEY_CTX_add1_tls1_prf_seed(context, seed, Int32(seed.count)))
    return try SecretBytes(capacity: count) { output throws(KeyExchangeError) in
      var length = count
      try require(EVP_PKEY_derive(context, output.pointer, &length))
      return length
    }
  }
}
