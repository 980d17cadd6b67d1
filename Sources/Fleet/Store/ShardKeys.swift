#if Fleet
import KeychainCore
import SodiumCrypto

/// The keys of a shard, each a subkey of its root key (`crypto_kdf`, context "tk-shard"): 1 records, 2 manifest, 3
/// audit, 4 outbox, 5 anchor, 6 hashes in records, 7 the daemon's own keys, 8 client ids.
///
/// What a key service seals:
///
///     form 1 | shard 4 | store id 16 | root key 32
struct ShardKeys {
  private static let form: UInt8 = 1
  private static let length = 53
  private static let arena = KeyArena()

  let store: StoreID
  let records: RootKeys.Root
  let manifest: ManifestKey
  let audit: AuditKey
  let messages: RootKeys.Root
  private let anchor: GuardedKey
  private let hashes: GuardedKey
  private let daemon: GuardedKey
  /// Eight hexadecimal digits that tell the sessions of this shard from those of another fleet's.
  let clientIDSuffix: String

  /// Keys for a new shard, and what is to be sealed of them.
  static func make(shard: Int) throws -> (keys: ShardKeys, plaintext: SecretBytes) {
    let plaintext = SecretBytes(capacity: length) { memory in
      memory[0] = form
      memory.storeBytes(of: UInt32(shard).bigEndian, toByteOffset: 1, as: UInt32.self)
      RandomBytes.fill(UnsafeMutableRawBufferPointer(rebasing: memory[5...]))
      return length
    }
    return (try ShardKeys(opening: plaintext, shard: shard), plaintext)
  }

  /// - Throws: `authFailed` where `plaintext` is something else, or of another shard.
  init(opening plaintext: SecretBytes, shard: Int) throws {
    let arena = Self.arena
    let (store, root) = try plaintext.withUnsafeBytes { bytes in
      guard bytes.count == Self.length, bytes[0] == Self.form,
        let store = StoreID(UnsafeRawBufferPointer(rebasing: bytes[5..<21]))
      else { throw KeychainError(.authFailed, "this is no key of a shard") }
      let found = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
      guard found == shard else {
        throw KeychainError(.authFailed, "this is the key of shard \(found), not of shard \(shard)")
      }
      return (store, try arena.key(copying: UnsafeRawBufferPointer(rebasing: bytes[21...])))
    }
    func key(_ number: UInt64) throws -> GuardedKey { try arena.subkey(number, context: "tk-shard", of: root) }
    self.store = store
    records = (KeyID(.records, epoch: 1), try key(1))
    manifest = try ManifestKey(KeyID(.manifest, epoch: 1), key(2), in: arena)
    audit = try AuditKey(KeyID(.audit, epoch: 1), key(3), in: arena)
    messages = (KeyID(.messages, epoch: 1), try key(4))
    (anchor, hashes, daemon) = (try key(5), try key(6), try key(7))
    let name = try key(8).withUnsafeBytes { try BLAKE2b.hash(store.bytes, key: $0, count: 16) }
    clientIDSuffix = String(StoreID(name)?.description.prefix(8) ?? "")
  }

  var hashKey: SecretBytes { hashes.withUnsafeBytes { SecretBytes(copying: $0) } }

  var daemonSecrets: SecretBytes {
    get throws {
      try daemon.withUnsafeBytes { key in
        try SecretBytes(capacity: 64) { memory in
          try KeyDerivation.derive(1, context: "tk-daemo", from: key, into: memory)
          return memory.count
        }
      }
    }
  }

  /// What the broker keeps of a state, in hexadecimal digits: `contents 16 | hash 16`. The second proves generation and
  /// contents also to who has an older state.
  func anchorHash(of manifest: Manifest) throws -> String {
    let contents = try anchor.withUnsafeBytes { try BLAKE2b.hash(manifest.bytes, key: $0, count: 16) }
    return try anchorHash(of: Int64(manifest.generation), contents)
  }

  /// Whether this shard has had such a state.
  func isGenuine(_ hash: String, of generation: Int64) throws -> Bool {
    let digits = Array(hash.utf8)
    guard digits.count == 64, digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      return false
    }
    let contents = stride(from: 0, to: 32, by: 2).map {
      UInt8(hash.utf8.dropFirst($0).prefix(2).reduce(0) { $0 << 4 | Int($1 < 97 ? $1 - 48 : $1 - 87) })
    }
    return try anchorHash(of: generation, contents) == hash
  }

  private func anchorHash(of generation: Int64, _ contents: [UInt8]) throws -> String {
    let message = store.bytes + generation.bigEndianBytes + contents
    let hash = try anchor.withUnsafeBytes { try BLAKE2b.hash(message, key: $0, count: 16) }
    return [contents, hash].compactMap { StoreID($0)?.description }.joined()
  }
}

#endif
