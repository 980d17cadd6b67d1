import SQLiteDatabase
import SodiumCrypto

/// The table `keys`: one sealed record for each key (`KeyRecord`). Opens none.
///
/// What changes it takes the ledger, so that the manifest counts what the table has.
enum KeyTable {
  static func record(of id: KeyID, in tx: ReadTransaction) throws -> [UInt8]? {
    try tx.first("SELECT wrapped FROM keys WHERE id = ?", .key(id)) { $0.blob(0) }
  }

  /// All of them. The order of the ids brings the session key before the classes that it wraps.
  static func records(in tx: ReadTransaction) throws -> [(id: KeyID, wrapped: [UInt8])] {
    try tx.all("SELECT id, wrapped FROM keys ORDER BY id") { (id: $0.keyID(0), wrapped: $0.blob(1)) }
  }

  static func newest(_ purpose: KeyPurpose, in tx: ReadTransaction) throws -> KeyID? {
    return try tx.first(
      "SELECT id FROM keys WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", purpose.firstID, purpose.lastID
    ) { $0.keyID(0) }
  }

  static func insert(_ wrapped: [UInt8], of id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    do { try tx.execute("INSERT INTO keys (id, wrapped) VALUES (?, ?)", .key(id), .blob(wrapped)) } catch let error
      as SQLiteError where error.isDuplicate
    {
      // Never to be taken for a duplicate item.
      throw KeychainError(.internalError, "the store has such a key already: \(error)")
    }
    try ledger.insert(.key(id, tag: wrapped.tag))
  }

  /// Rewrites the record of a key.
  static func replace(_ old: [UInt8], by new: [UInt8], of id: KeyID, _ ledger: ChangeLedger, in tx: WriteTransaction)
    throws
  {
    try tx.execute("UPDATE keys SET wrapped = ? WHERE id = ?", .blob(new), .key(id))
    try ledger.remove(.key(id, tag: old.tag))
    try ledger.insert(.key(id, tag: new.tag))
  }

  /// - Parameter tag: of the record that the key has.
  static func remove(_ id: KeyID, tag: ItemID, _ ledger: ChangeLedger, in tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM keys WHERE id = ?", .key(id))
    try ledger.remove(.key(id, tag: tag))
  }
}

extension [UInt8] {
  /// The tag at the end of a sealed part.
  package var tag: ItemID { withUnsafeBytes { ItemID(tagOf: $0) } }
}

extension SQLiteRow {
  func keyID(_ column: Int32) -> KeyID { KeyID(rawValue: UInt32(truncatingIfNeeded: integer(column))) }
}

extension SQLiteValue { static func key(_ id: KeyID) -> Self { .integer(Int64(id.rawValue)) } }

extension ItemID {
  /// The last sixteen bytes of a sealed part: the manifest knows it by them. Zeros where there are not so many.
  init(tagOf sealed: UnsafeRawBufferPointer) {
    self = Self(UnsafeRawBufferPointer(rebasing: sealed.suffix(16))) ?? .zero
  }
}

/// Names a key: its purpose in the high byte, its epoch (from 1) in the other three. The number
/// stands in the `keys` table, in `items.class_key` and in the head of all that is sealed.
package struct KeyID: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  /// Sealed by a key that has no record: a slot's, or an item's own.
  static let none = KeyID(rawValue: 0)

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package init(_ purpose: KeyPurpose, epoch: UInt32) { rawValue = UInt32(purpose.rawValue) << 24 | (epoch & 0xFF_FFFF) }

  var purpose: KeyPurpose { KeyPurpose(rawValue: UInt8(rawValue >> 24)) }
  var epoch: UInt32 { rawValue & 0xFF_FFFF }
}

/// What a key is for. The raw values are part of the format.
package struct KeyPurpose: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Roots: they wrap others, and lie in the key slots.
  static let master = Self(rawValue: 1)
  static let session = Self(rawValue: 2)
  static let device = Self(rawValue: 3)

  static let metadata = Self(rawValue: 8)
  static let blindIndex = Self(rawValue: 9)
  package static let manifest = Self(rawValue: 10)
  package static let audit = Self(rawValue: 11)
  package static let records = Self(rawValue: 12)
  package static let messages = Self(rawValue: 13)

  /// 16…22: the class keys, by `Accessibility`.
  static let firstClass: UInt8 = 16

  /// Between these are all ids of its keys.
  var firstID: SQLiteValue { .key(KeyID(self, epoch: 0)) }
  var lastID: SQLiteValue { .key(KeyID(self, epoch: .max)) }

  var accessibility: Accessibility? {
    rawValue >= Self.firstClass ? Accessibility(rawValue: rawValue - Self.firstClass) : nil
  }

  /// The session key and what it wraps: gone while the store is locked.
  var isOfSession: Bool { self == .session || accessibility?.wrapper == .session }
}

/// Tells one set of keys and slots from another, so that a process that shares a store notices
/// what others did to them.
struct KeySetMark: Equatable {
  private let keys: [Int64]
  /// Their number and the highest: the numbers of slots are never given again.
  private let slots: [Int64]

  init(in tx: ReadTransaction) throws {
    keys = try tx.all("SELECT id FROM keys ORDER BY id") { $0.integer(0) }
    slots =
      try tx.first("SELECT count(*), coalesce(max(id), 0) FROM key_slots") { [$0.integer(0), $0.integer(1)] } ?? []
  }

  /// Whether the ways into the store are the same: if not, its root keys may be others.
  func hasSameSlots(as other: KeySetMark) -> Bool { slots == other.slots }
}

/// A key as it lies in the `keys` table: sealed by a subkey of its wrapper, which is one of the
/// root keys (`crypto_kdf`, subkey number = the purpose of what is wrapped, context "tk-wrap1").
/// Nothing is derived from a root but these, so every key can be renewed alone.
///
/// For class keys of this device only, what is sealed like that is `device key id 16 | sealed part`
/// (`DeviceKey`), and the inner part is the key, sealed by the subkey hashed once more under the device
/// key: it takes both, and the wrong device key is distinguished from a record that was altered.
enum KeyRecord {
  static func wrap(
    _ key: GuardedKey, id: KeyID, store: StoreID, by wrapperID: KeyID, wrapper: GuardedKey, device: GuardedKey? = nil
  ) throws -> [UInt8] {
    try withSubkey(of: wrapper, for: id) { subkey in
      guard let device else { return try key.withUnsafeBytes { try seal($0, id, store, by: wrapperID, key: subkey) } }
      let inner = try DeviceKey.withSubkey(subkey, under: device) { both in
        try key.withUnsafeBytes { try seal($0, id, store, by: .none, key: both) }
      }
      return try (DeviceKey.id(of: device) + inner).withUnsafeBytes {
        try seal($0, id, store, by: wrapperID, key: subkey)
      }
    }
  }

  /// - Throws: `notAvailable` when the key was wrapped with another device key.
  static func unwrap(
    _ wrapped: UnsafeRawBufferPointer, id: KeyID, store: StoreID, wrapper: GuardedKey, device: GuardedKey? = nil,
    in arena: KeyArena
  ) throws -> GuardedKey {
    try withSubkey(of: wrapper, for: id) { subkey in
      guard let device else { return try open(wrapped, id, store, key: subkey, in: arena) }
      return try withScratchMemory(SealedPart.plaintextCount(wrapped)) { memory in
        try SealedPart.open(wrapped, at: binding(id, store), key: subkey, into: memory)
        guard try memory.starts(with: DeviceKey.id(of: device)) else { throw DeviceKey.isAnother() }
        let inner = UnsafeRawBufferPointer(rebasing: memory.dropFirst(DeviceKey.idLength))
        return try DeviceKey.withSubkey(subkey, under: device) { both in
          try open(inner, id, store, key: both, in: arena)
        }
      }
    }
  }

  private static func binding(_ id: KeyID, _ store: StoreID) -> SealedPart.Binding {
    SealedPart.Binding(role: .keyRecord, store: store, subject: ItemID(high: 0, low: UInt64(id.rawValue)))
  }

  private static func seal(
    _ plaintext: UnsafeRawBufferPointer, _ id: KeyID, _ store: StoreID, by wrapperID: KeyID, key: UnsafeRawBufferPointer
  ) throws -> [UInt8] { try SealedPart.seal(plaintext, at: binding(id, store), by: wrapperID, key: key) }

  private static func open(
    _ sealed: UnsafeRawBufferPointer, _ id: KeyID, _ store: StoreID, key: UnsafeRawBufferPointer, in arena: KeyArena
  ) throws -> GuardedKey {
    guard try SealedPart.plaintextCount(sealed) == KeyArena.keyLength else { throw SodiumError.notAuthentic }
    return try arena.key { memory in try SealedPart.open(sealed, at: binding(id, store), key: key, into: memory) }
  }

  private static func withSubkey<R>(of wrapper: GuardedKey, for id: KeyID, _ body: (UnsafeRawBufferPointer) throws -> R)
    throws -> R
  {
    try withScratchMemory(KeyArena.keyLength) { subkey in
      try wrapper.withUnsafeBytes { root in
        try KeyDerivation.derive(UInt64(id.purpose.rawValue), context: "tk-wrap1", from: root, into: subkey)
      }
      return try body(UnsafeRawBufferPointer(subkey))
    }
  }
}
