// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// The store as a whole: `StoreOpener`, `StoreTransactions`, `StoreHealth`, `StoreUpkeep`, `StoreBackup`.
extension Keychain {
  /// Whether there is a store.
  package static func exists(at location: StoreLocation) -> Bool { location.hasStore }

  /// See `StoreOpener.create`.
  package static func create(
    at location: StoreLocation, slots: [KeySlotSecret], options: KeychainOptions = .init()
  ) throws(KeychainError) -> Keychain {
    try StoreOpener.create(at: location, slots: slots, options: options)
  }

  /// See `StoreOpener.open`.
  package static func open(
    at location: StoreLocation, with secret: KeySlotSecret, access: Access = .readWrite,
    options: KeychainOptions = .init()
  ) throws(KeychainError) -> Keychain {
    try StoreOpener.open(at: location, with: secret, access: access, options: options)
  }

  /// See `StoreOpener.slots`.
  package static func slots(at location: StoreLocation) throws(KeychainError) -> [KeySlot] {
    try StoreOpener.slots(at: location)
  }

  /// See `BackupRestore.run`.
  package static func restore(
    _ path: String, to location: StoreLocation, with secrets: [KeySlotSecret],
    replacing isReplacing: Bool = false, keyFile: String? = nil, options: KeychainOptions = .init()
  ) throws(KeychainError) -> RestoreReport {
    var restore = BackupRestore(to: location)
    restore.isReplacing = isReplacing
    restore.keyFile = keyFile
    restore.options = options
    return try restore.run(path, with: secrets)
  }

  /// See `StoreBackup.write`.
  package func backup(
    into draft: BackupDraft,
    progress: (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
  ) throws(KeychainError) -> BackupTrailer {
    try StoreBackup(
      database: database, manifest: manifest, health: health, verifier: verifier, options: options
    ).write(into: draft, progress: progress)
  }

  /// The same, and gives it its name.
  package func backup(
    to path: String, replacing isReplacing: Bool = false,
    progress: (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
  ) throws(KeychainError) -> BackupTrailer {
    let draft = try BackupDraft(path, replacing: isReplacing)
    let trailer = try backup(into: draft, progress: progress)
    try draft.place()
    return trailer
  }

  /// See `StoreTransactions.read`.
  package func read<R>(_ body: (ReadTransaction) throws -> R) throws(KeychainError) -> R {
    try transactions.read(body)
  }

  /// See `StoreTransactions.write`.
  package func write<R>(_ body: (WriteTransaction) throws -> R) throws(KeychainError) -> R {
    try transactions.write(body)
  }

  /// See `StoreTransactions.isOutdated`.
  package var isOutdated: Bool { transactions.isOutdated }

  package var condition: StoreCondition { health.condition }

  /// The rows that were found altered, by row id. They stay where they are.
  package var quarantine: Set<Int64> { health.quarantine }

  /// What a person should be told once.
  package var notices: [StoreNotice] { health.notices }

  /// See `StoreHealth.checkWritable`.
  package func checkWritable() throws(KeychainError) { try health.checkWritable() }

  /// Takes the store for damaged from now on: nothing more is written to it.
  package func noteFileDamaged() { health.fail(.fileDamaged) }

  /// See `StoreVerifier.verify`.
  @discardableResult
  package func verify(
    _ depth: VerificationDepth = .manifest
  ) throws(KeychainError) -> VerificationReport {
    try verifier.verify(depth)
  }

  /// See `StoreExamination.acceptRollback`.
  package func acceptRollback() throws(KeychainError) {
    try StoreExamination(self).acceptRollback()
  }

  /// See `LogErasure.run`.
  package func eraseDeletedPages() throws(KeychainError) -> Bool { try erasure.run() }

  /// Whether a call has left something for `tick` to do.
  package var owesUpkeep: Bool { upkeep.isOwed && !isClosed }

  /// What is due from time to time: call it about once a second.
  package func tick() throws(KeychainError) { try upkeep.run(waiting: 0) }

  /// The same where there is no next time: it waits a little for other processes.
  package func lastTick() throws(KeychainError) { try upkeep.run(waiting: StoreUpkeep.lastWait) }

  private var upkeep: StoreUpkeep {
    StoreUpkeep(access: access, health: health, anchor: anchor, erasure: erasure)
  }
}
