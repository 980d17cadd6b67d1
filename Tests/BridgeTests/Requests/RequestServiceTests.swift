// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import KeychainCore
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Requests through the loop")
struct RequestServiceTests {
  private let memory = MemoryStore()
  private let time = LoopKit.Time()
  private let service: RequestService
  private let loop: HomeLoop
  private let follower: Follower
  private let daemon: Identity
  private let phone: Identity
  private let key: SecretBytes
  private let log = RecordingLog()

  private final class Follower: LoopFollower {
    let loop = Mutex<HomeLoop?>(nil)
    let batches = Atomic(0)
    let service: RequestService
    /// What the home has to handle; nil where nothing must be.
    let owed = Mutex<[RequestService.OwedInput]?>(nil)

    init(_ service: RequestService) { self.service = service }

    func messages(of outcome: LoopOutcome, in home: Home, at now: WireTime) -> [[UInt8]] { [] }

    func committed(_ batch: CommittedBatch) {
      batches.add(1, ordering: .relaxed)
      guard let loop = loop.withLock({ $0 }) else { return }
      let new = service.answer(batch, of: loop)
      owed.withLock { owed in
        if owed == nil { #expect(new.isEmpty) }
        owed? += new
      }
    }

    func willHandle() { service.callers.look() }
    func hasHandled() { service.callers.wake() }
  }

  init() throws {
    let (daemon, phone) = (try Identity(), try Identity())
    (self.daemon, self.phone) = (daemon, phone)
    let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
    self.key = key
    var parts = RequestService.Parts(summarize: { DatasetSummary($0, key: key) })
    parts.rules.approvers = ["anna"]
    parts.rules.approversMustSign = false
    parts.version = "1.0"
    parts.logger = log.logger
    parts.exchange = { SealedExchange(daemon) }
    let callers = WaitingCallers()
    let last = Atomic<UInt64>(0)
    var rules = HomeRules { last.add(1, ordering: .relaxed).newValue }
    rules.isAwaited = { callers.isAwaited($0) }
    rules.adoptTimeout = 300
    let home = ServedHome(name: "home", base: "tk/home", rules: rules)
    service = RequestService([home], parts, callers)
    var reading = IntakeReading(hashKey: key)
    reading.request = service.read
    follower = Follower(service)
    let time = time
    loop = try HomeLoop(
      [home], discovers: false, store: memory, reading: reading, follower: follower,
      clock: { time.now })
    let loop = loop
    follower.loop.withLock { $0 = loop }
    try loop.perform(
      .enroll(
        EnrolledClient(
          line: phone.keys.line, fingerprint: phone.keys.fingerprint, trust: .broker,
          at: time.now, by: "test"), "phone", by: .commandLine(user: 0)), in: "home")
    try loop.received([LoopKit.announce(1)])
  }

  private var home: Home { loop.snapshot.homes["home"] ?? Home(rules: HomeRules { 0 }) }

  /// What is published since the last call.
  private func published() -> [Publication] {
    service.queue.next(100, connection: 1, at: time.now)
  }

  private func ask(_ command: String, _ json: String = "{}") throws -> [ThreadAnswer] {
    try loop.received([request(command, json)])
    return published().compactMap { ThreadAnswer(json: $0.payload) }
  }

  private func request(
    _ command: String, _ json: String = "{}", from user: String = "phone"
  ) -> IncomingMessage {
    IncomingMessage(
      topic: "tk/home/in/\(user)/request/\(command)", payload: Array(json.utf8))
  }

  private func call(
    _ command: RequestCommand, _ change: (inout ThreadRequest) -> Void = { _ in },
    isThere: @escaping @Sendable () -> Bool = { true }, wake: @escaping @Sendable () -> Void = {}
  ) -> RequestService.Outcome {
    var request = ThreadRequest(command)
    request.transaction = "t"
    change(&request)
    var local = LocalRequest(request, user: 0, team: "root")
    local.isAdministrator = true
    return service.answer(
      local, by: loop, isOwnUser: true, at: time.now, isThere: isThere, wake: wake)
  }

  /// What is answered at once.
  private func answered(
    _ command: RequestCommand, isThere: Bool = true,
    _ change: (inout ThreadRequest) -> Void = { _ in }
  ) throws -> ThreadAnswer {
    guard case .answer(let answer) = call(command, change, isThere: { isThere }) else {
      throw AnswerFailure.nobodyWaits
    }
    return answer
  }

  private func approve() throws {
    let id = try #require(home.questions.first?.id.questionText)
    #expect(try answered(.approveConsent) { $0.id = id }.status == .ok)
  }

  @Test("A request is answered when it is on disk, on its topic and for thirty seconds")
  func answers() throws {
    #expect(try ask("ping", #"{"transaction":"r"}"#).map(\.data?.version) == ["1.0"])
    #expect(try ask("routers/list").map(\.status) == [.ok])
    #expect(try ask("nothing").map(\.error?.known) == [.unsupported])
    try loop.received([request("credentials/get", #"{"border_agent_id":"0000000000000001"}"#)])
    let publication = try #require(published().first)
    #expect(publication.topic == "tk/home/out/phone/response/credentials/get")
    #expect(publication.messageExpiry == 30)
    #expect(ThreadAnswer(json: publication.payload)?.error?.known == .notFound)
  }

  @Test("Answers, refusals and what is dropped are counted")
  func figures() throws {
    _ = try ask("ping")
    _ = try ask("nothing")
    _ = try ask("preferred/available")
    _ = call(.ping)
    _ = call(.getCredentials) { $0.agent = LoopKit.agent(9) }
    #expect(service.figures == .init(answered: 3, refused: 2, dropped: 0))
    #expect(try ask("preferred/get").isEmpty)
    #expect(service.figures.answered == 3)
    try approve()
    #expect(service.figures == .init(answered: 5, refused: 2, dropped: 0))
    service.countRefusal()
    #expect(service.figures == .init(answered: 5, refused: 3, dropped: 0))
    for _ in 0..<100 { _ = try loop.received([request("ping")]) }
    #expect(service.figures.answered + service.figures.refused == 108)
    let flood = published().compactMap { ThreadAnswer(json: $0.payload) }
    #expect(flood.count < 100)
    #expect(flood.last?.error == .tooManyRequests)
  }

  @Test("What is not on disk is not answered")
  func failedCommit() throws {
    let dataset = LoopKit.dataset(1)
    let store = request(
      "credentials/store",
      #"{"border_agent_id":"0000000000000009","dataset":"\#(dataset.hex)"}"#)
    _ = published()
    #expect(throws: MemoryStore.Failure.self) {
      try memory.failing { try loop.received([store]) }
    }
    #expect(published().isEmpty)
    try loop.received([store])
    #expect(published().map { ThreadAnswer(json: $0.payload)?.data?.change } == [.stored])
  }

  @Test("A person is asked, and who asked over MQTT gets it sealed")
  func consent() throws {
    #expect(try ask("preferred/get", #"{"transaction":"r"}"#).isEmpty)
    try approve()
    let publication = try #require(published().first)
    let answer = ThreadAnswer(json: publication.payload)
    #expect(answer?.transaction == "r")
    let sealed = try #require(answer?.data?.sealed)
    let opened = try Envelope.open(
      Array(JSONEncoder().encode(sealed)), with: phone, from: [daemon.keys],
      topic: publication.topic, now: time.now.unixSeconds)
    let data = try JSONDecoder().decode(AnswerData.self, from: Data(opened.body))
    #expect(data.credentials?.first?.dataset == LoopKit.dataset(1))
  }

  @Test("A program waits for a person on its connection, unless it has hung up")
  func waits() throws {
    guard case .waiting(let place) = call(.getPreferred) else {
      Issue.record("it does not wait")
      return
    }
    _ = published()
    #expect(service.callers.answer(at: place) == nil)
    try approve()
    #expect(published().isEmpty)
    let answer = service.callers.answer(at: place)
    #expect(answer?.data?.credentials?.first?.dataset == LoopKit.dataset(1))
    #expect(answer?.transaction == "t")
    #expect(try answered(.getPreferred, isThere: false).error == .nobodyWaits)
    #expect(home.questions.isEmpty)
  }

  /// What is stored under a record does not open any more.
  private func damage(_ dataset: OperationalDataset) {
    memory.contents.withLock { contents in
      for id in contents.rows.keys where contents.rows[id]?.secret == dataset.bytes {
        contents.rows[id]?.secret = nil
      }
    }
  }

  /// The home handles what became of its answers.
  private func tellHome() throws {
    let owed = follower.owed.withLock { owed in
      defer { owed = [] }
      return owed ?? []
    }
    for one in owed { try loop.perform(one.input, in: one.home) }
  }

  private func audit(_ action: AuditAction) -> [String] {
    memory.audit.filter { $0.action == action }.map(\.subject)
  }

  @Test(
    "What was agreed to and cannot be sent is noted in the audit and the history, by its reason")
  func notGiven() throws {
    follower.owed.withLock { $0 = [] }
    #expect(try ask("preferred/get", #"{"transaction":"r"}"#).isEmpty)
    let id = try #require(home.questions.first?.id)
    damage(LoopKit.dataset(1))
    try approve()
    #expect(
      published().compactMap { ThreadAnswer(json: $0.payload)?.error?.known }
        == [.damagedCredentials])
    #expect(audit(.credentialsNotGiven).isEmpty)
    try tellHome()
    let note = try #require(audit(.credentialsNotGiven).first)
    #expect(
      note.hasSuffix(
        "to login phone (team phone) by \(id.questionText): what is stored is damaged"),
      "\(note)")
    #expect(home.decisions.last?.obstacle == .damaged)
  }

  @Test(
    "What a grant would give and does not open is noted in the audit, over MQTT and on the socket")
  func grantNotGiven() throws {
    follower.owed.withLock { $0 = [] }
    #expect(try ask("preferred/get").isEmpty)
    let ofPhone = try #require(home.questions.first?.id.questionText)
    guard case .waiting(let place) = call(.getPreferred) else {
      Issue.record("it does not wait")
      return
    }
    let ofRoot = try #require(home.questions.last?.id.questionText)
    for id in [ofPhone, ofRoot] {
      let answer = try answered(.approveConsent) {
        $0.id = id
        $0.scope = .always
      }
      #expect(answer.status == .ok)
    }
    service.callers.forget(place)
    _ = published()
    damage(LoopKit.dataset(1))
    #expect(try ask("preferred/get").map(\.error?.known) == [.damagedCredentials])
    #expect(try answered(.getPreferred).error?.known == .damagedCredentials)
    try tellHome()
    let notes = audit(.credentialsNotGiven)
    #expect(notes.count == 2)
    for grant in home.grants {
      #expect(
        notes.contains { $0.contains("by \(grant.id.grantText): what is stored") }, "\(notes)")
    }
    #expect(home.decisions.allSatisfy { $0.obstacle == nil })
  }

  @Test("Nothing is given that took the place of what a person has agreed to in the same batch")
  func replaced() throws {
    follower.owed.withLock { $0 = [] }
    #expect(try ask("preferred/get", #"{"transaction":"r"}"#).isEmpty)
    let id = try #require(home.questions.first?.id.questionText)
    try loop.received([
      request("consent/approve", #"{"id":"\#(id)"}"#, from: "anna"),
      request("preferred/set", #"{"dataset":"\#(LoopKit.dataset(2).hex)"}"#, from: "anna"),
    ])
    let answers = published().compactMap { ThreadAnswer(json: $0.payload) }
    try tellHome()
    #expect(home.decisions.last?.obstacle == .changed)
    #expect(home.preferred?.dataset.network == LoopKit.dataset(2).extendedPANID)
    #expect(answers.map(\.status) == [.ok, .error, .ok])
    let refused = try #require(answers.first { $0.transaction == "r" })
    #expect(refused.error?.known == .conflict)
  }

  @Test("An adoption's message is made of the dataset that its order is about, or not at all")
  func order() throws {
    for (network, count) in [(2, 0), (1, 1)] as [(UInt8, Int)] {
      var outcome = LoopOutcome(home: "home")
      outcome.output.orders = [
        AdoptionOrder(
          agent: LoopKit.agent(2), user: "phone", message: 7, connection: 1,
          deadline: time.now.adding(seconds: 300),
          dataset: try #require(DatasetSummary(LoopKit.dataset(network), key: key)))
      ]
      var batch = CommittedBatch(time: time.now)
      batch.outcomes = [outcome]
      let owed = service.answer(batch, of: loop)
      #expect(published().count == count)
      // With what is there then.
      let isDue = owed.contains { if case .deliveriesAreDue = $0.input { true } else { false } }
      #expect(isDue == (count == 0))
    }
  }

  @Test(
    "An adoption whose dataset does not open fails by that reason, and the log names the router")
  func damagedOrder() throws {
    follower.owed.withLock { $0 = [] }
    try startAdoption()
    try approve()
    damage(LoopKit.dataset(1))
    time.advance(seconds: 1)
    try loop.tick(Link(connection: 1, listeningSince: time.now.adding(seconds: -60)))
    #expect(home.routers[LoopKit.agent(2)]?.adoption?.state == .sent)
    #expect(published().allSatisfy { !$0.topic.contains("dataset/set") })
    try tellHome()
    #expect(home.routers[LoopKit.agent(2)]?.adoption?.state == .damagedCredentials)
    let alert = home.alerts[AlertKey(.adoptionFailed, .router(LoopKit.agent(2)))]
    #expect(alert?.phase == .firing)
    #expect(home.decisions.last?.obstacle == .damaged)
    #expect(audit(.credentialsNotGiven).count == 1)
    #expect(log.levels == [.error])
    let line = try #require(log.lines.first)
    #expect(line.contains("border_agent_id=\(LoopKit.agent(2))") && line.contains("remedy="))
  }

  @Test("What becomes another dataset while it is read is looked at once more, and no damage")
  func race() throws {
    func store(_ dataset: OperationalDataset) throws {
      let stored = try answered(.storeCredentials) {
        ($0.agent, $0.dataset) = (LoopKit.agent(7), dataset)
      }
      #expect(stored.status == .ok)
    }
    func reading(_ change: @escaping @Sendable () -> Void, times: Int, _ body: () throws -> Void)
      rethrows
    {
      let left = Atomic(times)
      memory.onRead.withLock {
        $0 = { if left.subtract(1, ordering: .relaxed).oldValue > 0 { change() } }
      }
      defer { memory.onRead.withLock { $0 = nil } }
      try body()
    }
    let (loop, agent, key) = (loop, LoopKit.agent(7), key)
    let update: @Sendable () -> Void = {
      let seconds = Int.random(in: 100...1_000_000_000)
      let dataset = LoopKit.dataset(3, seconds: UInt64(seconds))
      guard let summary = DatasetSummary(dataset, key: key) else { return }
      var context = RequestContext(
        Requester(.systemUser(0), team: "root"), reply: .caller, actor: "test")
      context.isAdministrator = true
      _ = try? loop.perform(
        .request(.storeCredentials(agent, summary), context), in: "home", dataset: dataset)
    }
    let remove: @Sendable () -> Void = { _ = try? loop.perform(.remove(agent), in: "home") }
    try store(LoopKit.dataset(3))
    for command in [RequestCommand.listCredentials, .getCredentials] {
      try reading(update, times: 1) {
        let answer = try answered(command) { $0.agent = agent }
        #expect(answer.data?.credentials?.count == 1 && answer.data?.damaged == nil, "\(command)")
        let dataset = answer.data?.credentials?.first?.dataset
        #expect(dataset.flatMap { DatasetSummary($0, key: key) } == home.routers[agent]?.dataset)
      }
    }
    try reading(update, times: 100) {
      let answer = try answered(.listCredentials)
      #expect(answer.data?.credentials == [] && answer.data?.damaged == nil)
    }
    try reading(remove, times: 1) {
      let answer = try answered(.listCredentials)
      #expect(answer.data?.credentials == [] && answer.data?.damaged == nil)
    }
    try store(LoopKit.dataset(3))
    try reading(remove, times: 1) {
      let answer = try answered(.getCredentials) { $0.agent = agent }
      #expect(answer.error?.known == .notFound)
    }
  }

  @Test("Over MQTT credentials are given as they are after the batch")
  func raceInBatch() throws {
    func store(_ seconds: UInt64) -> IncomingMessage {
      request(
        "credentials/store",
        #"{"border_agent_id":"0000000000000009","dataset":"\#(LoopKit.dataset(1, seconds: seconds).hex)"}"#
      )
    }
    try loop.received([store(5)])
    _ = published()
    try loop.received([
      request("credentials/get", #"{"border_agent_id":"0000000000000009"}"#), store(6),
    ])
    #expect(published().compactMap { ThreadAnswer(json: $0.payload)?.status } == [.ok, .ok])
  }

  @Test("Who waits for a question that is over already has its answer at once")
  func tooLate() throws {
    func late(_ decide: (String) throws -> Void) throws -> AnswerFailure? {
      guard case .waiting(let first) = call(.getPreferred) else { return nil }
      let question = try #require(home.questions.last { !$0.isDenied }?.id)
      try decide(question.questionText)
      service.callers.forget(first)
      let place = try service.callers.reserve(
        transaction: nil, isOwnUser: true, isThere: { true })
      defer { service.callers.forget(place) }
      do throws(AnswerFailure) {
        try service.wait(at: place, for: question, in: "home", of: loop)
        return nil
      } catch {
        return error
      }
    }
    let approved = try late { id in _ = try answered(.approveConsent) { $0.id = id } }
    #expect(approved?.known == .conflict)
    let expired = try late { _ in
      time.advance(seconds: 1_000)
      try loop.tick(Link())
    }
    #expect(expired?.known == .consentExpired)
    let denied = try late { id in _ = try answered(.denyConsent) { $0.id = id } }
    #expect(denied?.known == .consentDenied)
  }

  @Test("Callers are asked and woken while the loop is free")
  func callbacks() throws {
    let (loop, calls) = (loop, SharedCount())
    let tick: @Sendable () -> Void = {
      // It would wait for itself for ever.
      try? loop.tick(Link())
      calls.value.add(1, ordering: .relaxed)
    }
    let isThere: @Sendable () -> Bool = {
      calls.value.add(1, ordering: .relaxed)
      _ = loop.batchLimit
      return true
    }
    guard case .waiting(let place) = call(.getPreferred, isThere: isThere, wake: tick) else {
      Issue.record("it does not wait")
      return
    }
    try approve()
    #expect(service.callers.answer(at: place)?.status == .ok)
    #expect(calls.value.load(ordering: .relaxed) > 2)
  }

  @Test("An event is answered where its publisher asks, also that it was rejected")
  func events() throws {
    func publish(_ kind: String, _ number: Int, at topic: String?) throws -> [Publication] {
      try loop.received([LoopKit.message(kind, number, responseTopic: topic)])
      return published()
    }
    let topic = "tk/home/out/otbr/response/event/7"
    let answers = try publish("heartbeat", 1, at: topic) + publish("heartbeat", 9, at: topic)
    #expect(answers.map(\.topic) == [topic, topic])
    #expect(answers.map(\.messageExpiry) == [30, 30])
    let texts = answers.map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(texts.first == #"{"status":"ok","v":1}"#)
    #expect(
      texts.last?.hasPrefix(#"{"error":{"code":"not_found","field":"border_agent_id","#) == true)
    #expect(try publish("heartbeat", 1, at: nil).isEmpty)
    #expect(try publish("heartbeat", 1, at: "tk/home/out/else/response/event/7").isEmpty)
  }

  @Test("What only reads writes nothing, and is answered at once")
  func reads() throws {
    let batches = follower.batches.load(ordering: .relaxed)
    #expect(try answered(.listCredentials).data?.credentials == [])
    let check = try answered(.checkPreferred) { $0.dataset = LoopKit.dataset(1) }
    #expect(check.data?.result == .match)
    #expect(try answered(.ping).data?.version == "1.0")
    #expect(try answered(.listRouters).data?.routers?.count == 1)
    #expect(follower.batches.load(ordering: .relaxed) == batches)
    #expect(published().isEmpty)
  }

  @Test("A store that takes no changes refuses them, and says why on the socket and in the log")
  func readOnly() throws {
    let answer = try memory.failing { try answered(.forgetPreferred) }
    #expect(answer.error?.known == .store)
    #expect(log.levels == [.error])
    #expect(log.lines.first?.contains("command=preferred/forget") == true, "\(log.lines)")
    #expect(home.preferred != nil)
  }

  /// A person is asked about router 2.
  private func startAdoption() throws {
    try loop.received([LoopKit.announce(2, LoopKit.dataset(2), user: "phone")])
    for _ in 0..<31 {
      time.advance(seconds: 1)
      try loop.tick(Link(connection: 1, listeningSince: time.now.adding(seconds: -60)))
    }
  }

  @Test("A router is sent what a person has agreed to, and its home hears when it has arrived")
  func adoption() throws {
    try startAdoption()
    try approve()
    time.advance(seconds: 1)
    try loop.tick(Link(connection: 1, listeningSince: time.now.adding(seconds: -60)))
    let publication = try #require(published().last)
    #expect(publication.topic == "tk/home/out/phone/dataset/set")
    #expect(publication.messageExpiry == 300)
    let envelope = try #require(
      UntrustedJSON.value(of: "sealed", in: publication.payload, depth: 4))
    let opened = try Envelope.open(
      envelope, with: phone, from: [daemon.keys], topic: publication.topic,
      now: time.now.unixSeconds)
    #expect(String(decoding: opened.body, as: UTF8.self).contains(LoopKit.dataset(1).hex))
    let order = service.queue.settled(publication.token, isDelivered: true)
    #expect(order?.message == home.routers[LoopKit.agent(2)]?.adoption?.terms?.message)
  }
}

private final class SharedCount: Sendable { let value = Atomic(0) }
