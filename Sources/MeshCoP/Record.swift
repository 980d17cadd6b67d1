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
  static let headerLength = 13
  /// More than any message of a border router, and less than Ethernet carries.
  package static let mostDatagramBytes = 1_500

  package var type: UInt8
  /// The epoch in the upper 16 bits, the sequence number in the others.
  package var number: UInt64
  package var body: ArraySlice<UInt8>

  package var epoch: UInt16 { UInt16(number >> 48) }

  /// The records of a datagram, up to the first that is invalid: RFC 6347, section 4.1.2.7, drops such without a word.
  package static func split(_ datagram: [UInt8]) -> [Record] {
    guard datagram.count <= mostDatagramBytes else { return [] }
    var (reader, records) = (ByteReader(datagram), [Record]())
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
    [type.rawValue, 0xFE, 0xFD] + number.bigEndianBytes + bigEndian(body.count, 2) + body
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
    if number > highest {
      let step = number - highest
      seen = step < 64 ? seen << step : 0
      highest = number
    }
    if highest - number < 64 { seen |= 1 << (highest - number) }
  }
}

/// The keys of epoch 1, and what the two Finished messages say (RFC 5246, sections 6.3, 7.4.9 and 8.1).
package struct SessionKeys: Sendable {
  package enum Side: String, Sendable { case client, server }

  private static let keyLength = 16
  private static let implicitNonceLength = 4
  private static let explicitNonceLength = 8
  private static let tagLength = 8

  private let masterSecret: SecretBytes
  /// The client's key, the server's key, the client's nonce, the server's nonce.
  private let keyBlock: SecretBytes

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
    try Self.pseudorandom(12, masterSecret, "\(side) finished", SHA256Hash.hash(messages))
  }

  /// The body of a record of epoch 1.
  ///
  /// - Returns: nil where libcrypto fails.
  package func seal(_ plaintext: UnsafeRawBufferPointer, _ type: UInt8, _ number: UInt64, from side: Side) -> [UInt8]? {
    guard let context = context(side, number, isSealing: true, tag: nil) else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    let start = Self.explicitNonceLength
    var body = [UInt8](repeating: 0, count: start + plaintext.count + Self.tagLength)
    body.replaceSubrange(..<start, with: number.bigEndianBytes)
    var written: Int32 = 0
    let isSealed = body.withUnsafeMutableBufferPointer { body in
      guard let output = body.baseAddress, Self.authenticate(context, plaintext.count, type, number),
        EVP_CipherUpdate(context, output + start, &written, plaintext.pointer, Int32(plaintext.count)) == 1
      else { return false }
      let tag = output + start + plaintext.count
      return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), tag) == 1
    }
    return isSealed ? body : nil
  }

  /// The plaintext of a record of epoch 1.
  ///
  /// - Returns: nil where it is empty, or not what the side has sealed.
  package func open(_ record: Record, from side: Side) -> SecretBytes? {
    let body = Array(record.body.dropFirst(Self.explicitNonceLength))
    let count = body.count - Self.tagLength
    guard count > 0, record.body.starts(with: record.number.bigEndianBytes),
      let context = context(side, record.number, isSealing: false, tag: Array(body.suffix(Self.tagLength)))
    else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    var isAuthentic = false
    let plaintext = SecretBytes(capacity: count) { memory in
      var written: Int32 = 0
      isAuthentic =
        Self.authenticate(context, count, record.type, record.number)
        && EVP_CipherUpdate(context, memory.pointer, &written, body, Int32(count)) == 1 && Int(written) == count
      return count
    }
    return isAuthentic ? plaintext : nil
  }

  // MARK: AES-128-CCM with tags of 8 bytes (RFC 6655, section 3; RFC 5116)

  /// - Parameter tag: what a record that is opened has to have.
  private func context(_ side: Side, _ number: UInt64, isSealing: Bool, tag: [UInt8]?) -> OpaquePointer? {
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    let direction: Int32 = isSealing ? 1 : 0
    let nonceLength = Self.implicitNonceLength + Self.explicitNonceLength
    let isReady = keyBlock.withUnsafeBytes { block -> Bool in
      let keys = Self.keyLength * 2
      let nonces = UnsafeRawBufferPointer(rebasing: block[keys...])
      let implicit = side == .client ? nonces.prefix(Self.implicitNonceLength) : nonces.dropFirst(4)
      let nonce = Array(implicit) + number.bigEndianBytes
      let key = UnsafeRawBufferPointer(rebasing: block[(side == .client ? 0 : Self.keyLength)..<keys])
      let setTag = { EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), $0) == 1 }
      var tag = tag ?? []
      return EVP_CipherInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil, direction) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceLength), nil) == 1
        && (isSealing ? setTag(nil) : tag.withUnsafeMutableBytes { setTag($0.baseAddress) })
        && EVP_CipherInit_ex(context, nil, nil, key.pointer, nonce, direction) == 1
    }
    guard isReady else {
      EVP_CIPHER_CTX_free(context)
      return nil
    }
    return context
  }

  /// The length and the additional data (RFC 5246, section 6.2.3.3).
  private static func authenticate(_ context: OpaquePointer, _ count: Int, _ type: UInt8, _ number: UInt64) -> Bool {
    let additional = number.bigEndianBytes + [type, 0xFE, 0xFD] + bigEndian(count, 2)
    var written: Int32 = 0
    return EVP_CipherUpdate(context, nil, &written, nil, Int32(count)) == 1
      && EVP_CipherUpdate(context, nil, &written, additional, Int32(additional.count)) == 1
  }

  // MARK: The pseudorandom function with SHA-256 (RFC 5246, section 5)

  private static func pseudorandom(_ count: Int, _ secret: SecretBytes, _ label: String, _ seed: [UInt8])
    throws(KeyExchangeError) -> SecretBytes
  {
    let seed = Array(label.utf8) + seed
    let hash = P256.length
    return try SecretBytes(capacity: count) { output throws(KeyExchangeError) in
      // A(i) and the seed, and a hash of them.
      let isDone = withScratchMemory(hash + seed.count + hash) { memory -> Bool in
        let chained = UnsafeMutableRawBufferPointer(rebasing: memory[..<(hash + seed.count)])
        let result = UnsafeMutableRawBufferPointer(rebasing: memory[(hash + seed.count)...])
        UnsafeMutableRawBufferPointer(rebasing: chained[hash...]).copyBytes(from: seed)
        guard authenticate(secret, chained[hash...], into: chained.pointer) else { return false }
        for start in stride(from: 0, to: count, by: hash) {
          guard authenticate(secret, chained[...], into: result.pointer) else { return false }
          let part = UnsafeMutableRawBufferPointer(rebasing: output[start..<min(start + hash, count)])
          part.copyMemory(from: UnsafeRawBufferPointer(rebasing: result[..<part.count]))
          guard authenticate(secret, chained[..<hash], into: result.pointer) else { return false }
          chained.copyMemory(from: UnsafeRawBufferPointer(result))
        }
        return true
      }
      guard isDone else { throw .libraryFailed }
      return count
    }
  }

  /// HMAC-SHA-256.
  private static func authenticate(
    _ key: SecretBytes, _ message: Slice<UnsafeMutableRawBufferPointer>, into output: UnsafeMutablePointer<UInt8>?
  ) -> Bool {
    let message = UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: message))
    return key.withUnsafeBytes {
      HMAC(EVP_sha256(), $0.baseAddress, Int32($0.count), message.pointer, message.count, output, nil) != nil
    }
  }
}

extension UnsafeRawBufferPointer {
  var pointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
  var pointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
