import Broker
import Home
import HomeStore
import KeychainCore
import SQLiteDatabase
import Settings
import SodiumCrypto
import TestKit
import ThreadDataset

/// A store with those who may have what is in it.
package struct MovedStore {
  package let store: TemporaryStore
  package var keychain: Keychain { store.keychain }

  package init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "a test"
    store = try TemporaryStore(options: options)
  }

  package static func settings(_ store: TemporaryStore) -> Settings {
    var settings = Settings(stateDirectory: store.path)
    settings.store = .init(path: store.location.directory)
    return settings
  }

  private struct Unexpected: Error {}

  /// Two clients, a consent, and one that waits.
  package func fill() throws {
    _ = try SealedRecords(keychain).identitySecrets(madeBy: "a test")
    try change { home, key in
      for user in ["hub", "router"] {
        let keys = try Identity().keys
        let client = EnrolledClient(
          line: keys.line, fingerprint: keys.fingerprint, trust: .broker, at: Self.now, by: "a test")
        home.take(.enroll(client, ExactName(user), by: Self.person))
      }
      let dataset = try SampleNetwork.home.dataset(at: 1)
      guard let summary = DatasetSummary(dataset, key: key) else { throw Unexpected() }
      var owner = RequestContext(Requester(.systemUser(0), team: "root"), reply: .caller, actor: "a test")
      owner.isAdministrator = true
      home.take(.request(.setPreferred(.dataset(summary)), owner), dataset: dataset)
      let id = try Self.ask("phone", &home)
      home.take(.decision(ConsentDecision(.approve(id, .always), by: Self.person)))
      _ = try Self.ask("tablet", &home)
    }
  }

  /// As a program without a daemon does.
  package func storeCredentials(of router: BorderAgentID) throws {
    try change { home, key in
      let dataset = try SampleNetwork.home.dataset(at: 1)
      guard let summary = DatasetSummary(dataset, key: key) else { throw Unexpected() }
      let context = RequestContext(Requester(.systemUser(1_000), team: "bob"), reply: .caller, actor: "a test")
      home.take(.request(.storeCredentials(router, summary), context), dataset: dataset)
    }
  }

  /// Alters a part of the last record that has a secret.
  ///
  /// - Returns: the number of the record.
  package func damageLastRecord(_ part: String) throws -> Int64 {
    try damage(part, of: "SELECT max(id) FROM records WHERE secret_version <> 0")
  }

  /// Alters the record with the name of the only home.
  ///
  /// - Returns: its number, which is that of the home.
  package func damageName() throws -> Int64 { try damage("state", of: "SELECT max(home) FROM records") }

  /// The manifest has the last 16 bytes of each part, which stay.
  private func damage(_ part: String, of record: StaticString) throws -> Int64 {
    var number: Int64?
    try store.reopen {
      let database = try SQLiteDatabase(path: store.location.databasePath, access: .readWrite(create: false))
      defer { database.close() }
      number = try database.write { tx in
        guard let number = try tx.first(record, row: { $0.integer(0) }) else { throw Unexpected() }
        try tx.execute(
          part == "state"
            ? """
            UPDATE records SET state = CAST(zeroblob(length(state) - 16) || substr(state, -16) AS BLOB)
            WHERE id = ?
            """
            : """
            UPDATE records SET secret = CAST(zeroblob(length(secret) - 16) || substr(secret, -16) AS BLOB)
            WHERE id = ?
            """, .integer(number))
        return number
      }
    }
    return try number ?? { throw Unexpected() }()
  }

  /// What a user sends sealed counts no more.
  package func revoke(_ user: String) throws {
    try change { home, _ in home.take(.revoke(ExactName(user), forgets: false, by: Self.person)) }
  }

  fileprivate static let now = WireTime(milliseconds: 1_795_235_760_000)
  private static let person = ConsentApprover.commandLine(user: 0)

  /// As a program without a daemon does.
  private func change(_ body: (inout StoredHome, SecretBytes) throws -> Void) throws {
    try SealedRecords(keychain).inTransaction { records in
      var home = try StoredHome("home", rules: HomeRules { .random(in: .min ... .max) }, in: records)
      try body(&home, try records.hashKey())
      try home.commit(to: records)
    }
  }

  private static func ask(_ user: String, _ home: inout StoredHome) throws -> ConsentID {
    let context = RequestContext(
      Requester(.login(ExactName(user)), team: ExactName(user)), reply: .caller, actor: "a test")
    guard case .waiting(let id) = home.take(.request(.getPreferred, context)) else { throw Unexpected() }
    return id
  }
}

extension StoredHome {
  @discardableResult fileprivate mutating func take(_ input: HomeInput, dataset: OperationalDataset? = nil)
    -> HomeAnswer?
  { handle(input, dataset: dataset, actor: "a test", at: MovedStore.now).answer }
}
