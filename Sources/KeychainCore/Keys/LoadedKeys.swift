// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The keys that are in memory now, roots among them.
struct LoadedKeys {
  typealias Index = (epoch: UInt32, key: GuardedKey)

  private(set) var keys: [KeyID: GuardedKey]
  /// The newest of each purpose, whether it could be opened or not.
  private(set) var current: [KeyPurpose: KeyID] = [:]
  /// The index key, and after a rotation also the one before it, for who still reads an older state of the store.
  /// Replaced as a whole: who has a copy reads it without the lock, and the thread sanitizer does not see Swift
  /// count references.
  private(set) var indexKeys: [Index] = []

  /// Nothing that a session key wraps comes in, nor the session key itself.
  private(set) var isLocked = false

  init(roots: [KeyID: GuardedKey]) {
    keys = [:]
    for (id, key) in roots { add(key, as: id) }
  }

  mutating func add(_ key: GuardedKey, as id: KeyID) {
    if isLocked, id.purpose.isOfSession {
      if id.purpose != .session { know(id) }
      return
    }
    keys[id] = key
    if id.purpose == .blindIndex { addIndex(key, id.epoch) }
    know(id)
  }

  private mutating func addIndex(_ key: GuardedKey, _ epoch: UInt32) {
    indexKeys = indexKeys.filter { $0.epoch != epoch } + [(epoch, key)]
  }

  /// New root keys and the index key among `new`, before their commit: who reads right after it, and before
  /// `add`, needs them. If the commit fails, nothing is ever wrapped by them or found with them.
  mutating func prepare(_ roots: RootKeys, _ new: [KeyID: GuardedKey]) {
    keys[roots.master.id] = roots.master.key
    if isUnlocked { keys[roots.session.id] = roots.session.key }
    for (id, key) in new where id.purpose == .blindIndex { addIndex(key, id.epoch) }
  }

  var isUnlocked: Bool { current[.session].flatMap { keys[$0] } != nil }

  /// Of a purpose that has no keys any more. The newest stays known, so that the next one gets another number while
  /// readers of an earlier state may need this one.
  mutating func forget(_ purpose: KeyPurpose) {
    keys = keys.filter { $0.key.purpose != purpose }
  }

  mutating func forget(_ ids: Set<KeyID>) {
    for id in ids {
      keys[id] = nil
      if current[id.purpose] == id { current[id.purpose] = nil }
      if id.purpose == .blindIndex { indexKeys = indexKeys.filter { $0.epoch != id.epoch } }
    }
  }

  mutating func unlock() { isLocked = false }

  /// A store whose session key nobody gave is locked from the start.
  mutating func lockWithoutSession() { if current[.session] == nil { isLocked = true } }

  /// Notes that there is such a key.
  mutating func know(_ id: KeyID) {
    guard id.epoch > current[id.purpose]?.epoch ?? 0 else { return }
    current[id.purpose] = id
  }
}

/// Both root keys, whether the store is locked or not.
struct RootKeys {
  typealias Root = (id: KeyID, key: GuardedKey)

  let master: Root
  let session: Root

  /// What comes after these.
  func next(in arena: KeyArena) throws -> RootKeys {
    RootKeys(
      master: (KeyID(.master, epoch: master.id.epoch + 1), try arena.randomKey()),
      session: (KeyID(.session, epoch: session.id.epoch + 1), try arena.randomKey()))
  }

  /// What wraps the key of a purpose.
  func wrapper(of purpose: KeyPurpose) -> Root {
    purpose.accessibility?.wrapper == .session ? session : master
  }
}
