import SQLiteDatabase
import SodiumCrypto

/// All that a daemon keeps: homes, the messages that wait for the broker, its audit and its own keys. One daemon, or
/// one loop of it, has the store at a time.
package protocol DaemonStore: RecordStore {
  var id: StoreID { get }
  /// Where it is, for people: a directory, or a shard.
  var place: String { get }
  var condition: StoreCondition { get }
  /// What was found out about its anchor, in the order in which it was.
  var notices: [StoreNotice] { get }

  /// Key of the hashes in records.
  func hashKey() throws -> SecretBytes

  /// 64 bytes that the daemon's own key pairs are made of; nil where there are none.
  ///
  /// - Throws: `decode` where they are damaged.
  func identitySecrets() throws -> SecretBytes?

  /// The same, and makes them where there are none.
  ///
  /// - Parameter actor: who is named in the audit then.
  func identitySecrets(madeBy actor: String) throws -> SecretBytes

  /// Whether a recovery code opens it; nil where none can.
  func opensByRecoveryCode() throws -> Bool?

  /// The number of the last record of the audit; 0 when there is none.
  func lastAuditRecord() throws -> Int64

  /// Gives each record of the audit after `number` to `body`, oldest first and at most `limit` of them.
  ///
  /// - Throws: `decode` at the first that is missing, altered or not in its place; what `body` throws.
  func forEachAuditRecord(after number: Int64, limit: Int, _ body: (AuditRecord) throws -> Void) throws

  /// Opens the whole audit, and says what is wrong; nil: nothing.
  func auditProblem() throws -> String?

  /// - Throws: where nothing can be written, and a restart or a person is needed.
  func checkWritable() throws

  /// As `checkWritable`, and that the files or the lease are still there; called with each `upkeep`.
  func check() throws

  /// Upkeep, such as checkpoints; called each second, at rest less often.
  func upkeep() throws

  /// Has `body` called after each commit whose upkeep is due within a second also at rest: one that has deleted or
  /// changed a secret, or that is in the audit. Whoever has made it.
  func onUrgentUpkeep(_ body: @escaping @Sendable () -> Void)

  /// Gives back memory and space on the disk; called once, when the daemon has come to rest.
  ///
  /// - Throws: where the file is damaged. A disk that is full or fails keeps the space.
  func rest() throws

  /// Notes a failure that makes the store unusable; any other is ignored.
  func noteFailure(_ error: any Error)
}

extension DaemonStore {
  package func opensByRecoveryCode() throws -> Bool? { nil }
  package func onUrgentUpkeep(_ body: @escaping @Sendable () -> Void) {}
}

extension SealedRecords: DaemonStore {
  package var id: StoreID { keychain.storeID }
  package var place: String { keychain.location.directory }
  package var condition: StoreCondition { keychain.condition }
  package var notices: [StoreNotice] { keychain.notices }

  package func hashKey() throws -> SecretBytes {
    try keychain.read { tx throws(KeychainError) in try keychain.hashKey(in: tx) }
  }

  package func opensByRecoveryCode() throws -> Bool? { try keychain.slots().contains { $0.kind == .recoveryCode } }

  /// An item of Keychain Services:
  ///
  /// | service | account | group |
  /// |---|---|---|
  /// | `keeper-identity` | empty | `threadkeeper.internal` |
  package func identitySecrets() throws -> SecretBytes? { try keychain.first(matching: Self.identity)?.secret }

  private static let identity = ItemQuery(
    .genericPassword,
    [.service: .string("keeper-identity"), .account: .string(""), .accessGroup: .string(AccessGroups.reserved)],
    limit: 1)

  package func identitySecrets(madeBy actor: String) throws -> SecretBytes {
    try keychain.database.write { tx in
      if let found = try keychain.first(matching: Self.identity, in: tx) { return found.secret }
      keychain.act(as: actor, in: tx)
      let secrets = SecretBytes(random: 64)
      var attributes = Self.identity.attributes
      attributes[.label] = .string("threadkeeper")
      attributes[.itemDescription] = .string("keys of the keeper")
      try keychain.add(
        NewItem(.genericPassword, attributes: attributes, secret: secrets, accessible: .afterFirstUnlock), in: tx)
      return secrets
    }
  }

  package func checkWritable() throws { try keychain.checkWritable() }

  package func check() throws {
    try keychain.checkWritable()
    // A store that is gone is noticed while nothing is written, too.
    try keychain.database.checkFiles()
  }

  package func upkeep() throws { try keychain.tick() }

  package func onUrgentUpkeep(_ body: @escaping @Sendable () -> Void) {
    keychain.urgentUpkeep.withLock { $0.isDue = body }
  }

  package func rest() throws {
    try KeychainError.wrap("moving the log into the database") {
      try keychain.database.releaseMemory()
      // Where a reader needs the log, it stays until there is something to erase, or the daemon ends. So it does on a
      // disk that is full or fails: whether commits fail too, they show.
      do { _ = try keychain.database.checkpointTruncate() } catch let error as SQLiteError
        where error.kind == .full || error.kind == .io
      {}
    }
  }

  package func noteFailure(_ error: any Error) {
    if (error as? KeychainError)?.isFileDamaged == true { keychain.noteFileDamaged() }
  }

  package func lastAuditRecord() throws -> Int64 { try keychain.lastAuditRecord() }

  package func forEachAuditRecord(after number: Int64, limit: Int, _ body: (AuditRecord) throws -> Void) throws {
    try keychain.forEachAuditRecord(after: number, limit: limit, body)
  }

  package func auditProblem() throws -> String? { try keychain.auditProblem() }
}
