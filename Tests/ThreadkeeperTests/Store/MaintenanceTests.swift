import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import Threadkeeper

@Suite("Verification and backups over the local API", .timeLimit(.minutes(30))) struct MaintenanceTests {
  private let moved: MovedStore
  private let server: OperationServer

  init() throws {
    moved = try MovedStore()
    server = try OperationServer(moved.store)
    try Self.add((0..<200).map { ("\($0)", .afterFirstUnlock) }, to: moved.keychain)
  }

  private static func add(_ items: [(account: String, accessible: Accessibility)], to keychain: Keychain) throws {
    try keychain.database.write { tx in
      for item in items {
        _ = try keychain.add(
          NewItem(
            .genericPassword, attributes: [.account: .string(item.account), .accessGroup: .string("own")],
            secret: .init(copying: [UInt8](repeating: 7, count: 4_000)), accessible: item.accessible), in: tx)
      }
    }
  }

  @Test("A backup that would take the store's own space is refused, with what is missing") func noSpace() throws {
    let service = BackupService(MovedStore.settings(moved.store), logger: Logger(label: "test"), reserve: 1 << 62)
    let failure = #expect(throws: CommandFailure.self) { try service.checkSpace() }
    #expect(failure?.status == .cannotCreate)
    #expect(failure?.message.contains("MiB free") == true)
  }

  @Test("What a killed daemon left of a backup goes when the next one starts") func leftovers() throws {
    let directory = MovedStore.settings(moved.store).store.path
    let left = ["backup.new-1a2b3c", "backup.new-f"].map { "\(directory)/\($0)" }
    for path in left { try Data("x".utf8).write(to: URL(fileURLWithPath: path)) }
    _ = BackupService(MovedStore.settings(moved.store), logger: Logger(label: "test"))
    #expect(left.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
    #expect(FileManager.default.fileExists(atPath: directory + "/store.sqlite3"))
  }

  @Test("A locked store is verified, and what was not opened is counted") func locked() async throws {
    let moved = try MovedStore()
    try Self.add([("a", .whenUnlocked), ("b", .afterFirstUnlock)], to: moved.keychain)
    try moved.keychain.addKeySlot(.passphrase(.init(copying: Array("correct horse".utf8))))
    // By its key file.
    try moved.store.reopen()
    let server = try OperationServer(moved.store)
    let outcome = try await server.perform(VerifyStore())
    let records = try moved.keychain.verify(.everything).records
    #expect(outcome.locked == 1 && outcome.items == 2 && outcome.records == records, "\(outcome)")
  }

  @Test("What was altered on the disk is found, though the daemon has read it before") func altered() async throws {
    var changes = RecordChanges()
    changes.records = [.init(id: RecordID(8), home: 1, state: [])]
    try SealedRecords(moved.keychain).commit(changes)
    #expect(try await server.perform(VerifyStore()).isWell)
    // By another connection, as another program would.
    let other = try SQLiteDatabase(path: moved.store.location.databasePath, access: .readWrite(create: false))
    try other.write { tx in
      try tx.execute("UPDATE items SET secret = zeroblob(length(secret)) WHERE id = 3")
      try tx.execute("UPDATE records SET state = zeroblob(length(state)) WHERE id = 8")
    }
    other.close()
    let outcome = try await server.perform(VerifyStore())
    #expect(!outcome.isWell && outcome.damagedRows == [3], "\(outcome)")
    #expect(outcome.damagedRecords.map(\.number) == [8], "\(outcome)")
  }

  @Test("A backup comes in pieces, its outcome last; it is a backup, and nothing is left of it") func backup()
    async throws
  {
    var steps: [BackupStore.Reply] = []
    try await server.follow(BackupStore()) {
      steps.append($0)
      return true
    }
    let made = try #require(steps.last?.made)
    let bytes = steps.compactMap(\.data).reduce(Data(), +)
    let records = try moved.keychain.verify(.everything).records
    #expect(made.items == 200 && made.records == records && made.fileBytes == bytes.count && made.bytes < bytes.count)
    #expect(made.keyFile == MovedStore.settings(moved.store).store.keyFile, "of the daemon")
    #expect(steps.count { $0.data != nil } > 1)
    let directory = try TemporaryDirectory()
    try bytes.write(to: URL(fileURLWithPath: directory.file("backup")))
    let left = try FileManager.default.contentsOfDirectory(atPath: moved.store.location.directory)
    #expect(!left.contains { $0.hasPrefix("backup") }, "\(left)")
    _ = try Keychain.restore(
      directory.file("backup"), to: StoreLocation(directory: directory.file("store")), with: [moved.store.keyFile])
    let keychain = try Keychain.open(
      at: StoreLocation(directory: directory.file("store")), with: moved.store.keyFile, access: .readOnly)
    defer { keychain.close() }
    var whole = VerificationReport(items: 200)
    whole.records = records
    #expect(try keychain.verify(.everything) == whole && whole.records > 0)
    // Only the client knows whether it has a file of it.
    #expect(BackupNote.read(MovedStore.settings(moved.store)) == nil)
  }

  @Test("The note of a backup is the store's owner's, and writes to no other file's second name") func note() throws {
    let settings = MovedStore.settings(moved.store)
    let note = settings.store.path + ".last-backup"
    if geteuid() == 0 {
      #expect(chown(settings.store.path, 12_345, 12_345) == 0)
      defer { #expect(chown(settings.store.path, 0, 0) == 0) }
      BackupNote.write(settings)
      var status = stat()
      #expect(stat(note, &status) == 0 && status.st_uid == 12_345 && status.st_gid == 12_345)
      #expect(unlink(note) == 0)
    }
    BackupNote.write(settings)
    let first = try #require(BackupNote.read(settings))
    BackupNote.write(settings)
    #expect(try #require(BackupNote.read(settings)) >= first)
    #expect(unlink(note) == 0)
    let other = settings.store.path + ".other"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: other))
    #expect(link(other, note) == 0)
    BackupNote.write(settings)
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "precious")
  }
}

/// A store that is no keychain, as that of a shard.
struct ShardStandIn: DaemonStore {
  let shard: Int
  let records: SealedRecords
  /// Called before the records are read.
  var onLoad: @Sendable () throws -> Void = {}

  var id: StoreID { records.id }
  var place: String { "shard \(shard)" }
  var condition: StoreCondition { records.condition }
  var notices: [StoreNotice] { records.notices }

  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    try onLoad()
    return try records.load(body)
  }
  func commit(_ changes: RecordChanges) throws { try records.commit(changes) }
  func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    try records.withSecret(of: id, body)
  }
  func unreadable() throws -> [DamagedRecord] { try records.unreadable() }
  func messages(after id: Int64, limit: Int) throws -> [StoredMessage] { try records.messages(after: id, limit: limit) }
  func lastAuditRecord() throws -> Int64 { try records.lastAuditRecord() }
  func forEachAuditRecord(after number: Int64, limit: Int, _ body: (AuditRecord) throws -> Void) throws {
    try records.forEachAuditRecord(after: number, limit: limit, body)
  }
  func auditProblem() throws -> String? { try records.auditProblem() }
  func hashKey() throws -> SecretBytes { try records.hashKey() }
  func identitySecrets() throws -> SecretBytes? { try records.identitySecrets() }
  func identitySecrets(madeBy actor: String) throws -> SecretBytes { try records.identitySecrets(madeBy: actor) }
  func checkWritable() throws { try records.checkWritable() }
  func check() throws { try records.check() }
  func upkeep() throws { try records.upkeep() }
  func rest() throws { try records.rest() }
  func noteFailure(_ error: any Error) { records.noteFailure(error) }
}

@Suite("The store of a shard") struct ShardStoreTests {
  @Test("What needs key slots, logins or a file is refused, and says what to use instead") func keychain() throws {
    let store = try TemporaryStore()
    let context = try OperationContext(store, records: ShardStandIn(shard: 17, records: SealedRecords(store.keychain)))
    let broker = "mqtt://127.0.0.1:1883"
    let operations: [(any Threadkeeper.Operation, String)] = [
      (VerifyStore(), "threadkeeper fleet doctor"), (ListKeySlots(), "fleet.unseal_command"),
      (RotateKeys(secrets: []), "fleet.unseal_command"),
      (RemoveKeySlot(slot: 1, isConfirmed: true), "fleet.unseal_command"),
      (AddKeySlot(secret: StoreSecret(kind: .passphrase, value: "a b c d e f")), "fleet.unseal_command"),
      (StoreLogin(broker: broker, username: "node", password: "b"), "mqtt.password"),
      (DeleteLogin(broker: broker), "mqtt.password"),
    ]
    for (operation, remedy) in operations {
      let failure = #expect(throws: CommandFailure.self) { _ = try operation.perform(context) }
      #expect(failure?.status == .unavailable, "\(operation): \(failure?.message ?? "")")
      #expect(failure?.message.contains("shard 17") == true)
      #expect(failure?.remedy?.contains(remedy) == true, "\(failure?.remedy ?? "")")
    }
    #expect(throws: CommandFailure.self) { try context.store.keychain(instead: "") }
    #expect(try VerifyAudit().perform(context).problem == nil)
    #expect(try SealedRecords(store.keychain).keychain(instead: "") === store.keychain)
  }
}
