import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// What happened in one home: as rows of the store, because nothing else has it, and then as messages: `bridge/event`,
/// `bridge/event/alert`, `router/<id>/event`. Those are made when they are published.
package struct EventWriter: Sendable {
  /// A stored row is full at so many events: a change of the preferred network can raise an alert of each router.
  private static let rowEvents = 100

  private let home: String
  private let base: [UInt8]
  private let eventTopic: String
  private let ways: RemedyWays

  package init(home: String, base: String, ways: RemedyWays) {
    self.home = home
    self.base = Array(base.utf8)
    eventTopic = "\(base)/bridge/event"
    self.ways = ways
  }

  /// What is stored of an output of a home: mostly no row or one.
  package func rows(of output: HomeOutput, at now: WireTime) -> [[UInt8]] {
    func row(_ events: [HomeEvent]) -> [UInt8] { OutboxRow.events(StoredEvents(events, in: home, at: now)).bytes }
    let events = output.events
    if events.count <= Self.rowEvents, events.allSatisfy(\.isPublished) { return events.isEmpty ? [] : [row(events)] }
    let published = events.filter(\.isPublished)
    return stride(from: 0, to: published.count, by: Self.rowEvents).map { start in
      row(Array(published[start..<min(start + Self.rowEvents, published.count)]))
    }
  }

  /// That a message was not acted upon.
  ///
  /// - Parameters:
  ///   - topic: as it is to be named.
  ///   - user: where the topic names one.
  ///   - agent: the router that it is about, where that could be read.
  package func row(_ rejection: Rejection, topic: String, user: String?, agent: BorderAgentID?, at now: WireTime)
    -> [UInt8]
  {
    var event = OutboundEvent(.messageRejected, at: now)
    event.agent = agent
    event.user = user.map { ExactName($0) }
    event.topic = topic
    event.rejection = rejection
    return OutboxRow.message(topic: eventTopic, payload: event.json(capacity: 384)).bytes
  }

  /// The rows that an input causes: that it was rejected, or what has happened.
  package func rows(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] {
    var rows = self.rows(of: outcome.output, at: now)
    if let rejection = outcome.rejection, let origin = outcome.origin {
      rows.insert(row(rejection, topic: origin.topic, user: origin.user, agent: outcome.router, at: now), at: 0)
    }
    return rows
  }

  /// Appends the messages of stored events of this home, in order.
  func append(_ stored: StoredEvents, to publications: inout [Publication]) {
    for event in stored.events { append(event, stored.time, to: &publications) }
  }

  private func append(_ event: HomeEvent, _ now: WireTime, to publications: inout [Publication]) {
    switch event {
    case .router(let event): append(event, now, to: &publications)
    case .alert(let key, let alert, let news, let severity):
      let state = AlertState(key, alert, in: self.home, ways: ways, news: (news, severity))
      publications.append(Publication(topic: "\(eventTopic)/alert", payload: state.json(capacity: 1_536)))
    case .asked(let question):
      var event = OutboundEvent(.consentRequested, at: now)
      event.fill(question.id, question.requester, question.subject)
      event.message = question.reason(home: ways.isOnlyHome ? nil : self.home)
      event.expiresAt = question.expiresAt
      append(event, event.agent.map(topic(of:)), to: &publications)
    case .decided(let record):
      let kind: OutboundEventKind
      switch record.outcome {
      case .approved: kind = .consentApproved
      case .denied: kind = .consentDenied
      case .expired: kind = .consentExpired
      case .revoked: return
      }
      var event = OutboundEvent(kind, at: now)
      event.fill(record.id, record.requester, record.subject)
      event.scope = record.scope.map { $0 == .once ? .once : .always }
      event.decidedBy = record.by?.shown
      append(event, event.agent.map(topic(of:)), to: &publications)
    case .notGiven, .adoptionChanged, .forgotten: break
    }
  }

  /// In the order in which they are published.
  private static let kinds: [(RouterEvent.Types, OutboundEventKind)] = [
    (.discovered, .routerDiscovered), (.announced, .routerAnnounced), (.online, .routerOnline),
    (.datasetStored, .datasetStored), (.datasetUpdated, .datasetUpdated), (.datasetIgnored, .datasetIgnored),
    (.preferredChanged, .preferredChanged), (.ssidChanged, .ssidChanged), (.left, .routerLeft),
    (.datasetSent, .datasetSent),
  ]

  private func append(_ event: RouterEvent, _ now: WireTime, to publications: inout [Publication]) {
    var message = OutboundEvent(.routerAnnounced, at: now)
    message.agent = event.router
    message.network = event.network?.id
    message.networkName = event.network?.name.filled
    message.user = event.user
    message.differs = event.differs
    message.previousNetwork = event.previousNetwork
    message.ssid = event.ssid
    message.previousSSID = event.previousSSID
    message.preferred = event.check
    message.reason = event.reason
    if event.isLastOfPreferred {
      message.message = "the last border router of the preferred network left; it stays preferred"
    } else if event.types == .online, event.router != nil {
      message.message = event.onlineSentence
    }
    if let id = event.consent { message.id = event.isByGrant ? id.grantText : id.questionText }
    let topic = event.router.map { self.topic(of: $0) }
    for (type, kind) in Self.kinds where event.types.contains(type) {
      message.kind = kind
      append(message, topic, to: &publications)
    }
  }

  private func topic(of agent: BorderAgentID) -> String { routerTopic(base, "/router/", agent, "/event") }

  /// - Parameter topic: of the router that it is about.
  private func append(_ event: OutboundEvent, _ topic: String?, to publications: inout [Publication]) {
    let payload = event.json(capacity: 384)
    publications.append(Publication(topic: eventTopic, payload: payload))
    if let topic { publications.append(Publication(topic: topic, payload: payload)) }
  }
}

extension RouterEvent {
  /// In a sentence.
  var shownRouter: String {
    router.map { ShownName.named(routerName, $0, needsID: routerNeedsID) } ?? "A border router"
  }

  /// That it is online again; of one that had no network before, on which it is.
  var onlineSentence: String {
    let first = isFirstNetwork ? network : nil
    return first.map { "\(shownRouter) is on \($0.shown) now" } ?? "\(shownRouter) is back"
  }
}

extension OutboundEvent {
  fileprivate mutating func fill(_ id: ConsentID, _ requester: Requester, _ subject: ConsentSubject) {
    network = subject.onlyNetwork
    agent = subject.router?.agent
    if case .login(let name) = requester.identity { user = name }
    self.id = id.questionText
    self.requester = requester.shown
    fingerprint = requester.fingerprint
    command = subject.command
    networkName = subject.names
  }
}

extension HomeEvent {
  /// Others are for the log.
  fileprivate var isPublished: Bool {
    switch self {
    case .router, .alert, .asked: true
    case .decided(let record): record.outcome != .revoked
    case .notGiven, .adoptionChanged, .forgotten: false
    }
  }
}
