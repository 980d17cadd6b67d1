import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import Bridge

@Suite("The daemon's own keys") struct DaemonIdentityTests {
  private let store: TemporaryStore
  private let log = RecordingLog()
  private var keychain: Keychain { store.keychain }

  init() throws {
    var options = KeychainOptions()
    options.auditor = "daemon"
    store = try TemporaryStore(options: options)
  }

  private func identity() throws -> DaemonIdentity { try DaemonIdentity(SealedRecords(keychain), logger: log.logger) }

  @Test("They are made when they are needed, once, and are there again when the store is opened") func made() throws {
    let identity = try identity()
    #expect(identity.keys == nil)
    let made = try identity.findOrMake(actor: "uid 7")
    #expect(identity.keys?.keys == made.keys)
    #expect(try identity.findOrMake(actor: "uid 8").keys == made.keys)
    var actors: [String] = []
    try keychain.forEachAuditRecord { actors.append($0.actor) }
    #expect(actors.contains("uid 7") && !actors.contains("uid 8"))
    try store.reopen()
    #expect(try self.identity().keys?.keys == made.keys)
    #expect(log.lines == [])
  }

  @Test("Who looks before they are made finds those that are made then") func twice() throws {
    let (first, second) = (try identity(), try identity())
    let made = try first.findOrMake(actor: "uid 7")
    #expect(second.keys == nil)
    #expect(try second.findOrMake(actor: "uid 7").keys == made.keys)
  }

  @Test("Damaged ones are named in the log, count as none, and are not replaced") func damaged() throws {
    _ = try identity().findOrMake(actor: "uid 7")
    try keychain.database.write { tx in
      var bytes = try #require(try tx.first("SELECT secret FROM items") { $0.blob(0) })
      bytes[bytes.count / 2] ^= 1
      try tx.execute("UPDATE items SET secret = ?", .blob(bytes))
    }
    let identity = try identity()
    #expect(identity.keys == nil)
    #expect(log.lines.count == 1 && log.levels == [.error])
    #expect(log.lines.first?.hasPrefix("what is sealed cannot be opened reason=") == true)
    let error = try #require(throws: KeychainError.self) { try identity.findOrMake(actor: "uid 7") }
    #expect(error.isItemDamaged && identity.keys == nil)
  }

  @Test("Of an item that holds something else they are no more than of a damaged one") func otherSecret() throws {
    try keychain.database.write { tx in
      try keychain.add(
        NewItem(
          .genericPassword,
          attributes: [
            .service: .string("keeper-identity"), .account: .string(""), .accessGroup: .string("threadkeeper.internal"),
          ], secret: SecretBytes(copying: [1, 2, 3]), accessible: .afterFirstUnlock), in: tx)
    }
    #expect(try identity().keys == nil)
    #expect(log.lines == ["what is sealed cannot be opened reason=the daemon's own keys are damaged; restore a backup"])
  }

  @Test("A store that cannot be written has those that it has, and gets none") func readOnly() throws {
    try store.reopen(access: .readOnly)
    let identity = try identity()
    #expect(throws: (any Error).self) { try identity.findOrMake(actor: "uid 7") }
    #expect(identity.keys == nil)
    try store.reopen()
    let made = try self.identity().findOrMake(actor: "uid 7")
    try store.reopen(access: .readOnly)
    #expect(try self.identity().findOrMake(actor: "uid 7").keys == made.keys)
  }
}
