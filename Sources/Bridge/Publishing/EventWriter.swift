// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

/// What happened in one home, as finished messages: `bridge/event`, `bridge/event/alert`, `router/<id>/event`. They are
/// stored before they are published, because nothing else has them.
package struct EventWriter: Sendable {
  /// A stored row is full at so many bytes: a change of the preferred network can raise an alert of each router.
  private static let rowBytes = 65_536

  private let writer: StateWriter
  private let base: [UInt8]
  private let eventTopic: String
  private let isOnlyHome: Bool

  package init(home: String, base: String, isOnlyHome: Bool) {
    writer = StateWriter(home: home, isOnlyHome: isOnlyHome)
    self.base = Array(base.utf8)
    eventTopic = "\(base)/bridge/event"
    self.isOnlyHome = isOnlyHome
  }

  /// The messages that an output of a home causes, as rows for the store: mostly none or one.
  ///
  /// - Parameter home: after the input.
  package func messages(
    for output: HomeOutput, of home: Home, at now: WireTime
  ) -> [[UInt8]] {
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
  package func message(
    _ rejection: Rejection, topic: String, user: String?, agent: BorderAgentID?, at now: WireTime
  ) -> [UInt8] {
    var event = EventFields(now)
    event.agent = agent
    event.user = user
    event.topic = topic
    event.code = rejection.code
    event.field = rejection.field
    event.tlv = rejection.tlv
    event.offset = rejection.offset
    event.message = rejection.message
    var row = OutboxRow()
    row.append(eventTopic, event.json("message_rejected"))
    return row.bytes
  }

  private func append(
    _ event: HomeEvent, _ home: Home, _ now: WireTime, to row: inout OutboxRow
  ) {
    switch event {
    case .router(let event): append(event, home, now, to: &row)
    case .alert(let key, let alert, let news, let severity):
      let json = writer.alert(
        key, alert, news: StateWriter.AlertNews(type: news, previousSeverity: severity))
      row.append("\(eventTopic)/alert", json)
    case .asked(let question):
      var event = EventFields(now)
      event.fill(question.id, question.requester, question.subject)
      event.message = question.reason(home: isOnlyHome ? nil : writer.home)
      event.expiresAt = question.expiresAt
      append(event, "consent_requested", to: &row)
    case .decided(let record):
      var event = EventFields(now)
      event.fill(record.id, record.requester, record.subject)
      event.scope = record.scope.map { $0 == .once ? "once" : "always" }
      event.decidedBy = record.by?.shown
      switch record.outcome {
      case .approved: append(event, "consent_approved", to: &row)
      case .denied: append(event, "consent_denied", to: &row)
      case .expired: append(event, "consent_expired", to: &row)
      case .revoked: break
      }
    // For the log.
    case .notGiven, .adoptionChanged, .forgotten: break
    }
  }

  /// In the order in which they are published.
  private static let types: [(RouterEvent.Types, StaticString)] = [
    (.discovered, "router_discovered"), (.announced, "router_announced"),
    (.online, "router_online"), (.datasetStored, "dataset_stored"),
    (.datasetUpdated, "dataset_updated"), (.datasetIgnored, "dataset_ignored"),
    (.preferredChanged, "preferred_changed"), (.ssidChanged, "ssid_changed"),
    (.left, "router_left"), (.datasetSent, "dataset_sent"),
  ]

  private func append(
    _ event: RouterEvent, _ home: Home, _ now: WireTime, to row: inout OutboxRow
  ) {
    var fields = EventFields(now)
    fields.agent = event.router
    fields.network = event.network?.id
    fields.networkName = event.network?.name
    fields.user = event.user?.text
    fields.differs = event.differs
    fields.previousNetwork = event.previousNetwork
    fields.ssid = event.ssid
    fields.previousSSID = event.previousSSID
    fields.check = event.check
    fields.reason = event.reason
    if event.isLastOfPreferred {
      fields.message = "the last border router of the preferred network left; it stays preferred"
    } else if event.types == .online, event.router != nil {
      fields.message = event.onlineSentence
    }
    if let id = event.consent {
      // An earlier "always" has an id of its own.
      fields.id = home.grants.contains { $0.id == id } ? id.grantText : id.questionText
    }
    for (type, name) in Self.types where event.types.contains(type) {
      append(fields, name, to: &row)
    }
  }

  private func append(_ event: EventFields, _ type: StaticString, to row: inout OutboxRow) {
    let json = event.json(type)
    row.append(eventTopic, json)
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

/// What an event says.
private struct EventFields {
  let time: WireTime
  var agent: BorderAgentID?
  var network: ExtendedPANID?
  var user: String?
  // What follows is the detail, which comes after the rest.
  var code: String?
  var command: String?
  var decidedBy: String?
  var differs: DatasetDifferences?
  var expiresAt: WireTime?
  var field: String?
  var fingerprint: String?
  var id: String?
  var message: String?
  /// Empty where there is none.
  var networkName: String?
  var offset: Int?
  var check: PreferredCheck?
  var previousNetwork: ExtendedPANID?
  var previousSSID: String?
  var reason: StaticString?
  var requester: String?
  var scope: StaticString?
  var ssid: String?
  var tlv: String?
  var topic: String?

  init(_ time: WireTime) { self.time = time }

  mutating func fill(_ id: ConsentID, _ requester: Requester, _ subject: ConsentSubject) {
    network = subject.onlyNetwork
    agent = subject.router?.agent
    if case .login(let name) = requester.identity { user = name.text }
    self.id = id.questionText
    self.requester = requester.shown
    fingerprint = requester.fingerprint
    command = subject.command.wireName
    networkName = subject.names
  }

  func json(_ type: StaticString) -> [UInt8] {
    var json = JSONBytes(capacity: 384)
    json.open()
    json.member(#""border_agent_id":"#, agent)
    json.member(#""event_type":"#, word: type)
    json.member(#""ext_pan_id":"#, network)
    json.member(#""time":"#, time)
    json.member(#""user":"#, user)
    json.member(#""v":"#, 1)
    json.member(#""code":"#, code)
    json.member(#""command":"#, command)
    json.member(#""decided_by":"#, decidedBy)
    json.member(#""differs":"#, list: differs?.words)
    json.member(#""expires_at":"#, expiresAt)
    json.member(#""field":"#, field)
    json.member(#""fingerprint":"#, fingerprint)
    json.member(#""id":"#, id)
    json.member(#""message":"#, message)
    json.member(
      #""network_name":"#, command == nil && networkName?.isEmpty == true ? nil : networkName)
    json.member(#""offset":"#, offset.map { UInt64(max(0, $0)) })
    json.member(#""preferred":"#, word: check?.word)
    json.member(#""previous_ext_pan_id":"#, previousNetwork)
    json.member(#""previous_ssid":"#, previousSSID)
    json.member(#""reason":"#, word: reason)
    json.member(#""requester":"#, requester)
    json.member(#""scope":"#, word: scope)
    json.member(#""ssid":"#, ssid)
    json.member(#""tlv":"#, tlv)
    json.member(#""topic":"#, topic)
    json.close()
    return json.bytes
  }
}

extension EventWriter {
  /// The messages that an input causes: that it was rejected, or what has happened.
  ///
  /// - Parameter home: after the input.
  package func messages(
    of outcome: LoopOutcome, in home: Home, at now: WireTime
  ) -> [[UInt8]] {
    var rows: [[UInt8]] = []
    if let rejection = outcome.rejection, let origin = outcome.origin {
      rows.append(
        message(
          rejection, topic: origin.topic, user: origin.user, agent: outcome.router, at: now))
    }
    return rows + messages(for: outcome.output, of: home, at: now)
  }
}
