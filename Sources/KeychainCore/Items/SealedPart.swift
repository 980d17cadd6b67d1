import SodiumCrypto

/// Everything encrypted in the store has this form:
///
///     format 1 | key id 4 | nonce 24 | ciphertext n | tag 16
///
/// Numbers are big-endian. The additional data says what it is and where it belongs:
///
///     role 1 | format 1 | key id 4 | store 16 | subject 16 | class 1 | version 8 | extra n
///
/// so that nothing opens in another place, in another store, or as another version.
package struct SealedPart {
  static let format: UInt8 = 1
  static let headLength = 29
  static let overhead = headLength + XChaCha20Poly1305.tagLength

  /// What a sealed part is. Part of the format.
  package enum Role: UInt8, Sendable {
    case metadata = 1
    case secret = 2
    case keyRecord = 4
    case slot = 5
    case manifest = 6
    case audit = 7
    case recordState = 8
    case recordSecret = 9
    /// A message for the broker.
    case message = 10

    /// What is padded to a multiple of so many bytes, so that its length shows little. Metadata is padded where it is
    /// encoded.
    var block: Int? {
      switch self {
      case .secret: 64
      case .recordState: 16
      // A dataset has 254 bytes at most, so all have one length.
      case .recordSecret: 256
      default: nil
      }
    }

    /// What `count` bytes become.
    package func sealedCount(_ count: Int) -> Int {
      (block.map { Padding.paddedCount(count, block: $0) } ?? count) + overhead
    }
  }

  /// What a sealed part is bound to: nowhere else it opens.
  package struct Binding {
    let role: Role
    let store: StoreID
    var subject = ItemID.zero
    var itemClass: UInt8 = 0
    var version: Int64 = 0
    /// Of the state of a record: comes before `extra`.
    var secretVersion: Int64?
    var extra: [UInt8] = []

    /// Of a message for the broker.
    package static func message(_ id: Int64, _ store: StoreID) -> Self {
      Self(role: .message, store: store, version: id)
    }
  }

  /// Seals `plaintext` with a fresh random nonce. 24 bytes are enough to draw them at random for any number of
  /// messages (draft-irtf-cfrg-xchacha-03, section 2.1).
  ///
  /// - Parameter drawn: the nonce, where the caller has just drawn it for this; nil: it is drawn here.
  package static func seal(
    _ plaintext: UnsafeRawBufferPointer, at binding: Binding, by keyID: KeyID, key: UnsafeRawBufferPointer,
    nonce drawn: UnsafeRawBufferPointer? = nil
  ) throws -> [UInt8] {
    let length = binding.role.sealedCount(plaintext.count)
    return try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      let output = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<length]))
      try seal(plaintext, at: binding, by: keyID, key: key, nonce: drawn, into: output)
      count = length
    }
  }

  /// The same under a key that has a name.
  package static func seal(
    _ plaintext: UnsafeRawBufferPointer, at binding: Binding, by key: RootKeys.Root,
    nonce: UnsafeRawBufferPointer? = nil
  ) throws -> [UInt8] {
    try key.key.withUnsafeBytes { try seal(plaintext, at: binding, by: key.id, key: $0, nonce: nonce) }
  }

  /// The same into `output`, which has room for what it becomes.
  static func seal(
    _ plaintext: UnsafeRawBufferPointer, at binding: Binding, by keyID: KeyID, key: UnsafeRawBufferPointer,
    nonce drawn: UnsafeRawBufferPointer? = nil, into output: UnsafeMutableRawBufferPointer
  ) throws {
    var head = RowWriter(output)
    head.write(format)
    head.write(keyID.rawValue)
    let nonce = UnsafeMutableRawBufferPointer(rebasing: output[head.count..<headLength])
    if let drawn { nonce.copyMemory(from: drawn) } else { RandomBytes.fill(nonce) }
    let isPadded = binding.role.block != nil
    try withAdditionalData(of: binding, by: keyID, format: format) { additionalData in
      func seal(_ message: UnsafeRawBufferPointer) throws {
        try XChaCha20Poly1305.seal(
          message, additionalData: additionalData, nonce: UnsafeRawBufferPointer(nonce), key: key,
          into: UnsafeMutableRawBufferPointer(rebasing: output[headLength...]))
      }
      guard isPadded else { return try seal(plaintext) }
      try withScratchMemory(output.count - overhead) { padded in
        padded.copyMemory(from: plaintext)
        Padding.pad(padded, count: plaintext.count)
        try seal(UnsafeRawBufferPointer(padded))
      }
    }
  }

  /// The bytes in a sealed part, before it is opened.
  static func plaintextCount(_ sealed: UnsafeRawBufferPointer) throws -> Int {
    guard sealed.count >= overhead else { throw SodiumError.wrongLength(expected: overhead, found: sealed.count) }
    return sealed.count - overhead
  }

  /// The key that a part was sealed with. Not to be trusted before it opens.
  static func keyID(of sealed: UnsafeRawBufferPointer) throws -> KeyID {
    guard sealed.count >= overhead, sealed[0] == format else { throw SodiumError.notAuthentic }
    return KeyID(rawValue: UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
  }

  /// Opens `sealed` into `output`, which has as many bytes as `plaintextCount` says. Padding stays.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, at binding: Binding, key: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws {
    let keyID = try keyID(of: sealed)
    try withAdditionalData(of: binding, by: keyID, format: sealed[0]) { additionalData in
      try XChaCha20Poly1305.open(
        UnsafeRawBufferPointer(rebasing: sealed[headLength...]), additionalData: additionalData,
        nonce: UnsafeRawBufferPointer(rebasing: sealed[5..<headLength]), key: key, into: output)
    }
  }

  /// Opens `sealed`, and lends what is in it for the time of a call, without padding.
  ///
  /// - Parameters:
  ///   - key: gives the key that the part names.
  ///   - damage: gives what is thrown where it does not open, or not by such a key; nil: the reason itself.
  package static func open<R>(
    _ sealed: UnsafeRawBufferPointer, at binding: Binding, by key: (KeyID) throws -> GuardedKey,
    damage: () -> KeychainError? = { nil }, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try withScratchMemory(max(sealed.count, overhead) - overhead) { plaintext in
      var count = plaintext.count
      do {
        try key(keyID(of: sealed)).withUnsafeBytes { try open(sealed, at: binding, key: $0, into: plaintext) }
        if let block = binding.role.block {
          count = try Padding.unpaddedCount(UnsafeRawBufferPointer(plaintext), block: block)
        }
      } catch let error where StoreHealth.isDamage(error) { throw damage() ?? error }
      return try body(UnsafeRawBufferPointer(rebasing: plaintext[..<count]))
    }
  }

  private static func withAdditionalData<R>(
    of binding: Binding, by keyID: KeyID, format: UInt8, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    let count = 47 + (binding.secretVersion == nil ? 0 : 8) + binding.extra.count
    return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { data in
      var writer = RowWriter(data)
      writer.write(binding.role.rawValue)
      writer.write(format)
      writer.write(keyID.rawValue)
      writer.write(binding.store)
      writer.write(binding.subject)
      writer.write(binding.itemClass)
      writer.write(binding.version)
      if let version = binding.secretVersion { writer.write(version) }
      binding.extra.withUnsafeBytes { writer.write($0) }
      return try body(UnsafeRawBufferPointer(data))
    }
  }
}
