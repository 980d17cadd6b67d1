import SQLiteDatabase
import SodiumCrypto

/// The key slots of an open store: listed, added, removed. A slot holds root keys.
extension Keychain {
  /// The key slots, oldest first.
  package func slots() throws(KeychainError) -> [KeySlot] {
    try KeychainError.wrap("listing the key slots") {
      try health.checkListing()
      return try database.read { try KeySlot.all(in: $0) }
    }
  }

  /// Adds a key slot. A key file that does not exist is made.
  ///
  /// With the first passphrase, items "when unlocked" are out of reach of the key files; so the
  /// store must have been opened in a way that reaches them. Their classes get new keys, which an older copy of
  /// the store does not have. Then a device key that is in use and whose file is lost is written again.
  ///
  /// - Parameters:
  ///   - actor: for whom, in the audit; nil is the keychain's own auditor.
  ///   - wroteDeviceKey: called when that file is written again.
  /// - Throws: among others, for a first passphrase, `notAvailable` when there are items of its classes whose
  ///   device key is not here, and `decode` when an item of them does not open.
  @discardableResult package func addKeySlot(
    _ secret: KeySlotSecret, label: String = "", for actor: String? = nil, wroteDeviceKey: () -> Void = {}
  ) throws(KeychainError) -> KeySlot {
    try health.checkWritable()
    return try KeychainError.wrap("adding a key slot") {
      if case .keyFile(let path) = secret { _ = try KeyFile.createIfAbsent(path) }
      let bytes = try secret.bytes()
      var slot = try KeySlot(new: secret.kind, label: label, options: options)
      // Before the transaction: a passphrase takes its time.
      let slotKey = try slot.slotKey(from: bytes, in: keys.arena)
      return try write { tx in
        let ledger = try ledger(tx)
        if let actor { ledger.audit.actor = actor }
        var roots = [try keys.root(.master)]
        if slot.kind.guardsSession {
          try refuseStaleCodes(in: tx)
          roots.append(try sessionToGuard(ledger, wroteDeviceKey, in: tx))
        } else if slot.kind.holdsSession {
          roots.append(try keys.root(.session))
        }
        try slot.insert(roots, store: storeID, slotKey: slotKey, in: tx)
        try ledger.insert(slot.manifestElement)
        auditLog.note(.slotAdded, "\(slot.kind) \(label)", ledger)
        ledger.owesErasure = true
        return slot
      }
    }
  }

  /// Removes a key slot. Whoever copied the store and had that key can still open the
  /// copy. With the last passphrase, items "when passcode set" are deleted.
  ///
  /// - Throws: `itemNotFound`, `param` for the last slot.
  package func removeKeySlot(_ number: Int64, for actor: String? = nil) throws(KeychainError) {
    try health.checkWritable()
    try KeychainError.wrap("removing a key slot") {
      try deleting {
        try write { tx in
          let ledger = try ledger(tx)
          if let actor { ledger.audit.actor = actor }
          let slots = try KeySlot.all(in: tx)
          guard let slot = slots.first(where: { $0.number == number }) else {
            throw KeychainError(.itemNotFound, "there is no key slot \(number)")
          }
          guard slots.count > 1 else { throw KeychainError(.param, "this is the only key slot: add another one first") }
          if slot.kind.guardsSession, slots.filter(\.kind.guardsSession).count == 1 {
            try insertSessionRecord(keys.root(.session), by: keys.root(.master), ledger, in: tx)
            try deletePasscodeItems(ledger, in: tx)
          }
          auditLog.note(.slotRemoved, "\(slot.kind) \(slot.label)", ledger)
          try slot.delete(ledger, in: tx)
          ledger.owesErasure = true
        }
      }
    }
  }

  /// The first passphrase comes with a new session key, which earlier recovery codes would not
  /// have: nobody should find that out when it is needed.
  private func refuseStaleCodes(in tx: ReadTransaction) throws {
    let slots = try KeySlot.all(in: tx)
    guard !slots.contains(where: \.kind.guardsSession), let code = slots.first(where: { $0.kind == .recoveryCode })
    else { return }
    throw KeychainError(
      .param,
      "the recovery code in slot \(code.number) could not reach everything once there is a passphrase:"
        + " remove it, add the passphrase, then make a new code")
  }
}

/// Root keys out of slots.
extension Keychain {
  /// The numbers of the slots that open with `secret`; empty when none does, or when it is not there.
  package func slotsOpened(by secret: KeySlotSecret) throws(KeychainError) -> [Int64] {
    try KeychainError.wrap("trying the key slots") { try opened(by: secret).map(\.slot.number) }
  }

  /// The slots that open with `secret`, with the root keys in them.
  func opened(by secret: KeySlotSecret) throws -> [(slot: KeySlot, roots: [KeyID: GuardedKey])] {
    guard let bytes = try? secret.bytes() else { return [] }
    let slots = try database.read { try KeySlot.all(in: $0) }
    return try slots.filter { $0.kind == secret.kind }.compactMap { slot in
      do { return (slot, try slot.open(by: bytes, store: storeID, in: keys.arena)) } catch is SodiumError { return nil }
    }
  }

  /// Tries the slots of the kind of `secret`, the oldest first.
  static func roots(
    openedBy secret: KeySlotSecret, _ bytes: SecretBytes, store: StoreID, arena: KeyArena, in tx: ReadTransaction
  ) throws -> [KeyID: GuardedKey] {
    var refusal = ""
    for slot in try KeySlot.all(in: tx) where slot.kind == secret.kind {
      do { return try slot.open(by: bytes, store: store, in: arena) } catch SodiumError.refusedParameters(let reason) {
        refusal = "; \(reason)"
      } catch is SodiumError { continue }
    }
    throw KeychainError(
      .authFailed, "no key slot of the store opens with \(secret.words): \(secret.suspicion)\(refusal)")
  }
}

/// Unlocking: the session key comes out of a slot.
extension Keychain {
  /// Whether what is accessible "when unlocked" can be reached.
  package var isUnlocked: Bool { keys.isUnlocked }

  /// Brings the keys that the secret that opened the store did not reach.
  ///
  /// - Throws: `authFailed` when no slot opens with `secret`; `interactionNotAllowed` when the slot does
  ///   not reach what is accessible "when unlocked".
  package func unlock(with secret: KeySlotSecret) throws(KeychainError) {
    try KeychainError.wrap("unlocking the store") {
      try unlock(by: rootsOpened(by: secret))
      guard isUnlocked else {
        throw KeychainError(
          .interactionNotAllowed,
          "\(secret.words) opens the store, but not what is locked: give the passphrase or a recovery" + " code")
      }
    }
  }

  /// The root keys in the slots that `secret` opens, and which slots there were. A passphrase takes its time.
  func rootsOpened(by secret: KeySlotSecret) throws -> (roots: [KeyID: GuardedKey], mark: KeySetMark) {
    let bytes = try secret.bytes()
    return try database.read { tx in
      (try Self.roots(openedBy: secret, bytes, store: storeID, arena: keys.arena, in: tx), try KeySetMark(in: tx))
    }
  }

  /// - Throws: `notAvailable` when the slots are others by now.
  func unlock(by opened: (roots: [KeyID: GuardedKey], mark: KeySetMark)) throws {
    if access == .readOnly {
      try database.read { try unlock(by: opened, in: $0) }
    } else {
      // Not beside who renews the root keys: the session key would be an old one.
      try write { try unlock(by: opened, in: $0) }
    }
  }

  private func unlock(by opened: (roots: [KeyID: GuardedKey], mark: KeySetMark), in tx: ReadTransaction) throws {
    guard try KeySetMark(in: tx).hasSameSlots(as: opened.mark) else {
      throw KeychainError(.notAvailable, "the key slots have changed meanwhile: try again", isTemporary: true)
    }
    try keys.unlock(by: opened.roots, in: tx)
  }
}

/// The session key in slots and beside the other keys: it has a record of its own as long as no slot guards it.
extension Keychain {
  /// The session key for a slot that guards it. Where none did, it is a new one, and so is every class key that
  /// it wraps: who has a key file and an older copy of the store opens nothing that is written in these classes
  /// from then on.
  ///
  /// - Parameter wroteDeviceKey: called when the file of the device key was lost, and is written again.
  func sessionToGuard(_ ledger: ChangeLedger, _ wroteDeviceKey: () -> Void, in tx: WriteTransaction) throws
    -> RootKeys.Root
  {
    let old = RootKeys(master: try keys.root(.master), session: try keys.root(.session))
    guard let wrapped = try KeyTable.record(of: old.session.id, in: tx) else { return old.session }
    let new = RootKeys(master: old.master, session: try old.next(in: keys.arena).session)
    ledger.newKeys[new.session.id] = new.session.key
    let classes = Accessibility.allCases.filter { $0.wrapper == .session }
    let report = try KeyRenewal(keychain: self, from: old, to: new).run(
      classes.map(\.keyPurpose), deletingDeviceItems: false, ledger, in: tx)
    if report.hasWrittenDeviceKey { wroteDeviceKey() }
    try KeyTable.remove(old.session.id, tag: wrapped.tag, ledger, in: tx)
    keys.loaded.withLock { $0.prepare(new, ledger.newKeys) }
    return new.session
  }

  /// Puts the session key beside the others, for as long as no slot guards it.
  func insertSessionRecord(
    _ session: RootKeys.Root, by master: RootKeys.Root, _ ledger: ChangeLedger, in tx: WriteTransaction
  ) throws {
    let wrapped = try KeyRecord.wrap(session.key, id: session.id, store: storeID, by: master.id, wrapper: master.key)
    try KeyTable.insert(wrapped, of: session.id, ledger, in: tx)
  }
}
