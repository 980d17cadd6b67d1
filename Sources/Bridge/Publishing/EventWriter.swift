import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// What happened in one home, as finished messages: `bridge/event`, `bridge/event/alert`, `router/<id>/event`. They are
/// stored before they are published, because nothing else has them.
package struct EventWriter: Sendable {
  /// A stored row is full at so many bytes: a change of the preferred network can raise an alert of each router.
  private static let rowBytes = 65_536

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

  /// The messages that an output of a home causes, as rows for the store: mostly none or one.
  ///
  /// - Parameter home: after the input.
  package func messages(for output: HomeOutput, of home: Home, at now: WireTime) -> [[UInt8]] {
    guard !output.events.isEmpty else { return [] }
    var rows: [[UInt8]] = []
    var row = OutboxRow()
    for event in output.events {
      append(event, home, now, to: &row)
      if row.bytes.count >= Self.rowBytes {
        rows.append(row.bytes)
        row = OutboxRow()
      }
    }
    if !row.bytes.isEmpty { rows.append(row.bytes) }
    return rows
  }

  /// That a message was not acted upon.
  ///
  /// - Parameters:
  ///   - topic: as it is to be named.
  ///   - user: where the topic names one.
  ///   - agent: the router that it is about, where that could be read.
  package func message(_ rejection: Rejection, topic: String, user: String?, agent: BorderAgentID?, at now: WireTime)
    -> [UInt8]
  {
    var event = OutboundEvent(.messageRejected, at: now)
    event.agent = agent
    event.user = user.map { ExactName($0) }
    event.topic = topic
    event.rejection = rejection
    var row = OutboxRow()
    row.append(eventTopic, event.json(capacity: 384))
    return row.bytes
  }

  private func append(_ event: HomeEvent, _ home: Home, _ now: WireTime, to row: inout OutboxRow) {
    switch event {
    case .router(let event): append(event, home, now, to: &row)
    case .alert(let key, let alert, let news, let severity):
      let state = AlertState(key, alert, in: self.home, ways: ways, news: (news, severity))
      row.append("\(eventTopic)/alert", state.json(capacity: 1_536))
    case .asked(let question):
      var event = OutboundEvent(.consentRequested, at: now)
      event.fill(question.id, question.requester, question.subject)
      event.message = question.reason(home: ways.isOnlyHome ? nil : self.home)
      event.expiresAt = question.expiresAt
      append(event, to: &row)
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
      append(event, to: &row)
    // For the log.
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

  private func append(_ event: RouterEvent, _ home: Home, _ now: WireTime, to row: inout OutboxRow) {
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
    if let id = event.consent {
      // An earlier "always" has an id of its own.
      message.id = home.grants.contains { $0.id == id } ? id.grantText : id.questionText
    }
    for (type, kind) in Self.kinds where event.types.contains(type) {
      message.kind = kind
      append(message, to: &row)
    }
  }

  private func append(_ event: OutboundEvent, to row: inout OutboxRow) {
    row.append(eventTopic, event.json(capacity: 384))
    if let agent = event.agent { row.appendAgain(routerTopic(base, "/router/", agent, "/event")) }
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

extension EventWriter {
  /// The messages that an input causes: that it was rejected, or what has happened.
  ///
  /// - Parameter home: after the input.
  package func messages(of outcome: LoopOutcome, in home: Home, at now: WireTime) -> [[UInt8]] {
    var rows: [[UInt8]] = []
    if let rejection = outcome.rejection, let origin = outcome.origin {
      rows.append(message(rejection, topic: origin.topic, user: origin.user, agent: outcome.router, at: now))
    }
    return rows + messages(for: outcome.output, of: home, at: now)
  }
}
