import Foundation
import KeychainCore
import Synchronization
import TestKit
import Testing
import ThreadDataset

@testable import Home
@testable import HomeStore
@testable import ThreadNetwork

/// Also with a store that a daemon has left, and what people have decided there.
@Suite("Consent where no daemon runs", .timeLimit(.minutes(30))) struct ConsentTests {
  private let place: OwnPlace
  private let asked = Asked()

  private final class Asked: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func note() { value.add(1, ordering: .relaxed) }
  }

  init() async throws {
    place = try OwnPlace()
    try await place.client().store()
  }

  /// A program, of which a person agrees to all.
  private var client: THClient {
    let asked = asked
    return place.client { _ in
      asked.note()
      return true
    }
  }

  private static func network(_ number: Int) -> SampleNetwork {
    SampleNetwork.home.with {
      $0.extendedPANID = "111111112222220\(number)"
      $0.name = "net \(number)"
    }
  }

  /// As its daemon would.
  @discardableResult private func handle(
    _ change: (inout HomeRules) -> Void = { _ in }, _ inputs: (Home, WireTime) -> [HomeInput]
  ) throws -> Home {
    let now = WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    return try place.withStore { keychain in
      try SealedRecords(keychain).inTransaction { records in
        var rules = HomeRules { .random(in: .min ... .max) }
        change(&rules)
        var stored = try StoredHome("home", rules: rules, in: records)
        for input in inputs(stored.home, now) { _ = stored.handle(input, actor: nil, at: now) }
        let home = stored.home
        try stored.commit(to: records)
        return home
      }
    }
  }

  private func ask(_ requests: [HomeRequest]) throws -> Home {
    let requester = Requester(.systemUser(geteuid()), team: "own")
    return try handle { _, _ in requests.map { .request($0, RequestContext(requester, reply: .caller, actor: "test")) }
    }
  }

  private func decide(_ decision: (ConsentID) -> ConsentDecision.What) throws {
    try handle { home, _ in
      home.questions.map { .decision(ConsentDecision(decision($0.id), by: .commandLine(user: 0))) }
    }
  }

  private var home: Home {
    get throws {
      try place.withStore { keychain in try #require(HomeSnapshot.read(SealedRecords(keychain)).homes["home"]) }
    }
  }

  @Test("Where \"always\" was approved nobody is asked, but in an older copy of the store") func grant() async throws {
    _ = try ask([.getPreferred])
    try decide { .approve($0, .always) }
    _ = try await client.preferredCredentials()
    #expect(asked.count == 0)
    let copy = place.directory.file("copy")
    try FileManager.default.copyItem(atPath: place.storePath, toPath: copy)
    let grant = try #require(try home.grants.first)
    try handle { _, _ in [.decision(ConsentDecision(.revoke(grant: grant.id), by: .commandLine(user: 0)))] }
    try FileManager.default.removeItem(atPath: place.storePath)
    try FileManager.default.moveItem(atPath: copy, toPath: place.storePath)
    #expect(try home.grants.count == 1)
    _ = try await client.preferredCredentials()
    #expect(asked.count == 1)
    let another = place.client(team: "another") { _ in false }
    #expect(await failure { try await another.preferredCredentials() }?.code == 15)
  }

  @Test("What a person has refused a moment ago is refused at once") func denied() async throws {
    _ = try ask([.getPreferred])
    try decide { .deny($0) }
    let refused = await failure { try await client.preferredCredentials() }
    #expect(refused?.reason == .refused && refused?.answerCode == "consent_denied")
    #expect(asked.count == 0)
  }

  @Test("What waits for a person already counts towards the limit of questions") func questions() async throws {
    for number in 1...6 { try await client.store(Self.network(number), for: Data(repeating: UInt8(number), count: 8)) }
    let ids = try (1...6).map { try #require(ExtendedPANID(hex: Self.network($0).extendedPANID)) }
    #expect(try ask(ids.prefix(5).map(HomeRequest.getNetwork)).questions.count == 5)
    let refused = await failure { try await client.credentials(forExtendedPANID: Self.network(6).id) }
    #expect(refused?.reason == .busy && refused?.answerCode == "rate_limited")
    #expect(asked.count == 0)
  }

  @Test("A router's adoption and the home's alerts are left to the daemon") func adoption() async throws {
    let agent = try #require(BorderAgentID(bytes: Agents.attic))
    let dataset = try SampleNetwork.guest.dataset(at: 1)
    let key = try place.withStore { keychain in try SealedRecords(keychain).inTransaction { try $0.hashKey() } }
    var message = RouterMessage(.announce, .router(agent))
    message.dataset = DatasetSummary(dataset, key: key)
    let before = try handle({ ($0.settings.adoptTimeout, $0.settings.alertsHold) = (300, 0) }) { _, now in
      [
        .enroll(
          EnrolledClient(line: "line", fingerprint: "key", trust: .broker, at: now, by: "test"), "own",
          by: .commandLine(user: 0)), .message(message, from: "own"), .tick(Link(connection: 1)),
      ]
    }
    #expect(before.routers[agent]?.adoption?.state == .asked && !before.alerts.isEmpty)
    try await client.store(.guest.with { $0.channel = 20 }, for: Agents.attic)
    let after = try home
    #expect(after.routers[agent]?.dataset?.parameters?.channelNumber == 20)
    #expect(after.routers[agent]?.adoption == before.routers[agent]?.adoption)
    #expect(after.questions == before.questions && after.alerts == before.alerts)
  }

  @Test("What may be in a record that cannot be read is damaged, and not said to be missing") func damage() async throws
  {
    _ = try place.withStore { try $0.damageSecretRecords() }
    let dataset = try SampleNetwork.home.bytes()
    let calls: [() async throws -> Void] = [
      { _ = try await client.preferredCredentials() },
      { _ = try await client.preferredMatch(forActiveOperationalDataset: dataset) },
      { _ = try await client.credentials(forBorderAgentID: Agents.kitchen) },
      { _ = try await client.credentials(forExtendedPANID: SampleNetwork.home.id) },
      { try await client.deleteCredentials(forBorderAgent: Agents.kitchen) },
    ]
    for call in calls {
      let error = await failure(call)
      #expect(error?.reason == .damaged && error?.code == 11)
    }
  }

  @Test("A person who agrees has them told, and was asked about this network, once for each call") func agreed()
    async throws
  {
    let questions = Mutex<[String]>([])
    let client = place.client(team: "other") { question in
      questions.withLock { $0.append(question) }
      return true
    }
    let dataset = try SampleNetwork.home.bytes()
    let id = SampleNetwork.home.id
    #expect(try await client.preferredCredentials().activeOperationalDataSet == dataset)
    #expect(try await client.credentials(forExtendedPANID: id).activeOperationalDataSet == dataset)
    let asked = questions.withLock { $0 }
    #expect(asked.count == 2)
    for question in asked {
      #expect(question.contains(#""home" (1111111122222222)"#))
      #expect(!question.contains(SampleNetwork.home.networkKey))
    }
  }

  @Test("A person who refuses, and nobody to ask, are code 15, and tell nothing") func refused() async throws {
    for (answer, code) in [(false, "consent_denied"), (nil, "consent_required")] as [(Bool?, String)] {
      let client = place.client(team: "other") { _ in answer }
      let id = SampleNetwork.home.id
      for call: () async throws -> Void in [
        { _ = try await client.preferredCredentials() }, { _ = try await client.credentials(forExtendedPANID: id) },
      ] {
        let error = await failure(call)
        #expect(error?.code == 15)
        #expect(error?.domain == "THErrorDomain")
        #expect(error?.answerCode == code)
      }
    }
    let nobody = await failure { try await place.client().preferredCredentials() }
    #expect(nobody?.localizedDescription.contains("threadkeeper consent") == true)
  }

  @Test("What was agreed to is in the history and the audit; a refusal leaves nothing in the store") func history()
    async throws
  {
    let no = place.client(team: "other") { _ in false }
    #expect(await failure { try await no.preferredCredentials() }?.code == 15)
    #expect(try home.questions.isEmpty && home.decisions.isEmpty)

    let yes = place.client(team: "other") { _ in true }
    _ = try await yes.preferredCredentials()
    let home = try home
    #expect(home.questions.isEmpty && home.grants.isEmpty)
    #expect(home.decisions.map(\.outcome) == [.approved])
    #expect(home.decisions.first?.requester.team == "other")
    #expect(home.decisions.first?.obstacle == nil)
    let by = home.decisions.last?.by
    #expect(by == .program(user: geteuid()))
    #expect(by?.shown == "uid \(geteuid()) (in the program)")
    let given = try place.withStore { keychain in
      var lines: [String] = []
      try keychain.forEachAuditRecord { record in
        for line in record.lines where line.action == .credentialsGiven {
          lines.append("\(record.actor): \(line.subject)")
        }
      }
      return lines
    }
    #expect(given.count == 1)
    #expect(given.first?.hasPrefix("uid \(geteuid()): preferred/get") == true, "\(given)")
  }

  @Test("What becomes another network while the person thinks is not told") func changed() async throws {
    let client = place.client(team: "other") { [place] _ in
      let done = DispatchSemaphore(value: 0)
      let guest = try? SampleNetwork.guest.bytes()
      place.client().storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: guest ?? Data()) { _ in
        done.signal()
      }
      done.wait()
      return true
    }
    #expect(await failure { try await client.preferredCredentials() }?.code == 15)
  }

  @Test("Whether there is a preferred network, and whether a dataset is of it, asks nobody") func unasked() async throws
  {
    let client = place.client(team: "other") { _ in
      Issue.record("somebody is asked")
      return true
    }
    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: try SampleNetwork.home.bytes()))
    #expect(try await client.allCredentials().isEmpty)
  }

  @Test("A call whose task is cancelled ends while the person still thinks") func cancelled() async throws {
    let isAsked = Mutex(false)
    let isOver = DispatchSemaphore(value: 0)
    let client = place.client(team: "other") { _ in
      isAsked.withLock { $0 = true }
      _ = isOver.wait(timeout: .now() + 240)
      return true
    }
    let call = Task { try await client.preferredCredentials() }
    try await eventually("the question") { isAsked.withLock { $0 } }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    isOver.signal()
  }
}
