import SQLiteDatabase
import SodiumCrypto

/// The manifest's row: opened and sealed under the manifest key, and nothing else.
final class ManifestStore: Sendable {
  let store: StoreID
  let keys: KeyRing

  init(store: StoreID, keys: KeyRing) {
    self.store = store
    self.keys = keys
  }

  /// The manifest as it is stored, and the key that opened it.
  func read(in tx: ReadTransaction) throws -> (Manifest, ManifestKey) {
    let sealed = try tx.first("SELECT sealed FROM manifest WHERE id = 1") { $0.blob(0) }
    guard let sealed else { throw KeychainError(.decode, "the manifest of the store is missing: restore a backup") }
    let id = try sealed.withUnsafeBytes { try SealedPart.keyID(of: $0) }
    guard id.purpose == .manifest else { throw SodiumError.notAuthentic }
    let key = try ManifestKey(id, keys.key(id, in: tx), in: keys.arena)
    return (try Manifest(opening: sealed, store: store, by: key), key)
  }

  /// Writes what the ledger has counted, as the next generation.
  static func write(_ ledger: ChangeLedger, of store: StoreID, in tx: WriteTransaction) throws {
    guard var manifest = ledger.manifest, let key = ledger.manifestKey else { return }
    guard manifest.advance(by: 1) else { throw noGenerationLeft() }
    ledger.manifest = manifest
    let sealed = try manifest.sealed(store: store, by: key)
    try tx.execute("INSERT OR REPLACE INTO manifest (id, sealed) VALUES (1, ?)", .blob(sealed))
  }

  /// Only an anchor that somebody else wrote leads here.
  static func noGenerationLeft() -> KeychainError {
    KeychainError(.internalError, "the store cannot count further than its anchor: the anchor was altered. Remove it")
  }
}

extension ManifestStore {
  /// Counts the store under a new manifest key, wrapped by `root`, and removes the old one.
  ///
  /// - Throws: `decode` when the store is not what its manifest says.
  func renewKey(_ ledger: ChangeLedger, by root: RootKeys.Root, _ erasure: LogErasure, in tx: WriteTransaction) throws {
    guard let oldKey = ledger.manifestKey else { throw SodiumError.notAuthentic }
    let (id, key) = try keys.make(KeyID(.manifest, epoch: oldKey.seal.id.epoch + 1), by: root, ledger, in: tx)
    let newKey = try ManifestKey(id, key, in: keys.arena)
    try count(ledger, by: newKey, in: tx)
    if let wrapped = try KeyTable.record(of: oldKey.seal.id, in: tx) {
      try KeyTable.remove(oldKey.seal.id, tag: wrapped.tag, ledger, in: tx)
    }
    ledger.owesErasure = true
    tx.onCommit("manifest key") { erasure.retire([oldKey.seal.id]) }
  }

  /// Puts the same store under the new key into the ledger.
  private func count(_ ledger: ChangeLedger, by newKey: ManifestKey, in tx: WriteTransaction) throws {
    guard let expected = ledger.manifest, let oldKey = ledger.manifestKey else { return }
    var found = Manifest()
    var rekeyed = Manifest()
    do {
      try ManifestElement.forEach(in: tx, keys.health) { element in
        try found.insert(element, key: oldKey.sum)
        try rekeyed.insert(element, key: newKey.sum)
      }
    } catch let error where StoreHealth.isDamage(error) {
      // A row that cannot even be read as one: found says less than was expected.
    }
    guard found.hasSameContents(as: expected) else {
      keys.health.fail(.manifestMismatch)
      throw KeychainError(.decode, "\(StoreCondition.Reason.manifestMismatch)")
    }
    rekeyed.generation = expected.generation
    ledger.manifest = rekeyed
    ledger.manifestKey = newKey
  }
}

/// The manifest key, ready for its two uses. No key serves two primitives, so each use has a subkey
/// (`crypto_kdf`, context "tk-mani1"): number 1 seals the row, number 2 keys the hashes of the sum.
package struct ManifestKey: Sendable {
  let seal: RootKeys.Root
  package let sum: GuardedKey

  package init(_ id: KeyID, _ key: GuardedKey, in arena: KeyArena) throws {
    seal = (id, try arena.subkey(1, context: "tk-mani1", of: key))
    sum = try arena.subkey(2, context: "tk-mani1", of: key)
  }
}

/// What the store as a whole must be: sealed in one row, changed in every transaction that changes
/// the store.
///
///     generation 8 | items 8 | sum 32
///
/// The generation is at most 2^63 - 1. The sum is a multiset hash: BLAKE2b-256 of every element
/// under a subkey (`ManifestKey`), added modulo 2^256. So a row can be put in or taken out without a
/// look at the others, and nobody without the key can find rows that add up to the same.
package struct Manifest: Equatable, Sendable {
  package static let length = 48
  /// The highest generation that a manifest or an anchor may say.
  static let lastGeneration = UInt64(Int64.max)

  /// The number of transactions that changed the store.
  package var generation: UInt64 = 0
  var items: UInt64 = 0
  /// Least significant word first.
  private(set) var sum = SIMD4<UInt64>()

  package init() {}

  package init(opening sealed: [UInt8], store: StoreID, by key: ManifestKey) throws {
    try sealed.withUnsafeBytes { sealed in
      try SealedPart.open(sealed, at: Self.binding(store), by: { _ in key.seal.key }) { bytes in
        guard bytes.count == Self.length else { throw SodiumError.notAuthentic }
        var reader = RowReader(bytes)
        (generation, items) = (try reader.number(), try reader.number())
        for word in (0..<4).reversed() { sum[word] = try reader.number() }
      }
    }
  }

  static func binding(_ store: StoreID) -> SealedPart.Binding { SealedPart.Binding(role: .manifest, store: store) }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for word in [generation, items, sum.w, sum.z, sum.y, sum.x] { bytes.write(word) }
    return bytes
  }

  package func sealed(store: StoreID, by key: ManifestKey) throws -> [UInt8] {
    try bytes.withUnsafeBytes { try SealedPart.seal($0, at: Self.binding(store), by: key.seal) }
  }

  /// Goes on by `step` transactions; false, and nothing changes, where the number would not fit.
  package mutating func advance(by step: UInt64) -> Bool {
    let (next, overflow) = generation.addingReportingOverflow(step)
    guard !overflow, next <= Self.lastGeneration else { return false }
    generation = next
    return true
  }

  package mutating func insert(_ element: ManifestElement, key: GuardedKey) throws {
    add(try element.hash(key: key))
    count(element, by: 1)
  }

  package mutating func remove(_ element: ManifestElement, key: GuardedKey) throws {
    // -x = ~x + 1
    add(~(try element.hash(key: key)))
    add([1, 0, 0, 0])
    count(element, by: -1)
  }

  private mutating func count(_ element: ManifestElement, by step: Int) {
    guard case .item = element else { return }
    items = items &+ UInt64(bitPattern: Int64(step))
  }

  private mutating func add(_ other: SIMD4<UInt64>) {
    var carry: UInt64 = 0
    for word in 0..<4 {
      let (partial, first) = sum[word].addingReportingOverflow(other[word])
      let (total, second) = partial.addingReportingOverflow(carry)
      (sum[word], carry) = (total, first || second ? 1 : 0)
    }
  }

  /// Whether both speak of the same rows.
  package func hasSameContents(as other: Manifest) -> Bool { items == other.items && sum == other.sum }
}
