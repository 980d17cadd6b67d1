// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("States as JSON")
struct StateWriterTests {
  private let writer = StateWriter(home: "ho\"me", isOnlyHome: true)

  @Test("A router's state is what the encoder makes of the same values")
  func routers() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2_000 {
      let agent = BorderAgentID(
        high: random.next(), low: random.maybe(random.next()) ?? 0)
      var router = Router(agent, at: random.time())
      router.user = random.maybe(ExactName(random.text()))
      router.name = random.maybe(random.text())
      router.vendor = random.maybe(random.text())
      router.model = random.maybe(random.text())
      router.extendedAddress = random.maybe(random.next())
      router.accessPoint = random.maybe(random.text())
      router.ssid = random.maybe(random.text())
      router.dataset = random.maybe(
        .of(
          random.next(), at: random.next() >> 16,
          channel: UInt32.random(in: 11...0x20011, using: &random),
          name: "n" + random.text()))
      router.credential = random.pick(CredentialState.allCases)
      router.datasetChangedAt = random.maybe(random.time())
      router.currentNetwork = random.maybe(ExtendedPANID(number: random.next()))
      router.threadState = random.maybe(random.pick(ThreadState.allCases))
      router.threadStateSince = random.maybe(random.time())
      router.isOnline = Bool.random(using: &random)
      router.offlineReason = random.maybe(random.pick(OfflineReason.allCases))
      router.source = random.pick([.mqtt, .mdns])
      router.partition = random.maybe(UInt32.random(in: 0...UInt32.max, using: &random))
      router.threadVersion = random.maybe(random.text())
      router.adoption = random.maybe(Adoption(random.pick(AdoptionState.allCases)))
      if router.source == .mdns {
        router.advertised = random.maybe(
          Router.Advertised(
            network: ExtendedPANID(number: random.next()), networkName: random.maybe("x"),
            activeSeconds: random.maybe(random.next())))
      }
      let check: PreferredCheck = random.pick([
        .none, .match, .mismatch(.channel), .stale([]), .conflict(.pskc),
      ])
      let state = RouterState(router, check, in: "ho\"me")
      #expect(writer.router(router, check).text == WireJSON().encode(state).text)
    }
  }

  @Test("Times are those of the C library, before 1970 and far ahead, too")
  func times() {
    var random = SeededGenerator(seed: 2)
    let edges: [Int64] = [
      0, -1, -1_000, -86_400_000, 951_782_400_000, 951_868_800_000, 4_107_542_399_999,
      1_709_164_800_000,
    ]
    let all = edges.map(WireTime.init(milliseconds:)) + (0..<5_000).map { _ in random.time() }
    for time in all {
      var json = JSONBytes()
      json.time(time)
      #expect(json.bytes.text == time.description)
    }
  }

  @Test("A network's state is what the encoder makes of the same values")
  func networks() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      var view = NetworkView(id: ExtendedPANID(number: random.next()))
      view.name = random.text()
      view.dataset = random.maybe(.of(random.next(), at: random.next() >> 16))
      view.routers = Int.random(in: 0...100_000, using: &random)
      view.online = Int.random(in: 0...10, using: &random)
      view.isPreferred = Bool.random(using: &random)
      view.isAccepted = Bool.random(using: &random)
      view.sharedBy = (0..<Int.random(in: 0...2, using: &random)).map { _ in
        ExactName(random.text())
      }
      let state = NetworkState(view, in: "ho\"me")
      #expect(writer.network(view).text == WireJSON().encode(state).text)
    }
  }

  /// As `Broker` has it, with the sentences of the same facts.
  private func state(_ key: AlertKey, _ alert: Alert) throws -> AlertState {
    let sentences = AlertText(alert.facts, homeOption: "")
    var facts = AlertWords(summary: sentences.summary, remedy: sentences.remedy)
    facts.router = alert.facts.router?.description
    facts.routerName = alert.facts.routerName
    facts.extendedPANID = alert.facts.network?.id.description
    facts.networkName = alert.facts.network.flatMap { $0.name.isEmpty ? nil : $0.name }
    facts.preferredExtendedPANID = alert.facts.preferred?.id.description
    facts.preferredNetworkName = alert.facts.preferred.flatMap { $0.name.isEmpty ? nil : $0.name }
    facts.user = alert.facts.user?.text
    facts.differs = alert.facts.differs?.parameters.map(\.rawValue)
    facts.reason = alert.facts.reason?.description
    facts.trigger = alert.facts.trigger?.word.description
    return AlertState(
      fingerprint: AlertFingerprint(home: "ho\"me", name: key.name, subject: key.subject.text)
        .description, name: key.name, status: alert.phase == .firing ? .firing : .resolved,
      severity: key.severity(alert.facts),
      home: "ho\"me", facts: facts, startsAt: alert.startsAt ?? alert.heldSince,
      updatedAt: alert.updatedAt, endsAt: alert.endsAt,
      sequence: Int64(alert.sequence))
  }

  private func facts(_ message: AlertFacts.Message, _ random: inout SeededGenerator) -> AlertFacts {
    var facts = AlertFacts(message)
    facts.router = random.maybe(BorderAgentID(high: random.next(), low: 0))
    facts.routerName = random.maybe(random.text())
    facts.network = random.maybe(.init(ExtendedPANID(number: random.next()), random.text()))
    facts.preferred = random.maybe(.init(ExtendedPANID(number: random.next()), random.text()))
    facts.user = random.maybe(ExactName(random.text()))
    facts.differs = random.maybe(DatasetDifferences(rawValue: UInt16(random.next() & 0x1FF)))
    facts.trigger = random.maybe(random.pick([.announce, .ssidChanged, .mdns, .preferredChanged]))
    return facts
  }

  @Test("Alerts, their events and their overview are what the encoder makes of the same values")
  func alerts() throws {
    var random = SeededGenerator(seed: 4)
    let messages: [(AlertName, AlertFacts.Message)] = [
      (.preferredNetworkMismatch, .neverMember), (.datasetConflict, .sameAge),
      (.borderRouterOffline, .offline(.frozen)),
      (.adoptionFailed, .adoptionFailed(.denied, isConfiguredForPreferred: false)),
      (
        .noPreferredNetwork,
        .noPreferred(
          isForgotten: false, networks: [1, 2].map { .init(ExtendedPANID(number: $0), "net") },
          more: 0)
      ),
      (.plaintextCredentials, .plaintext), (.routerDetached, .detached), (.sessionLost, .daemon),
    ]
    var all: [AlertKey: Alert] = [:]
    for index in 0..<200 {
      let (name, message) = random.pick(messages)
      let facts = facts(message, &random)
      let key = AlertKey(
        name,
        random.pick([
          .home, .user(ExactName(random.text())),
          .router(BorderAgentID(high: UInt64(index), low: 0)), .network(ExtendedPANID(number: 7)),
        ]))
      var alert = Alert(
        phase: random.pick([.firing, .resolved]), facts: facts, heldSince: random.time(),
        updatedAt: WireTime(milliseconds: Int64(index) * 1_000))
      alert.startsAt = random.maybe(random.time())
      alert.endsAt = random.maybe(random.time())
      alert.sequence = UInt32(index)
      all[key] = alert
      var expected = try state(key, alert)
      #expect(writer.alert(key, alert).text == WireJSON().encode(expected).text)
      expected.eventType = "alert_updated"
      expected.previousSeverity = .critical
      let news = StateWriter.AlertNews(type: .updated, previousSeverity: .critical)
      #expect(writer.alert(key, alert, news: news).text == WireJSON().encode(expected).text)
    }
    let firing = all.filter { $0.value.phase == .firing }
    func count(_ severity: AlertSeverity) -> Int {
      firing.count { $0.key.severity($0.value.facts) == severity }
    }
    let newest = firing.sorted { $0.value.updatedAt > $1.value.updatedAt }.prefix(20)
    let overview = AlertsOverview(
      active: firing.count, critical: count(.critical), warning: count(.warning),
      info: count(.info), alerts: try newest.map { try state($0.key, $0.value) })
    #expect(writer.overview(all).text == WireJSON().encode(overview).text)
  }

  @Test("The list of questions is what the encoder makes of the same values")
  func questions() throws {
    var random = SeededGenerator(seed: 5)
    #expect(writer.consent([], asked: []).text == #"{"pending":0,"v":1}"#)
    for _ in 0..<100 {
      var requester = Requester(.login(ExactName(random.text())), team: "t")
      requester.fingerprint = random.maybe(random.text())
      let networks = (0..<Int.random(in: 1...2, using: &random)).map {
        ConsentNetwork(
          id: ExtendedPANID(number: UInt64($0)), name: ExactName(random.text()), team: nil,
          key: nil)
      }
      let router = random.maybe(
        ConsentSubject.Router(
          agent: BorderAgentID(high: 1, low: 2), name: random.maybe(random.text()),
          network: .init(ExtendedPANID(number: 9), "old")))
      let question = ConsentQuestion(
        id: ConsentID(random.next()), requester: requester,
        subject: ConsentSubject(router == nil ? .nearby : .adopt, networks, router: router),
        createdAt: random.time(), expiresAt: random.time(), replies: [], keyHasChanged: false)
      let head = ConsentOverview.Head(
        id: question.id.questionText, requester: requester.shown,
        fingerprint: requester.fingerprint, command: question.subject.command.wireName,
        networkName: question.subject.names,
        extendedPANID: question.subject.onlyNetwork?.description,
        expiresAt: question.expiresAt, borderAgentID: router?.agent.description)
      let asked = random.maybe(
        ConsentOverview.Asked(
          id: question.id.questionText, message: question.reason(home: nil),
          expiresAt: question.expiresAt, token: "abc"))
      let overview = ConsentOverview(
        pending: 1, head: head, homeAssistant: [asked].compactMap(\.self))
      let written = writer.consent(
        [question], asked: asked == nil ? [] : [.init(question: question, token: "abc")])
      #expect(written.text == WireJSON().encode(overview).text)
    }
  }

  @Test(
    "What is said of the daemon is what the encoder makes of the same values",
    arguments: [true, false])
  func daemon(isFull: Bool) {
    var own = HomeSettings()
    own.onMismatch = isFull ? .adopt : .alert
    var settings = PublisherSettings(BaseTopics([]))
    (settings.version, settings.instanceID) = ("1.2", "0a")
    if isFull { settings.identity = { ("tk1:x", "0123") } }
    let expected = BridgeInfo(
      version: "1.2", instanceID: "0a", home: "ho\"me",
      preferredNetwork: isFull
        ? .init(networkName: "net-1", extendedPANID: "0000000000000001") : nil,
      routers: 3, networks: 2, alertsHold: 30, onMismatch: isFull ? "adopt" : "alert",
      offlineAfter: 300, enrolmentLine: isFull ? "tk1:x" : nil, fingerprint: isFull ? "0123" : nil)
    let written = writer.info(
      settings, own, preferred: isFull ? .of(1) : nil, routers: 3, networks: 2)
    #expect(written.text == WireJSON().encode(expected).text)
    #expect(StateWriter.online == WireJSON().encode(BridgeState.online))
    #expect(StateWriter.offline == WireJSON().encode(BridgeState.offline))
    #expect(StateWriter.stopped == WireJSON().encode(BridgeState.stopped))
  }
}
