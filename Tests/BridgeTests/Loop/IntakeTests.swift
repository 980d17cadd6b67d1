import Broker
import SodiumCrypto
import Synchronization
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Messages of the broker") struct IntakeTests {
  @Test(
    "What is wrong with a message, or does not fit the home, is rejected by name",
    arguments: [
      ("in/otbr/announce", "[]", "wrong_type"), ("in/otbr/ssid", #"{"access_point":"ap","ssid":"x"}"#, "not_found"),
      ("in", "{}", "invalid_topic"),
    ]) func rejections(_ topic: String, _ payload: String, _ code: String) throws
  {
    let kit = try LoopKit()
    try kit.receive(.of("tk/home/\(topic)", payload))
    #expect(kit.rejected == [code])
    #expect(kit.memory.messages.last?.text == "home \(code)")
  }

  /// Their codes and fields: `PublishedBytesTests`.
  static let ofHomes: [HomeRejection] = [
    .notAuthorized(.number(1)), .mayNotReportSSID, .sightingsNotSealed, .mayNotReportSightings, .unknownRouter,
    .unknownAccessPoint, .tooManyBehindAccessPoint(16), .outOfOrder, .envelopeOutOfOrder, .tooManyRouters(1),
    .homeIsFull(1), .tooManyShared(1), .tooManyNetworks(32), .notSealed, .notEnrolled,
  ]

  @Test("A rejection says in its one sentence what a refused request has as help, too") func remedies() {
    let full = Rejection(.tooManyRouters(64), home: nil)
    #expect(
      full.message == "this team has 64 border agent ids already; remove those that are gone with "
        + "`threadkeeper routers remove`, or raise `limits.routers_per_team`")
    #expect(full.help == nil && full.exit == nil && full.field == "border_agent_id")
    let home = Rejection(.homeIsFull(1_000), home: nil)
    #expect(
      home.message.hasSuffix(
        "already; remove those that are gone with " + "`threadkeeper routers remove`, or raise `limits.routers`"))
    let refused = Rejection(HomeRefusal.tooManyRouters(64), to: nil)
    #expect(full.message == "\(refused.message); \(refused.help ?? "")")
  }

  @Test("What nobody subscribed to, probes, and topics that were cleared are skipped") func skipped() throws {
    let kit = try LoopKit()
    let commits = kit.memory.commits
    try kit.receive(
      .of("other/home/in/otbr/announce"), .of("tk/home/in/otbr/probe"),
      .of("tk/home/in/otbr/announce", isRetained: true))
    #expect(kit.memory.commits == commits)
    #expect(kit.rejected.isEmpty)
    try kit.receive(.message("announce", 1, isRetained: true))
    #expect(kit.rejected == ["retained"])
  }

  @Test("What comes to a home that is not in the shard changes nothing, and is counted") func misplaced() throws {
    for homes in [["home"], []] {
      let kit = try LoopKit(homes) { $0.isOfShard = true }
      let commits = kit.memory.commits
      let topics = ["tk/jones/in/otbr/announce", "tk/jones/in", "tk/in", "tk//in/otbr/announce", ""]
      try kit.loop.received(topics.map { .of($0, "x") })
      #expect(kit.memory.commits == commits && kit.rejected.isEmpty)
      let all = kit.last?.rejections
      #expect(all?.keys.sorted() == ["invalid_topic"] && all?["invalid_topic"]?.count == 5)
    }
    let kit = try LoopKit { $0.isOfShard = true }
    try kit.receive(.announce(1), .of("tk/jones/in/otbr/announce", "x"), .of("tk/home/in/otbr"))
    #expect(kit.home.routers.count == 1)
    let last = kit.last
    #expect(last?.rejections["invalid_topic"]?.count == 2 && last?.received == 3)
  }

  @Test("Of such messages, those that are retained and probes are treated as those to other homes")
  func misplacedOthers() throws {
    let kit = try LoopKit { $0.isOfShard = true }
    try kit.receive(
      .of("tk/jones/in/otbr/probe", "x"), .of("tk/jones/in/otbr/announce", isRetained: true),
      .of("tk/jones/in/otbr/announce", "x", isRetained: true))
    let last = kit.last
    #expect(last?.rejections.isEmpty == true && last?.retainedIgnored == 1)
  }

  @Test("Of them the first is an example, with at most 400 bytes of its topic") func misplacedExample() throws {
    let kit = try LoopKit { $0.isOfShard = true }
    let topic = "tk/jones/in/e" + String(repeating: "\u{301}", count: 1_000)
    try kit.loop.received([topic, "tk/jones/in/b"].map { .of($0, "x") })
    let rejected = kit.follower.batches.withLock { $0.last?.rejections["invalid_topic"] }
    let example = try #require(rejected?.topic)
    #expect(rejected?.count == 2 && example.hasPrefix("tk/jones/in/"))
    #expect(example.utf8.count <= 402 && example.utf8.count >= 398)
  }

  @Test("A base topic may have levels that look like those below it") func bases() throws {
    let kit = try LoopKit(["home", "attic"], bases: ["home": "in/x", "attic": "in/in"])
    let payload = IncomingMessage.announce(1).payload
    try kit.receive(
      IncomingMessage(topic: "in/x/in/otbr/announce", payload: payload),
      IncomingMessage(topic: "in/in/in/otbr/announce", payload: payload),
      IncomingMessage(topic: "in/x", payload: payload))
    #expect(kit.rejected.isEmpty)
    #expect(kit.home.routers.count == 1)
    #expect(kit.loop.homes.snapshot.homes["attic"]?.routers.count == 1)
  }

  @Test("Logins that differ by bytes only are two") func exactUsers() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1, user: "e\u{301}"), .announce(1, user: "\u{E9}"))
    #expect(kit.rejected == ["not_authorized"])
  }

  @Test("A login that publishes too many events is rejected now and then, and others are not") func limits() throws {
    let kit = try LoopKit { ($0.limits.eventsPerSecond, $0.limits.eventsBurst) = (10, 20) }
    try kit.loop.received((0..<100).map { .announce($0) } + [.announce(200, user: "other")])
    #expect(kit.home.routers.count == 21)
    #expect(kit.rejected == [String](repeating: "rate_limited", count: 10))
    #expect(kit.last?.received == 101 && kit.last?.dropped == 70)
    kit.time.advance(seconds: 1)
    try kit.loop.received((0..<100).map { .announce(300 + $0) })
    #expect(kit.home.routers.count == 31)
  }

  @Test("Messages that come again because the store fails cost their login nothing") func limitsOfFailures() throws {
    let kit = try LoopKit { ($0.limits.eventsPerSecond, $0.limits.eventsBurst) = (10, 20) }
    let batch = (0..<20).map { IncomingMessage.announce($0) }
    for _ in 0..<3 { kit.memory.refuses { try kit.loop.received(batch) } }
    try kit.loop.received(batch)
    #expect(kit.rejected.isEmpty)
    #expect(kit.home.routers.count == 20)
    try kit.receive(.announce(20))
    #expect(kit.rejected == ["rate_limited"])
    // Nor one that has published before.
    kit.time.advance(seconds: 1)
    let later = (30..<40).map { IncomingMessage.announce($0) }
    for _ in 0..<3 { kit.memory.refuses { try kit.loop.received(later) } }
    try kit.loop.received(later)
    #expect(kit.home.routers.count == 30)
    try kit.receive(.announce(40))
    #expect(kit.rejected == ["rate_limited", "rate_limited"])
  }

  @Test("Topics that are wrong or long are not remembered, and of the others a limited number is") func topics() throws
  {
    var reader = try MessageReader(["tk/home"], IntakeReading(hashKey: LoopKit.hashKey))
    func remembered(_ topic: String) -> Int {
      _ = reader.topic(of: .of(topic))
      return reader.topics.count
    }
    #expect(remembered("tk/home/in/otbr/announce") == 1)
    #expect(remembered("tk/home/in/otbr/nonsense") == 1)
    #expect(remembered("tk/home/in/otbr/request/\(String(repeating: "x", count: 600))") == 1)
    for number in 1..<MessageReader.topicsKept { _ = remembered("tk/home/in/\(number)/announce") }
    #expect(reader.topics.count == MessageReader.topicsKept)
    #expect(remembered("tk/home/in/one/announce") == MessageReader.topicsKept / 2 + 1)
  }

  @Test("Summaries hide secrets, and tell which are equal") func summaries() throws {
    let key = LoopKit.hashKey
    let other = SecretBytes(copying: [UInt8](repeating: 8, count: 32))
    let one = try #require(DatasetSummary(.of(1), key: key))
    let newer = try #require(DatasetSummary(.of(1, at: 2), key: key))
    let two = try #require(DatasetSummary(.of(2), key: key))
    #expect(one == DatasetSummary(.of(1), key: key))
    #expect(one.parameters?.networkKey == newer.parameters?.networkKey)
    #expect(one.parameters?.whole != newer.parameters?.whole)
    #expect(one.parameters?.networkKey != two.parameters?.networkKey)
    #expect(one.parameters?.networkKey != one.parameters?.pskc)
    let elsewhere = try #require(DatasetSummary(.of(1), key: other))
    #expect(one.parameters?.networkKey != elsewhere.parameters?.networkKey)
    #expect(DatasetSummary(try OperationalDataset(bytes: []), key: key) == nil)
  }

  @Test("With a key of another length nothing is hashed, so that nothing seems to be equal") func wrongKey() throws {
    for length in [0, 15, 31, 33, 64] {
      let key = SecretBytes(copying: [UInt8](repeating: 7, count: length))
      #expect(throws: SodiumError.self) { try DatasetReader(key: key) }
      #expect(throws: SodiumError.self) { try LoopKit { $0.hashKey = key } }
      #expect(DatasetSummary(.of(1), key: key) == nil)
    }
  }

  @Test("No secret is in what is made of messages") func noSecrets() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .announce(2, .of(2)))
    let secrets = [OperationalDataset.of(1), .of(2)].flatMap { [$0.networkKey!.bytes, $0.pskc!.bytes] }
    for row in kit.memory.rows.values { for secret in secrets { #expect(row.state.firstRange(of: secret) == nil) } }
    #expect(kit.memory.rows.values.count { $0.secret != nil } >= 3)
  }
}

@Suite("Envelopes with events") struct SealedIntakeTests {
  private let daemon: Identity
  private let client: Identity

  init() throws {
    daemon = try Identity()
    client = try Identity()
  }

  private func kit(enrolls: Bool = true) throws -> LoopKit {
    let daemon = daemon
    let kit = try LoopKit { $0.identity = { daemon } }
    if enrolls { try kit.enroll("otbr", client.keys, trust: .signed) }
    return kit
  }

  private func sealed(
    _ body: String, _ number: UInt64, kind: String = "announce", from sender: Identity? = nil, beside: String = ""
  ) throws -> IncomingMessage {
    let topic = "tk/home/in/otbr/\(kind)"
    let place = Envelope.Place(topic: topic, order: .sequence(number), now: LoopKit.clock0 / 1_000)
    let envelope = try Envelope.seal(Array(body.utf8), to: daemon.keys, from: sender ?? client, at: place).json()
    return .of(topic, #"{"sealed":\#(envelope.text)\#(beside)}"#)
  }

  private var body: String {
    #"{"border_agent_id":"\#(BorderAgentID.agent(1))","dataset":"\#(OperationalDataset.of(1).hex)"}"#
  }

  @Test("A signed event counts once, and its number is kept over a restart") func counts() throws {
    let kit = try kit()
    let message = try sealed(body, 5)
    try kit.receive(message, message)
    #expect(kit.rejected.isEmpty)
    #expect(kit.last?.duplicates == 1)
    #expect(try kit.dataset(.router(.agent(1))) == .of(1))
    try kit.receive(try sealed(body, 4))
    #expect(kit.rejected == ["out_of_order"])
    let (daemon, memory) = (daemon, kit.memory)
    let later = try LoopKit(on: memory, time: kit.time) { $0.identity = { daemon } }
    try later.receive(message)
    #expect(later.last?.duplicates == 1)
  }

  @Test("What is wrong with an envelope, or who signed it, is rejected by name") func rejections() throws {
    let notEnrolled = try Identity()
    let kit = try kit()
    try kit.receive(
      try sealed(body, 1, from: notEnrolled), .announce(1),
      try sealed(body, 2, beside: #","border_agent_id":"a0000000000000ff""#),
      .of("tk/home/in/otbr/announce", #"{"sealed":1}"#), try sealed(body, 3, beside: #","dataset":"00""#),
      try sealed("{}", 4))
    #expect(
      kit.rejected == [
        "unknown_issuer", "not_sealed", "outside_differs", "not_an_envelope", "not_sealed", "missing_field",
      ])
    #expect(kit.home.routers.count == 0)

    let other = try self.kit(enrolls: false)
    try other.receive(try sealed(body, 1))
    #expect(other.rejected == ["not_enrolled"])
  }

  @Test("Without keys of the daemon nothing sealed is opened") func noKeys() throws {
    let kit = try LoopKit()
    try kit.enroll("otbr", client.keys)
    try kit.receive(try sealed(body, 1))
    #expect(kit.rejected == ["unsupported"])
  }
}

@Suite("Requests of the broker") struct RequestIntakeTests {
  @Test("A request that is ignored is no event that was dropped") func ignored() throws {
    let kit = try LoopKit { $0.request = { _, _ in .ignored } }
    try kit.receive(.announce(1), .message("request/flood", 1))
    #expect(kit.last?.received == 2 && kit.last?.dropped == 0 && kit.last?.outcomes.count == 1)
  }

  @Test("A sealed request is noted on disk, and forgotten again where that fails") func sealedRequests() throws {
    let keys = try Identity().keys
    let repeated = Mutex(0)
    let kit = try LoopKit {
      $0.request = { request, sealed in
        let verdict = sealed.take("id", of: keys, ends: 9_000_000_000, now: 1_790_000_000)
        if verdict != .news { repeated.withLock { $0 += 1 } }
        return verdict == .news ? .other {} : .ignored
      }
    }
    let message = IncomingMessage.message("request/ping", 1)
    kit.memory.refuses { try kit.receive(message) }
    try kit.receive(message, message)
    #expect(repeated.withLock { $0 } == 1)
    let rows = kit.memory.rows.count
    try kit.receive(.announce(1))
    #expect(kit.memory.rows.values.count { $0.state.first == SealedRequests.kind } == 1)
    #expect(kit.memory.rows.count > rows)
    let later = try LoopStoreTests.reload(kit)
    #expect(DaemonRecords(later).sealedIDs.count == 1)
  }
}

extension LoopStoreTests {
  static func reload(_ kit: LoopKit) throws -> LoadedStore { try LoadedStore([], kit.memory) }
}
