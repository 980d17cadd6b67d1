import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

/// What a test commits, and the lines that follow.
private struct NewsScene {
  let log = RecordingLog()
  private(set) var recent = RecentEvents()
  let news: NewsLog
  var scene = PublishingScene()
  let isOnlyHome: Bool

  init(isOnlyHome: Bool = true) {
    self.isOnlyHome = isOnlyHome
    news = NewsLog(ways: .init(isOnlyHome: isOnlyHome), logger: log.logger)
  }

  /// A batch of what happens in `body`.
  ///
  /// - Parameter received: messages that it is about.
  mutating func commit(received: Int = 0, _ body: (inout PublishingScene) -> Void) {
    scene.output = HomeOutput()
    body(&scene)
    commit(received: received, scene.output.events)
  }

  mutating func commit(received: Int = 0, _ events: [HomeEvent]) {
    var batch = CommittedBatch(time: scene.now)
    var outcome = LoopOutcome(home: "home")
    outcome.output.events = events
    batch.received = received
    batch.add(outcome)
    batch.news = news.news(of: batch) { [home = scene.home] in $0 == "home" ? home : nil }
    recent.add(batch.news.events(at: scene.now))
    news.note(batch)
  }

  func reject(_ codes: [Rejection.Code], dropped: Int = 0) {
    var batch = CommittedBatch(time: scene.now)
    batch.dropped = dropped
    for code in codes {
      var outcome = LoopOutcome(
        home: "home", origin: MessageOrigin(topic: "tk/in/otbr/" + String(repeating: "a", count: 500)))
      outcome.rejection = Rejection(code, message: "what to do")
      batch.add(outcome)
    }
    news.note(batch)
  }
}

@Suite("Lines of the log about what happens") struct NewsLogTests {
  @Test("Who offers credentials asks for none, in what is said of the question and its end") func offered() throws {
    var scene = NewsScene()
    scene.commit { $0.prefer(seen: 7) }
    scene.commit { $0.share(.of(7)) }
    let question = try #require(scene.scene.home.questions.first)
    scene.commit { $0.decide(.deny(question.id)) }
    let sentences = scene.recent.newest.map(\.text)
    #expect(
      sentences.contains("login ha (team ha) has the credentials of net-7: a person is asked whether they are used"))
    #expect(
      sentences.contains(
        "The question about the credentials of net-7 that login ha (team ha) has was denied by the " + "status page"),
      "\(sentences)")
    #expect(scene.log.lines.contains { $0.contains("threadkeeper consent approve c-") })
  }

  private static func router(_ number: UInt64) -> HomeEvent {
    var event = RouterEvent(.announced, .number(number))
    event.routerName = "router \(number)"
    return .router(event)
  }

  private static let warning = HomeEvent.alert(
    AlertKey(.borderRouterOffline, .router(.number(1))),
    Alert.began(AlertFacts(.offline(.frozen)), hold: 0, at: .init(milliseconds: 0)).0, .raised, previousSeverity: nil)

  private static func critical() -> HomeEvent {
    .alert(
      AlertKey(.sessionTakenOver), Alert.began(.sessionTakenOver("taken"), hold: 0, at: .init(milliseconds: 0)).0,
      .raised, previousSeverity: nil)
  }

  @Test("A router and its network have names and ids in a line, and a reason where there is one") func routers() {
    var scene = NewsScene()
    scene.commit { $0.publish(.announce, 1, .of(7)) { $0.name = "Attic" } }
    #expect(
      scene.log.lines.first == "border router announced border_agent_id=0000000000000001 ext_pan_id=0000000000000007 "
        + "network_name=net-7 router_name=Attic")
    #expect(scene.log.levels.allSatisfy { $0 == .info })
    var event = RouterEvent(.datasetIgnored)
    event.isConflict = true
    scene.commit([.router(event)])
    #expect(scene.log.lines.last == "dataset ignored reason=conflict")
    event = RouterEvent(.left)
    event.isRemoved = true
    scene.commit([.router(event)])
    #expect(scene.log.lines.last == "border router left reason=removed")
  }

  @Test("Routers that are forgotten are one line for a batch; credentials not given name the router") func others() {
    var scene = NewsScene()
    let agent = BorderAgentID.number(1)
    scene.scene.publish(.announce, 1) { $0.name = "Attic" }
    scene.commit([.forgotten(agent), .adoptionChanged(agent), .forgotten(agent)])
    #expect(
      scene.log.lines == [
        "the preferred credentials are not given: what was asked for has changed "
          + "border_agent_id=\(agent) router_name=Attic", "border routers that left are forgotten count=2",
      ])
    #expect(scene.log.levels == [.notice, .info])
  }

  @Test("Ten lines in ten seconds about each matter, and then how many there were more") func pace() {
    var pace = Noticed<BatchNews.Matter>()
    func take(_ wanted: Int, _ matter: BatchNews.Matter, at seconds: Int64) -> [Int] {
      let (lines, count) = pace.take(
        wanted, of: matter, counting: wanted, atMost: matter.lines, at: WireTime(milliseconds: seconds * 1_000))
      return [lines, count - lines]
    }
    #expect(take(6, .routers, at: 0) == [6, 0])
    #expect(take(6, .routers, at: 1) == [4, 2])
    #expect(take(6, .routers, at: 2) == [0, 0])
    #expect(take(3, .alerts, at: 2) == [3, 0])
    #expect(take(1, .routers, at: 10) == [1, 6])
    #expect(take(1, .routers, at: -5_000) == [1, 0])
  }

  @Test("A batch has a bounded number of lines, and says how many it has left out") func bounded() {
    var scene = NewsScene()
    scene.commit((0..<30).map { Self.router($0) })
    #expect(scene.log.lines.count { $0.hasPrefix("border router announced") } == 10)
    #expect(scene.log.lines.last == "and more like this count=20")
    #expect(scene.recent.newest.count == 10)
  }

  @Test("A flood of messages does not take the lines of what a person or the clock does") func paced() {
    var scene = NewsScene()
    for _ in 0..<5 { scene.commit(received: 10, (0..<10).map { Self.router($0) }) }
    #expect(scene.log.lines.count == 10)
    scene.commit(received: 1, [Self.warning])
    #expect(scene.log.levels.last == .warning)
    for _ in 0..<20 { scene.commit(received: 1, [Self.critical()]) }
    #expect(scene.log.levels.count { $0 == .critical } == 20)
    scene.commit([Self.router(99)])
    #expect(scene.log.lines.last?.contains("router_name=router 99") == true)
  }

  @Test("A question is in the log, however many routers the batch has, and holds no secret") func question() throws {
    var scene = NewsScene(isOnlyHome: false)
    scene.scene.publish(.announce, 1, .of(7))
    scene.scene.enroll("phone")
    scene.scene.ask()
    let asked = try #require(
      scene.scene.output.events.compactMap { if case .asked(let one) = $0 { one } else { nil } }.first)
    scene.commit(received: 21, (0..<20).map { Self.router($0) } + [.asked(asked)])
    let line = try #require(scene.log.lines.first { $0.hasPrefix("consent is asked for") })
    let id = asked.id.questionText
    #expect(line.contains("requester=login phone (team phone)"))
    #expect(line.contains("network=\"net-7\" (0000000000000007)"))
    #expect(line.contains(", home home: with it"))
    #expect(line.contains("approve=threadkeeper consent approve \(id)"))
    #expect(line.contains("deny=threadkeeper consent deny \(id)"))
    #expect(line.contains("command=preferred/get"))
    #expect(scene.recent.newest.first?.text == "login phone (team phone) asks for the credentials of net-7")
  }

  @Test(
    "What became of a question is a notice, and a sentence",
    arguments: [
      (ConsentRecord.Outcome.approved, "was approved by uid 0 (command line)"),
      (.denied, "was denied by uid 0 (command line)"), (.expired, "expired: nobody decided"),
    ]) func decided(outcome: ConsentRecord.Outcome, words: String)
  {
    var scene = NewsScene()
    let now = scene.scene.now
    var record = ConsentRecord(
      id: ConsentID(0xAB), outcome: outcome, requester: Requester(.login("phone"), team: "phone"),
      subject: ConsentSubject(.preferred, [ConsentNetwork(.of(7), of: nil)]), createdAt: now, decidedAt: now,
      by: outcome == .expired ? nil : .commandLine(user: 0), scope: outcome == .approved ? .always : nil, grant: nil)
    scene.commit([.decided(record)])
    let (line, level) = (scene.log.lines[0], scene.log.levels[0])
    #expect(line.hasPrefix("consent \(outcome.wireName) "))
    #expect(line.contains("id=c-00000000000000ab") && level == .notice)
    #expect(line.contains("scope=always") == (outcome == .approved))
    #expect(line.contains("by=uid 0 (command line)") == (outcome != .expired))
    #expect(
      scene.recent.newest[0].text == "The request of login phone (team phone) for the credentials of net-7 \(words)")
    record.obstacle = .hungUp
    scene.commit([.notGiven(record)])
    #expect(
      scene.log.lines[1] == "nothing is given: who asked has hung up id=c-00000000000000ab "
        + "requester=login phone (team phone)")
  }

  @Test("A line about rejected messages counts all of a code, with one as an example") func rejections() {
    let scene = NewsScene()
    scene.reject([.badDataset, .badDataset, .retained], dropped: 3)
    let topic = "tk/in/otbr/" + String(repeating: "a", count: 189)
    #expect(
      scene.log.lines == [
        "messages rejected code=bad_dataset count=2 reason=what to do topic=\(topic)",
        "messages rejected code=rate_limited count=3 "
          + "reason=a user publishes more than `limits.events_per_second` allows",
      ])
    #expect(scene.log.levels == [.warning, .warning])
    scene.reject([.badDataset])
    #expect(scene.log.lines.count == 2)
    scene.news.logRejections(at: scene.scene.now.adding(seconds: 10))
    #expect(scene.log.lines.last?.contains("count=1") == true && scene.log.lines.count == 3)
  }
}

@Suite("What is noticed, said once and counted") struct NoticedTests {
  private let now = WireTime(milliseconds: 1_000_000_000)

  @Test("One line of a matter in ten seconds counts all, also after the clock was set back") func lines() {
    var lines = Noticed<String>()
    func take(_ count: Int, of matter: String = "a", after seconds: Int = 0) -> Int {
      lines.take(1, of: matter, counting: count, at: now.adding(seconds: seconds)).count
    }
    #expect(take(0) == 0)
    #expect(take(1) == 1)
    #expect(take(2, after: 9) == 0)
    #expect(take(7, of: "b", after: 9) == 7)
    #expect(take(3, after: 10) == 5)
    #expect(take(4, after: 19) == 0)
    // Due without anything new.
    #expect(take(0, after: 20) == 4)
    #expect(take(0, after: 40) == 0)
    #expect(take(1, after: 41) == 1)
    #expect(take(5, after: -900) == 5)
    #expect(take(1, after: -899) == 0)
  }

  @Test("What stays as it is is said once, until it was over") func untilOver() {
    var noticed = Noticed<String>()
    #expect(noticed.begins("a") && !noticed.begins("a") && noticed.begins("b"))
    #expect(noticed.end { $0 == "a" } == 2)
    #expect(noticed.end { $0 == "a" } == 0)
    #expect(noticed.begins("a") && !noticed.begins("b"))
  }

  @Test("Without a line to write, what has happened waits for the next one") func waiting() {
    var lines = Noticed<String>()
    #expect(lines.take(0, of: "a", counting: 3, atMost: 2, at: now) == (0, 0))
    #expect(lines.take(1, of: "a", counting: 1, atMost: 2, at: now) == (1, 4))
    #expect(lines.take(5, of: "a", counting: 5, atMost: 2, at: now) == (1, 5))
    #expect(lines.take(5, of: "a", counting: 5, atMost: 2, at: now) == (0, 0))
  }
}
