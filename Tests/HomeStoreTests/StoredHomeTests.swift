import Foundation
import Home
import HomeStore
import KeychainCore
import Testing
import ThreadDataset

/// What a program does to a store that it opens itself.
@Suite("A home of a store without a daemon") final class StoredHomeTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString)")
  private var location: StoreLocation { StoreLocation(directory: directory.path + "/store") }
  private var secret: KeySlotSecret { .keyFile(path: directory.path + "/store.key") }
  private let now = WireTime(milliseconds: 1_790_000_000_000)

  init() throws {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Keychain.create(at: location, slots: [secret], options: options).close()
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private var options: KeychainOptions {
    var options = KeychainOptions()
    options.auditor = "uid 1000"
    options.passwordHash = .floor
    options.anchorInterval = 0
    return options
  }

  private func open() throws -> Keychain {
    try Keychain.open(at: location, with: secret, access: .shared, options: options)
  }

  private static func agent(_ number: UInt64) -> BorderAgentID {
    BorderAgentID(high: 0xA000_0000_0000_0000 | number, low: 0)
  }

  /// A complete dataset with such a network key.
  private static func dataset(_ key: UInt8) throws -> OperationalDataset {
    let hex = String(repeating: String(key + 16, radix: 16), count: 16)
    return try OperationalDataset(
      hex: "0e080000000000010000000300000f35060004001fffe002081111111122222222"
        + "0708fdad70bfe5aa15dd0510\(hex)030b686f6d652d746872656164010212340410\(hex)0c0402a0f7f8")
  }

  private static func context(_ isAdministrator: Bool = false) -> RequestContext {
    var context = RequestContext(Requester(.systemUser(1_000), team: "bob"), reply: .caller, actor: "uid 1000")
    context.isAdministrator = isAdministrator
    return context
  }

  /// One call of a program.
  @discardableResult private func perform(
    _ keychain: Keychain, home name: String = "home", commits: Bool = true, dataset: OperationalDataset? = nil,
    _ request: (DatasetSummary?) -> HomeRequest
  ) throws -> HomeAnswer? {
    try SealedRecords(keychain).inTransaction { records in
      var stored = try StoredHome(name, rules: HomeRules { .random(in: .min ... .max) }, in: records)
      let key = try records.hashKey()
      let input = request(dataset.flatMap { DatasetSummary($0, key: key) })
      let output = stored.handle(.request(input, Self.context()), dataset: dataset, actor: "uid 1000", at: now)
      if commits { try stored.commit(to: records) }
      return output.answer
    }
  }

  private func store(_ keychain: Keychain, _ agent: UInt64, key: UInt8, home: String = "home", commits: Bool = true)
    throws
  {
    let answer = try perform(keychain, home: home, commits: commits, dataset: Self.dataset(key)) { summary in
      summary.map { .storeCredentials(Self.agent(agent), $0) } ?? .listCredentials(onlyActive: false)
    }
    guard case .stored = answer else {
      Issue.record("\(String(describing: answer))")
      return
    }
  }

  private func kept(_ keychain: Keychain, _ agent: UInt64, home: String = "home") throws -> [UInt8]? {
    let records = SealedRecords(keychain)
    return try StoredHome(home, rules: HomeRules { 1 }, in: records).withDataset(
      of: .router(Self.agent(agent)), in: records
    ) { Array($0) }
  }

  @Test("What a call stores is there for the next one, and nothing of a daemon is") func calls() throws {
    let keychain = try open()
    defer { keychain.close() }
    try store(keychain, 1, key: 1)
    try store(keychain, 2, key: 2, home: "cabin")
    #expect(try kept(keychain, 1) == Self.dataset(1).bytes)
    #expect(try kept(keychain, 2, home: "cabin") == Self.dataset(2).bytes)
    #expect(try kept(keychain, 2) == nil)
    let snapshot = try HomeSnapshot.read(SealedRecords(keychain))
    #expect(Set(snapshot.homes.keys) == ["home", "cabin"])
    #expect(snapshot.homes["home"]?.routers[Self.agent(1)]?.dataset != nil)
    #expect(snapshot.homes.values.allSatisfy { !$0.hasDamage && $0.alerts.isEmpty })
    var ids: Set<RecordID> = []
    let damaged = try SealedRecords(keychain).load { record in
      #expect(record.home != 0)
      ids.insert(record.id)
    }
    #expect(damaged.isEmpty && ids.count >= 4)
    #expect(try SealedRecords(keychain).messages(after: 0, limit: 1).isEmpty)

    try perform(keychain) { _ in .deleteCredentials(Self.agent(1)) }
    #expect(try kept(keychain, 1) == nil)
    var lines: [String] = []
    try keychain.forEachAuditRecord { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    #expect(lines.contains("uid 1000: added genp thread-network/home a000000000000001 (bob)"), "\(lines)")
    #expect(lines.contains("uid 1000: deleted genp thread-network/home a000000000000001 (bob)"))
  }

  @Test("What is not committed has never been") func uncommitted() throws {
    let keychain = try open()
    defer { keychain.close() }
    try store(keychain, 1, key: 1, commits: false)
    #expect(try HomeSnapshot.read(SealedRecords(keychain)).homes.isEmpty)
    #expect(try kept(keychain, 1) == nil)
  }

  @Test("A call that changes nothing writes nothing") func readOnly() throws {
    let keychain = try open()
    defer { keychain.close() }
    try perform(keychain) { _ in .listCredentials(onlyActive: false) }
    #expect(try SealedRecords(keychain).load { _ in Issue.record("a record") } == [])
  }

  @Test("A person is asked while nothing is held, and gives what is stored then") func consent() throws {
    let keychain = try open()
    defer { keychain.close() }
    let records = SealedRecords(keychain)
    var rules = HomeRules { .random(in: .min ... .max) }
    rules.isAwaited = { _ in true }
    try store(keychain, 1, key: 1)
    try records.inTransaction { records in
      var stored = try StoredHome("home", rules: rules, in: records)
      let network = try #require(stored.home.routers[Self.agent(1)]?.dataset?.network)
      _ = stored.handle(
        .request(.setPreferred(.network(network, router: nil)), Self.context(true)), actor: "uid 0", at: now)
      try stored.commit(to: records)
    }
    func ask(_ stored: inout StoredHome) throws -> ConsentQuestion {
      let output = stored.handle(.request(.getPreferred, Self.context()), actor: "uid 1000", at: now)
      guard case .waiting(let id) = output.answer else { throw CocoaError(.featureUnsupported) }
      return try #require(stored.home.questions.first { $0.id == id })
    }
    var first = try StoredHome("home", rules: rules, in: records)
    let shown = try ask(&first)
    let given = try records.inTransaction { records in
      var stored = try StoredHome("home", rules: rules, in: records)
      #expect(stored.home.questions.isEmpty)
      let question = try ask(&stored)
      #expect(question.subject == shown.subject)
      let output = stored.handle(
        .decision(ConsentDecision(.approve(question.id, .once), by: .commandLine(user: 1_000))), actor: "uid 1000",
        at: now)
      let answer = try #require(output.settled.first?.answer)
      guard case .credentials(let found) = answer else { throw CocoaError(.featureUnsupported) }
      let given = try found.map { one in try stored.withDataset(of: one.secret, in: records) { Array($0) } }
      try stored.commit(to: records)
      return given
    }
    #expect(try given == [Self.dataset(1).bytes])
    let home = try #require(HomeSnapshot.read(records).homes["home"])
    #expect(home.questions.isEmpty && home.decisions.count == 1)
  }

  @Test("Two programs that have the store at a time lose nothing of each other's") func twoPrograms() throws {
    let (one, other) = (try open(), try open())
    defer {
      one.close()
      other.close()
    }
    for number: UInt64 in 1...3 {
      try store(one, number, key: UInt8(number))
      try store(other, 10 + number, key: UInt8(10 + number))
    }
    for keychain in [one, other] {
      for number: UInt64 in 1...3 {
        #expect(try kept(keychain, number) == Self.dataset(UInt8(number)).bytes)
        #expect(try kept(keychain, 10 + number) == Self.dataset(UInt8(10 + number)).bytes)
      }
    }
  }
}
