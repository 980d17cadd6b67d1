// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Writes an empty store: identity, key slots, the keys that every store has, the manifest.
struct StoreBuilder {
  let store: StoreID
  let arena: KeyArena
  let options: KeychainOptions
  let slots: [(kind: KeySlot.Kind, secret: SecretBytes)]

  private static let master = KeyID(.master, epoch: 1)
  private static let session = KeyID(.session, epoch: 1)

  /// Returns the root keys.
  func build(in tx: WriteTransaction) throws -> [KeyID: GuardedKey] {
    let master = try arena.randomKey()
    let session = try arena.randomKey()
    var manifest = Manifest()
    manifest.generation = 1
    let manifestKeyID = KeyID(.manifest, epoch: 1)
    let manifestRoot = try arena.randomKey()
    let manifestKey = try ManifestKey(manifestKeyID, manifestRoot, in: arena)
    try tx.execute("INSERT INTO store (id, uuid) VALUES (1, ?)", .blob(store.bytes))

    var keys: [(KeyID, GuardedKey)] = [
      (KeyID(.metadata, epoch: 1), try arena.randomKey()),
      (KeyID(.blindIndex, epoch: 1), try arena.randomKey()), (manifestKeyID, manifestRoot),
      (KeyID(.audit, epoch: 1), try arena.randomKey()),
    ]
    let isGuarded = slots.contains { $0.kind.guardsSession }
    if !isGuarded { keys.append((Self.session, session)) }
    for (id, key) in keys {
      let wrapped = try KeyRecord.wrap(key, id: id, store: store, by: Self.master, wrapper: master)
      try tx.execute(
        "INSERT INTO keys (id, wrapped) VALUES (?, ?)", .integer(Int64(id.rawValue)),
        .blob(wrapped))
      try manifest.insert(.key(id, tag: wrapped.tag), key: manifestKey.sum)
    }
    for (kind, secret) in slots {
      let roots =
        kind.holdsSession
        ? [(Self.master, master), (Self.session, session)] : [(Self.master, master)]
      let row = try KeySlotRow(new: kind, label: "", options: options)
      let element = try row.insert(
        roots, store: store, slotKey: row.slotKey(from: secret, in: arena), in: tx)
      try manifest.insert(element, key: manifestKey.sum)
    }
    try tx.execute(
      "INSERT INTO manifest (id, sealed) VALUES (1, ?)",
      .blob(try manifest.sealed(store: store, by: manifestKey)))
    return [Self.master: master, Self.session: session]
  }
}
