// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// The keys that are in memory now, roots among them.
struct LoadedKeys {
  /// What a search needs of the index keys.
  typealias Index = (newest: KeyID?, keys: [(epoch: UInt32, key: GuardedKey)])

  private(set) var keys: [KeyID: GuardedKey]
  /// The newest of each purpose, whether it could be opened or not.
  private(set) var current: [KeyPurpose: KeyID] = [:]
  /// Every epoch of the index key: while the index is being renewed there are several. Replaced as a whole:
  /// who has a copy reads it without the lock, and the thread sanitizer does not see Swift count references.
  private(set) var indexKeys: [(epoch: UInt32, key: GuardedKey)] = []

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
    if keys.updateValue(key, forKey: id) == nil, id.purpose == .blindIndex {
      indexKeys = indexKeys + [(id.epoch, key)]
    }
    know(id)
  }

  /// New root keys, before their commit: who reads right after it, and before `add`, needs them. Nothing is
  /// wrapped by them yet, and if the commit fails, nothing ever is.
  mutating func prepare(_ roots: RootKeys) {
    keys[roots.master.id] = roots.master.key
    guard isUnlocked else { return }
    keys[roots.session.id] = roots.session.key
  }

  var isUnlocked: Bool { current[.session].flatMap { keys[$0] } != nil }

  /// Of a purpose that has no keys any more.
  mutating func forget(_ purpose: KeyPurpose) {
    keys = keys.filter { $0.key.purpose != purpose }
    current[purpose] = nil
  }

  mutating func forget(_ ids: Set<KeyID>) {
    for id in ids {
      keys[id] = nil
      if current[id.purpose] == id { current[id.purpose] = nil }
      if id.purpose == .blindIndex { indexKeys = indexKeys.filter { $0.epoch != id.epoch } }
    }
  }

  mutating func lock() {
    isLocked = true
    keys = keys.filter { !$0.key.purpose.isOfSession }
    // The class keys stay known, and so their records are asked for; the session key is just missing.
    current[.session] = nil
  }

  mutating func unlock() { isLocked = false }

  /// Notes that there is such a key.
  mutating func know(_ id: KeyID) {
    guard id.epoch > current[id.purpose]?.epoch ?? 0 else { return }
    current[id.purpose] = id
  }
}
