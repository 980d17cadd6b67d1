// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import Home
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport

/// An event of a border router, before it has a sequence number. See docs/reference/mqtt-protocol.md.
package struct RouterEvent: Equatable, Sendable {
  package var kind: InboundEventKind
  package var agent: BorderAgentID
  /// 16 hex digits; of `announce` and `dataset`.
  package var extendedAddress: String?
  package var dataset: OperationalDataset?
  /// The network that it is on. Nil while Thread is disabled: a stopped router goes on naming its previous one.
  package var network: ExtendedPANID?
  package var threadState: ThreadState?
  package var partition: UInt32?
  /// Of `offline`.
  package var reason: OfflineReason?
  /// Of `offline`, with the reason `failing`.
  package var httpStatus: Int?
  /// Of `announce` and `dataset`: why what threadkeeper has sent is not used; one of `AdoptionState.reported`.
  package var adoptionFailure: AdoptionState?
  /// Of `announce` and `dataset`: why the router's dataset is of no use. For the log.
  var flaw: String?

  package init(_ kind: InboundEventKind, of agent: BorderAgentID, reason: OfflineReason? = nil) {
    self.kind = kind
    self.agent = agent
    self.reason = reason
  }

  /// With what a report says of Thread, and for `announce` and `dataset` with all of it.
  init(_ kind: InboundEventKind, _ report: RouterReport, dataset: OperationalDataset? = nil) {
    self.init(kind, of: report.agent)
    threadState = report.state
    partition = report.partition
    network = report.state == .disabled ? nil : report.network
    guard kind != .heartbeat else { return }
    extendedAddress = report.extendedAddress
    flaw = report.dataset.flaw
    self.dataset = dataset
  }
}

/// What people call a router, for its announcements; what is nil stays as it was.
package struct RouterDescription: Equatable, Sendable {
  package var name: String?
  package var vendor: String?
  package var model: String?

  package init(name: String? = nil, vendor: String? = nil, model: String? = nil) {
    self.name = name
    self.vendor = vendor
    self.model = model
  }
}

/// Makes publications of one agent's events: numbered, and sealed and signed where there are keys. See
/// docs/reference/mqtt-protocol.md.
struct EventEncoder: Sendable {
  let base: String
  let user: String
  let keys: AgentKeys?
  /// The number of the latest publication, which its answer names.
  private(set) var lastSequence: UInt64 = 0

  init(base: String, user: String, keys: AgentKeys?) {
    self.base = base
    self.user = user
    self.keys = keys
  }

  func topic(_ kind: InboundEventKind) -> String { "\(base)/in/\(user)/\(kind.rawValue)" }

  /// Where threadkeeper's answers to events go.
  ///
  /// - Parameter name: of the router or agent: its last level.
  func answerTopic(_ name: String) -> String {
    OutboundTopic(base: base).answer(to: user, command: "event") + "/\(name)"
  }

  /// - Parameters:
  ///   - responseTopic: where the answer is wanted; nil: nowhere.
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  ///   - encode: the JSON of the event with this number. It is wiped.
  /// - Throws: `SealingError`.
  mutating func publication(
    _ kind: InboundEventKind, responseTopic: String?, expiry: UInt32? = nil, now: UInt64,
    _ encode: (UInt64) -> [UInt8]
  ) throws(SealingError) -> Publication {
    lastSequence = max(now, lastSequence + 1)
    let topic = topic(kind)
    var body = encode(lastSequence)
    defer { wipe(&body) }
    var payload = body
    if let keys {
      let envelope = try Envelope.seal(
        body, to: keys.daemon, from: keys.own,
        at: .init(
          topic: topic, order: .sequence(lastSequence), now: Int64(now / 1_000_000_000)))
      payload = Array("{\"sealed\":".utf8) + envelope + Array("}".utf8)
    }
    return Publication(
      topic: topic, payload: payload, messageExpiry: expiry, contentType: "application/json",
      correlationData: Array("\(kind.rawValue) \(lastSequence)".utf8),
      responseTopic: responseTopic,
      token: lastSequence)
  }

  private struct Report: Encodable {
    var agent: String
    var reason: String?
    var seq: UInt64
  }

  /// What an agent reports of itself. It is of no use once the next one is due.
  ///
  /// - Throws: `SealingError`.
  mutating func publication(
    of standing: AgentStanding, by agent: String, now: UInt64
  ) throws(SealingError) -> Publication {
    var report = Report(agent: agent, seq: 0)
    let kind: InboundEventKind
    switch standing {
    case .works: kind = .heartbeat
    case .fails(let why):
      kind = .offline
      report.reason = String(why.prefix(InboundLimits.sentenceCharacters))
    case .reportedByRouter: kind = .leave
    }
    return try publication(kind, responseTopic: nil, expiry: kind == .leave ? nil : 60, now: now) {
      [report] sequence in
      var report = report
      report.seq = sequence
      return WireJSON().encode(report)
    }
  }

  /// For people: the topic and the fields.
  func summary(_ kind: InboundEventKind, _ body: [UInt8]) -> String {
    "\(topic(kind))\(keys == nil ? "" : " (sealed)") \(String(decoding: body, as: UTF8.self))"
  }
}

/// Nanoseconds since 1970.
func nanosecondsSince1970() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_nsec))
}

/// Makes publications of the events of one border router.
package struct EventWriter: Sendable {
  let description: RouterDescription
  private var encoder: EventEncoder

  package init(
    base: String, user: String, description: RouterDescription = .init(), keys: AgentKeys? = nil
  ) {
    self.description = description
    encoder = EventEncoder(base: base, user: user, keys: keys)
  }

  private struct Body: Encodable {
    var borderAgentID: String
    var name: String?
    var vendor: String?
    var model: String?
    var extendedAddress: String?
    var dataset: String?
    var network: String?
    var threadState: String?
    var partition: UInt32?
    var reason: String?
    var httpStatus: Int?
    var sequence: UInt64?

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case name, vendor, model, dataset, reason
      case extendedAddress = "ext_address"
      case network = "ext_pan_id"
      case threadState = "thread_state"
      case partition = "partition_id"
      case httpStatus = "http_status"
      case sequence = "seq"
    }
  }

  /// - Parameter now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  /// - Throws: `SealingError`.
  package mutating func publication(
    of event: RouterEvent, now: UInt64
  ) throws(SealingError) -> Publication {
    let responseTopic = encoder.answerTopic("\(event.agent)")
    let description = description
    return try encoder.publication(event.kind, responseTopic: responseTopic, now: now) { sequence in
      WireJSON().encode(Self.body(of: event, description, sequence: sequence))
    }
  }

  /// The last will, as plain text without a number: by the time it is published, a number would be older than others,
  /// and so would an envelope. So an enrolled login has none, and its silence counts.
  package func lastWill(of event: RouterEvent) -> Publication? {
    guard encoder.keys == nil else { return nil }
    return Publication(
      topic: encoder.topic(event.kind),
      payload: WireJSON().encode(Self.body(of: event, description, sequence: nil)))
  }

  /// For people: the topic and the fields, with the length of a dataset in place of it.
  package func summary(of event: RouterEvent) -> String {
    var body = Self.body(of: event, description, sequence: nil)
    if let dataset = event.dataset { body.dataset = "\(dataset)" }
    return encoder.summary(event.kind, WireJSON().encode(body))
  }

  private static func body(
    of event: RouterEvent, _ description: RouterDescription, sequence: UInt64?
  ) -> Body {
    var body = Body(borderAgentID: "\(event.agent)", sequence: sequence)
    if event.kind == .announce || event.kind == .dataset {
      (body.name, body.vendor, body.model) = (
        description.name, description.vendor, description.model
      )
    }
    body.extendedAddress = event.extendedAddress
    body.dataset = event.dataset?.hex
    body.network = event.network.map { "\($0)" }
    body.threadState = event.threadState?.word.description
    body.partition = event.partition
    body.httpStatus = event.httpStatus
    body.reason = (event.reason?.word ?? event.adoptionFailure?.word)?.description
    return body
  }
}

/// threadkeeper's answer to an event, as `EventAnswer` writes it.
package struct EventOutcome: Equatable, Sendable {
  /// Bytes of an answer, and levels of its JSON; threadkeeper's have hundreds, and two.
  private static let limit = 64 << 10
  private static let nesting = 8

  let kind: InboundEventKind
  /// The event's own.
  let token: UInt64
  /// Of a rejection; nil when it was acted upon.
  var code: String?
  var field: String?
  var message: String?

  /// - Returns: nil for what is no answer to an event.
  init?(_ answer: IncomingMessage) {
    let words = String(decoding: answer.correlationData ?? [], as: UTF8.self).split(separator: " ")
    guard answer.payload.count <= Self.limit, words.count == 2,
      let kind = InboundEventKind(rawValue: String(words[0])), let token = UInt64(words[1]),
      let status = Self.text("status", in: answer.payload)
    else { return nil }
    self.kind = kind
    self.token = token
    guard status != "ok" else { return }
    let error = UntrustedJSON.value(of: "error", in: answer.payload, depth: Self.nesting) ?? []
    code = Self.text("code", in: error) ?? "unknown"
    field = Self.text("field", in: error)
    message = Self.text("message", in: error)
  }

  private static func text(_ name: String, in object: [UInt8]) -> String? {
    UntrustedJSON.value(of: name, in: object, depth: Self.nesting)
      .flatMap { RESTValue(reading: $0).text }
  }
}

/// The keys of an enrolled login, and whom it seals to and takes messages from.
package struct AgentKeys: Sendable {
  package let own: Identity
  package let daemon: PublicIdentity

  package init(own: Identity, daemon: PublicIdentity) {
    self.own = own
    self.daemon = daemon
  }
}
