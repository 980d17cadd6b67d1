import Broker
import Glibc
import Home
import SodiumCrypto
import ThreadDataset
import ThreadRequests
import Wire

/// Makes publications of one agent's events: numbered, and sealed and signed where there are keys. See
/// docs/reference/mqtt-protocol.md.
struct EventWriter: Sendable {
  let base: String
  let user: String
  var keys: AgentKeys?
  /// The number of the latest publication, which its answer names.
  private(set) var lastSequence: UInt64 = 0

  func topic(_ kind: RouterMessage.Kind) -> String { "\(base)/in/\(user)/\(kind.word)" }

  /// - Parameters:
  ///   - answers: the topic where the answer is wanted; nil: none is.
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  /// - Throws: `SealingError`.
  mutating func publication(of event: InboundEvent, answers: String? = nil, expiry: UInt32? = nil, now: UInt64)
    throws(SealingError) -> Publication
  {
    lastSequence = max(now, lastSequence + 1)
    let kind = event.message.kind
    let topic = topic(kind)
    var event = event
    // An SSID is numbered by its envelope only.
    if kind != .ssid { event.sequence = lastSequence }
    var body = event.json()
    defer { wipe(&body) }
    var payload = body
    if let keys {
      let envelope = try Envelope.seal(
        body, to: keys.daemon, from: keys.own,
        at: .init(topic: topic, order: .sequence(lastSequence), now: Int64(now / 1_000_000_000)))
      payload = SealedPayload(envelope).json()
    }
    return Publication(
      topic: topic, payload: payload, messageExpiry: expiry, contentType: "application/json",
      correlationData: Array("\(kind.word) \(lastSequence)".utf8), responseTopic: answers, token: lastSequence)
  }

  /// What an agent reports of itself. It is of no use once the next one is due.
  ///
  /// - Throws: `SealingError`.
  mutating func publication(of standing: AgentStanding, by agent: String, now: UInt64) throws(SealingError)
    -> Publication
  {
    let (kind, why): (RouterMessage.Kind, String?) =
      switch standing {
      case .works: (.heartbeat, nil)
      case .serverDiffers(let why): (.heartbeat, why)
      case .fails(let why): (.offline, why)
      case .reportedByRouter: (.leave, nil)
      }
    var event = InboundEvent(kind, of: agent)
    event.message.trouble = why.map { String($0.prefix(InboundLimits.sentenceCharacters)) }
    return try publication(of: event, expiry: kind == .leave ? nil : 60, now: now)
  }

  /// The last will, as plain text without a number: by the time it is published, a number would be older than others,
  /// and so would an envelope. So an enrolled login has none, and its silence counts.
  func lastWill(of event: InboundEvent) -> Publication? {
    guard keys == nil else { return nil }
    return Publication(topic: topic(event.message.kind), payload: event.json())
  }

  /// For people: the topic and the fields, with the length of a dataset in place of it.
  func summary(of event: InboundEvent) -> String {
    var event = event
    let dataset = event.dataset.flatMap { try? OperationalDataset(bytes: $0.bytes) }
    event.shownDataset = dataset?.description
    event.dataset = nil
    let text = String(decoding: event.json(), as: UTF8.self)
    return "\(topic(event.message.kind))\(keys == nil ? "" : " (sealed)") \(text)"
  }
}

/// Nanoseconds since 1970.
func nanosecondsSince1970() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_nsec))
}

/// What has become of an event.
package struct EventOutcome: Equatable, Sendable {
  /// Of what the broker has not taken.
  static let refused = "refused"
  /// Bytes of an answer; threadkeeper's have hundreds.
  private static let limit = 64 << 10

  let kind: RouterMessage.Kind
  /// The event's own.
  let token: UInt64
  /// What it was about, in words of the agent's source.
  var subject: String?
  /// Of a rejection, or `refused`; nil when it was acted upon.
  var code: String?
  var field: String?
  var message = ""
}

extension EventOutcome {
  /// threadkeeper's answer.
  ///
  /// - Returns: nil for what is no answer to an event.
  init?(_ answer: IncomingMessage) {
    let words = String(decoding: answer.correlationData ?? [], as: UTF8.self).split(separator: " ")
    guard answer.payload.count <= Self.limit, words.count == 2, let kind = RouterMessage.Kind(word: String(words[0])),
      let token = UInt64(words[1]), let answer = ThreadAnswer(json: answer.payload)
    else { return nil }
    self.init(kind: kind, token: token)
    guard answer.status != .ok else { return }
    code = answer.error?.code ?? "unknown"
    field = answer.error?.field
    message = answer.error?.message ?? ""
  }
}

/// The keys of an enrolled login, and whom it seals to and takes messages from.
package struct AgentKeys: Sendable {
  let own: Identity
  let daemon: PublicIdentity

  package init(own: Identity, daemon: PublicIdentity) { (self.own, self.daemon) = (own, daemon) }
}
