import Broker
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Requests through the loop") struct RequestServiceTests {
  private let scene: RequestScene
  private var service: RequestService { scene.service }
  private var loop: HomeLoop { scene.kit.loop }

  /// Router 1 is on network 1, which is preferred; `anna` decides.
  init() throws {
    scene = try RequestScene {
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    try scene.kit.receive(.announce(1))
  }

  private func answered() -> [ThreadAnswer] { scene.published().compactMap(\.answer) }

  @Test("A request is answered when it is on disk, on its topic and for thirty seconds") func answers() throws {
    #expect(try scene.ask("ping", #"{"transaction":"r"}"#)?.answer?.data?.version == "1.0")
    #expect(try scene.ask("routers/list")?.answer?.status == .ok)
    #expect(try scene.ask("nothing")?.failure?.known == .unsupported)
    let publication = try #require(try scene.ask("credentials/get", #"{"border_agent_id":"0000000000000001"}"#))
    #expect(publication.topic == "tk/home/out/phone/response/credentials/get")
    #expect(publication.messageExpiry == 30)
    #expect(publication.failure?.known == .notFound)
  }

  @Test("Answers, refusals and what is dropped are counted") func figures() throws {
    try scene.ask("ping")
    try scene.ask("nothing")
    try scene.ask("preferred/available")
    _ = scene.call(.ping)
    _ = scene.call(.getCredentials, { $0.agent = .agent(9) })
    #expect(service.figures == .init(answered: 3, refused: 2, dropped: 0))
    #expect(try scene.ask("preferred/get") == nil)
    #expect(service.figures.answered == 3)
    try scene.approve()
    #expect(service.figures == .init(answered: 5, refused: 2, dropped: 0))
    service.countRefusal()
    #expect(service.figures == .init(answered: 5, refused: 3, dropped: 0))
    for _ in 0..<100 { try scene.kit.receive(RequestScene.message("ping")) }
    #expect(service.figures.answered + service.figures.refused == 108)
    let flood = answered()
    #expect(flood.count < 100)
    #expect(flood.last?.error == .tooManyRequests)
  }

  private func store(at seconds: UInt64 = 1) -> IncomingMessage {
    let hex = OperationalDataset.of(1, at: seconds).hex
    return RequestScene.message("credentials/store", #"{"border_agent_id":"0000000000000009","dataset":"\#(hex)"}"#)
  }

  @Test("What is not on disk is not answered") func failedCommit() throws {
    scene.kit.memory.refuses { try scene.kit.receive(store()) }
    #expect(scene.published().isEmpty)
    #expect(try scene.receive(store())?.answer?.data?.change == .stored)
  }

  @Test("A program waits for a person on its connection, unless it has hung up") func waits() throws {
    let place = try scene.waits(.getPreferred)
    #expect(service.callers.answer(at: place) == nil)
    let pending = try scene.answered(.pendingConsents).data?.pending
    #expect(pending?.first?.transactions == ["t"])
    try scene.approve()
    #expect(scene.published().isEmpty && scene.owed.isEmpty)
    let answer = service.callers.answer(at: place)
    #expect(answer?.data?.credentials?.first?.dataset == .of(1))
    #expect(answer?.transaction == "t")
    #expect(try scene.answered(.getPreferred, isThere: false).error == .nobodyWaits)
    #expect(scene.home.questions.isEmpty)

    service.callers.forget(place)
    service.callers.forget(try scene.waits(.getPreferred))
    try scene.approve()
    #expect(scene.home.decisions.last?.obstacle == .hungUp)
  }

  @Test("What was agreed to and cannot be sent is noted in the audit and the history, by its reason") func notGiven()
    throws
  {
    #expect(try scene.ask("preferred/get", #"{"transaction":"r"}"#) == nil)
    let id = try #require(scene.home.questions.first?.id)
    scene.damage(.of(1))
    try scene.approve()
    #expect(answered().map(\.error?.known) == [.damagedCredentials])
    #expect(scene.audit(.credentialsNotGiven).isEmpty)
    try scene.handleOwed()
    let note = try #require(scene.audit(.credentialsNotGiven).first)
    #expect(note.hasSuffix("to login phone (team phone) by \(id.questionText): what is stored is damaged"), "\(note)")
    #expect(scene.home.decisions.last?.obstacle == .damaged)
  }

  @Test("What a grant would give and does not open is noted in the audit, over MQTT and on the socket")
  func grantNotGiven() throws {
    #expect(try scene.ask("preferred/get") == nil)
    let place = try scene.waits(.getPreferred)
    for question in scene.home.questions { try scene.approve(question.id, .always) }
    service.callers.forget(place)
    scene.damage(.of(1))
    #expect(try scene.ask("preferred/get")?.failure?.known == .damagedCredentials)
    #expect(try scene.answered(.getPreferred).error?.known == .damagedCredentials)
    try scene.handleOwed()
    let notes = scene.audit(.credentialsNotGiven)
    #expect(notes.count == 2)
    for grant in scene.home.grants {
      #expect(notes.contains { $0.contains("by \(grant.id.grantText): what is stored") }, "\(notes)")
    }
    #expect(scene.home.decisions.allSatisfy { $0.obstacle == nil })
  }

  @Test("Nothing is given that took the place of what a person has agreed to in the same batch") func replaced() throws
  {
    #expect(try scene.ask("preferred/get", #"{"transaction":"r"}"#) == nil)
    let id = try #require(scene.home.questions.first?.id.questionText)
    let hex = OperationalDataset.of(2).hex
    try scene.kit.receive(
      RequestScene.message("consent/approve", #"{"id":"\#(id)"}"#, from: "anna"),
      RequestScene.message("preferred/set", #"{"dataset":"\#(hex)"}"#, from: "anna"))
    let answers = answered()
    try scene.handleOwed()
    #expect(scene.home.decisions.last?.obstacle == .changed)
    #expect(scene.home.preferred?.dataset.network == OperationalDataset.of(2).extendedPANID)
    #expect(answers.map(\.status) == [.ok, .error, .ok])
    let refused = try #require(answers.first { $0.transaction == "r" })
    #expect(refused.error?.known == .conflict)
  }

  @Test("An adoption's message is made of the dataset that its order is about, or not at all") func order() throws {
    for (network, count) in [(2, 0), (1, 1)] as [(UInt8, Int)] {
      var outcome = LoopOutcome(home: "home")
      outcome.output.orders = [
        AdoptionOrder(
          agent: .agent(2), user: "phone", message: 7, connection: 1, deadline: scene.now.adding(seconds: 300),
          dataset: try #require(DatasetSummary(.of(network), key: LoopKit.hashKey)))
      ]
      var batch = CommittedBatch(time: scene.now)
      batch.add(outcome)
      let owed = service.answer(batch, of: loop.homes)
      #expect(scene.published().count == count)
      // With what is there then.
      let isDue = owed.contains { if case .deliveriesAreDue = $0.input { true } else { false } }
      #expect(isDue == (count == 0))
    }
  }

  @Test("An adoption whose dataset does not open fails by that reason, and the log names the router")
  func damagedOrder() throws {
    try startAdoption()
    try scene.approve()
    scene.damage(.of(1))
    try scene.tick()
    #expect(scene.kit.router(2)?.adoption?.state == .sent)
    #expect(scene.published().allSatisfy { !$0.topic.contains("dataset/set") })
    try scene.handleOwed()
    #expect(scene.kit.router(2)?.adoption?.state == .damagedCredentials)
    let alert = scene.home.alerts[AlertKey(.adoptionFailed, .router(.agent(2)))]
    #expect(alert?.phase == .firing)
    #expect(scene.home.decisions.last?.obstacle == .damaged)
    #expect(scene.audit(.credentialsNotGiven).count == 1)
    #expect(scene.log.levels == [.error])
    let line = try #require(scene.log.lines.first)
    #expect(line.contains("border_agent_id=\(BorderAgentID.agent(2))") && line.contains("remedy="))
  }

  @Test("What becomes another dataset while it is read is looked at once more, and no damage") func race() throws {
    func store(_ dataset: OperationalDataset) throws {
      let stored = try scene.answered(.storeCredentials) { ($0.agent, $0.dataset) = (.agent(7), dataset) }
      #expect(stored.status == .ok)
    }
    func reading(_ change: @escaping @Sendable () -> Void, times: Int, _ body: () throws -> Void) rethrows {
      let left = Atomic(times)
      scene.kit.memory.reading.withLock {
        $0.begins = { if left.subtract(1, ordering: .relaxed).oldValue > 0 { change() } }
      }
      defer { scene.kit.memory.reading.withLock { $0.begins = {} } }
      try body()
    }
    let (loop, agent, key) = (loop, BorderAgentID.agent(7), LoopKit.hashKey)
    let update: @Sendable () -> Void = {
      let seconds = Int.random(in: 100...1_000_000_000)
      let dataset = OperationalDataset.of(3, at: UInt64(seconds))
      guard let summary = DatasetSummary(dataset, key: key) else { return }
      _ = try? loop.perform(.request(.storeCredentials(agent, summary), .administrator), in: "home", dataset: dataset)
    }
    let remove: @Sendable () -> Void = { _ = try? loop.perform(.remove(agent), in: "home") }
    try store(.of(3))
    for command in [RequestCommand.listCredentials, .getCredentials] {
      try reading(update, times: 1) {
        let answer = try scene.answered(command) { $0.agent = agent }
        #expect(answer.data?.credentials?.count == 1 && answer.data?.damaged == nil, "\(command)")
        let dataset = answer.data?.credentials?.first?.dataset
        #expect(dataset.flatMap { DatasetSummary($0, key: key) } == scene.home.routers[agent]?.dataset)
      }
    }
    try reading(update, times: 100) {
      let answer = try scene.answered(.listCredentials)
      #expect(answer.data?.credentials == [] && answer.data?.damaged == nil)
    }
    try reading(remove, times: 1) {
      let answer = try scene.answered(.listCredentials)
      #expect(answer.data?.credentials == [] && answer.data?.damaged == nil)
    }
    try store(.of(3))
    try reading(remove, times: 1) {
      let answer = try scene.answered(.getCredentials) { $0.agent = agent }
      #expect(answer.error?.known == .notFound)
    }
  }

  @Test("Over MQTT credentials are given as they are after the batch") func raceInBatch() throws {
    #expect(try scene.receive(store(at: 5))?.answer?.status == .ok)
    try scene.kit.receive(
      RequestScene.message("credentials/get", #"{"border_agent_id":"0000000000000009"}"#), store(at: 6))
    #expect(answered().map(\.status) == [.ok, .ok])
  }

  @Test("Who waits for a question that is over already has its answer at once") func tooLate() throws {
    func late(_ decide: (ConsentID) throws -> Void) throws -> AnswerCode? {
      let first = try scene.waits(.getPreferred)
      let question = try #require(scene.home.questions.last { !$0.isDenied }?.id)
      try decide(question)
      service.callers.forget(first)
      let place = try service.callers.reserve(transaction: nil, isOwnUser: true, isThere: { true })
      defer { service.callers.forget(place) }
      do throws(AnswerFailure) {
        try service.wait(at: place, for: question, in: "home", of: loop)
        return nil
      } catch { return error.known }
    }
    #expect(try late { try scene.approve($0) } == .conflict)
    let expired = try late { _ in
      scene.kit.time.advance(seconds: 1_000)
      try loop.tick(Link())
    }
    #expect(expired == .consentExpired)
    let denied = try late { id in try scene.answered(.denyConsent) { $0.id = id.questionText } }
    #expect(denied == .consentDenied)
  }

  @Test("Callers are asked and woken while the loop is free") func callbacks() throws {
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
    let place = try scene.waits(.getPreferred, isThere: isThere, wake: tick)
    try scene.approve()
    #expect(service.callers.answer(at: place)?.status == .ok)
    #expect(calls.value.load(ordering: .relaxed) > 2)
  }

  @Test("An event is answered where its publisher asks, also that it was rejected") func events() throws {
    func publish(_ kind: String, _ number: Int, at topic: String?) throws -> [Publication] {
      try scene.kit.receive(.message(kind, number, responseTopic: topic))
      return scene.published()
    }
    let topic = "tk/home/out/otbr/response/event/7"
    let answers = try publish("heartbeat", 1, at: topic) + publish("heartbeat", 9, at: topic)
    #expect(answers.map(\.topic) == [topic, topic])
    #expect(answers.map(\.messageExpiry) == [30, 30])
    #expect(answers.first?.text == #"{"status":"ok","v":1}"#)
    #expect(answers.last?.text.hasPrefix(#"{"error":{"code":"not_found","field":"border_agent_id","#) == true)
    #expect(try publish("heartbeat", 1, at: nil).isEmpty)
    #expect(try publish("heartbeat", 1, at: "tk/home/out/else/response/event/7").isEmpty)
  }

  @Test("What only reads writes nothing, and is answered at once") func reads() throws {
    func batches() -> Int { scene.kit.follower.batches.withLock { $0.count } }
    let before = batches()
    #expect(try scene.answered(.listCredentials).data?.credentials == [])
    let check = try scene.answered(.checkPreferred) { $0.dataset = .of(1) }
    #expect(check.data?.result == .match)
    #expect(try scene.answered(.ping).data?.version == "1.0")
    #expect(try scene.answered(.listRouters).data?.routers?.count == 1)
    #expect(batches() == before)
    #expect(scene.published().isEmpty)
  }

  @Test("A store that takes no changes refuses them, and says why on the socket and in the log") func readOnly() throws
  {
    let answer = try scene.kit.memory.failing { try scene.answered(.forgetPreferred) }
    #expect(answer.error?.known == .store)
    #expect(scene.log.levels == [.error])
    #expect(scene.log.lines.first?.contains("command=preferred/forget") == true, "\(scene.log.lines)")
    #expect(scene.home.preferred != nil)
  }

  /// A person is asked about router 2.
  private func startAdoption() throws {
    try scene.kit.receive(.announce(2, .of(2), user: "phone"))
    for _ in 0..<31 { try scene.tick() }
  }

  @Test("A router is sent what a person has agreed to, and its home hears when it has arrived") func adoption() throws {
    try startAdoption()
    try scene.approve()
    try scene.tick()
    let publication = try #require(scene.published().last)
    #expect(publication.topic == "tk/home/out/phone/dataset/set" && !publication.retain)
    #expect(publication.contentType == "application/json" && publication.messageExpiry == 300)
    let hex = OperationalDataset.of(1).hex
    let text = publication.text
    #expect(text.hasPrefix(#"{"sealed":{"alg":"#) && text.hasSuffix(#"},"v":1}"#))
    #expect(!text.contains(hex) && scene.owed.isEmpty)

    let order = try #require(service.queue.settled(publication.token, isDelivered: true))
    #expect(order.message == scene.kit.router(2)?.adoption?.terms?.message)
    let id = "a-\(ExtendedPANID(number: order.message))"
    let opened = try scene.opened(publication)
    #expect(opened.order == .identifier(id))
    #expect(opened.body.text == #"{"border_agent_id":"a000000000000002","dataset":"\#(hex)","id":"\#(id)"}"#)
  }

  private func message(to user: ExactName = "hub", seconds: Int = 300, from daemon: Identity?) -> WaitingMessage? {
    let order = AdoptionOrder(
      agent: .number(1), user: user, message: 255, connection: 4, deadline: scene.now.adding(seconds: seconds),
      dataset: DatasetSummary(network: ExtendedPANID(number: 1), name: ""))
    return SealedExchange(daemon).message(order, .of(1), in: ("home", scene.home), base: "tk", now: scene.now)
  }

  @Test(
    "The message of an adoption lives as long as the wait, at most as long as an envelope may",
    arguments: [(300, 300), (3_600, 300), (20, 20), (0, 1), (-9, 1)]) func lifetime(_ left: Int, _ seconds: Int)
  {
    let message = message(seconds: left, from: scene.daemon)
    #expect(message?.expires == scene.now.adding(seconds: seconds))
    #expect(message?.order == .init(home: "home", message: 255, connection: 4))
  }

  @Test("What a store has kept is deleted there after a yes, and its credentials stay here") func leftover() throws {
    let dataset = OperationalDataset.of(3)
    try scene.handle(.sightings(Sightings([])))
    try scene.kit.receive(.of("tk/home/in/hub/credentials", #"{"dataset":"\#(dataset.hex)","writes":true}"#))
    scene.kit.time.advance(seconds: Leftover.age)
    try scene.tick()
    #expect(scene.home.questions.map(\.subject.command) == [.deleteThere])
    _ = scene.published()
    try scene.approve()
    let publication = try #require(scene.published().last)
    #expect(publication.topic == "tk/home/out/hub/dataset/change" && !publication.text.contains("0303"))
    #expect(try scene.opened(publication, for: "hub").body.text.contains(#""delete":true"#))
    // Of somebody else it means nothing.
    for user in ["phone", "hub"] {
      #expect(scene.home.shared.count == 1)
      try scene.kit.receive(.of("tk/home/in/\(user)/leave", #"{"ext_pan_id":"0303030303030303"}"#))
    }
    #expect(scene.home.shared.isEmpty && scene.kit.rejected.isEmpty)
    let former = try #require(scene.home.former.first)
    #expect(try scene.kit.dataset(.former(former.id)) == dataset)
  }

  @Test("A change of a store is sealed to its login, and lives for half a minute") func storeChange() throws {
    func message(_ change: StoreOrder.Change, to user: ExactName = "hub") -> WaitingMessage? {
      let order = StoreOrder(user: user, consent: ConsentID(255), network: ExtendedPANID(number: 7), change: change)
      return SealedExchange(scene.daemon).message(order, in: scene.home, base: "tk", now: scene.now)
    }
    #expect(message(.delete, to: "nobody") == nil)
    let agent = BorderAgentID(high: 1, low: 2)
    for (change, fields) in [
      (.delete, #""delete":true,"ext_pan_id":"0000000000000007","id":"c-00000000000000ff""#),
      (
        .name(agent, extendedAddress: 9),
        #""border_agent_id":"\#(agent)","ext_address":"0000000000000009","ext_pan_id":"0000000000000007","#
          + #""id":"c-00000000000000ff""#
      ),
    ] as [(StoreOrder.Change, String)] {
      let message = try #require(message(change))
      #expect(message.expires == scene.now.adding(seconds: 30) && message.order == nil)
      #expect(message.publication.topic == "tk/out/hub/dataset/change" && !message.publication.retain)
      let opened = try scene.opened(message.publication, for: "hub")
      #expect(opened.order == .identifier("c-00000000000000ff") && opened.body.text == "{\(fields)}")
    }
  }

  @Test("Nothing is sent to who is not enrolled any more, nor without the daemon's keys") func noKey() throws {
    #expect(message(to: "nobody", from: scene.daemon) == nil)
    #expect(message(from: nil) == nil)
    try scene.handle(.revoke("hub", forgets: false, by: .commandLine(user: 0)))
    #expect(message(from: scene.daemon) == nil)
  }
}

private final class SharedCount: Sendable { let value = Atomic(0) }
