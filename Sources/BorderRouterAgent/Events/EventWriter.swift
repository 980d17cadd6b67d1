// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Glibc
import MosquittoClient
import SealedEnvelope
import SodiumCrypto

/// Makes publications of events: numbered, and sealed and signed where there are keys. One for each router.
package struct EventWriter: Sendable {
  let base: String
  let user: String
  let description: RouterDescription
  let keys: AgentKeys?
  private var lastSequence: UInt64 = 0

  package init(
    base: String, user: String, description: RouterDescription = .init(), keys: AgentKeys? = nil
  ) {
    self.base = base
    self.user = user
    self.description = description
    self.keys = keys
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
    var reason: String?
    var sequence: UInt64?

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case name, vendor, model, dataset, reason
      case extendedAddress = "ext_address"
      case network = "ext_pan_id"
      case threadState = "thread_state"
      case sequence = "seq"
    }
  }

  /// Where threadkeeper's answers to events go.
  package func answerTopic(of event: RouterEvent) -> String { answerTopic(of: "\(event.agent)") }

  func answerTopic(of agent: String) -> String {
    OutboundTopic(base: base).answer(to: user, command: "event") + "/\(agent)"
  }

  func topic(_ kind: InboundEventKind) -> String { "\(base)/in/\(user)/\(kind.rawValue)" }

  /// - Parameter now: nanoseconds since 1970. The sequence number follows it, and rises in any case.
  /// - Throws: `SealingError`.
  package mutating func publication(
    of event: RouterEvent, now: UInt64
  ) throws(SealingError) -> Publication {
    lastSequence = max(now, lastSequence + 1)
    let topic = topic(event.kind)
    var body = WireJSON().encode(body(of: event, sequence: lastSequence))
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
      topic: topic, payload: payload, contentType: "application/json",
      correlationData: Array("\(event.kind.rawValue) \(lastSequence)".utf8),
      responseTopic: answerTopic(of: event),
      token: lastSequence)
  }

  /// The last will, as plain text without a number: by the time it is published, a number would be older than others,
  /// and so would an envelope. So an enrolled login has none, and its silence counts.
  package func lastWill(of event: RouterEvent) -> Publication? {
    guard keys == nil else { return nil }
    return Publication(
      topic: topic(event.kind), payload: WireJSON().encode(body(of: event, sequence: nil)))
  }

  /// For people: the topic and the fields, with the length of a dataset in place of it.
  package func summary(of event: RouterEvent) -> String {
    var body = body(of: event, sequence: nil)
    if let dataset = event.dataset { body.dataset = "\(dataset)" }
    let text = String(decoding: WireJSON().encode(body), as: UTF8.self)
    return "\(topic(event.kind))\(keys == nil ? "" : " (sealed)") \(text)"
  }

  private func body(of event: RouterEvent, sequence: UInt64?) -> Body {
    var body = Body(borderAgentID: "\(event.agent)", sequence: sequence)
    if event.kind == .announce || event.kind == .dataset {
      (body.name, body.vendor, body.model) = (
        description.name, description.vendor, description.model
      )
    }
    body.extendedAddress = event.extendedAddress
    body.dataset = event.dataset?.hex
    body.network = event.network.map { "\($0)" }
    body.threadState = event.threadState?.rawValue
    body.reason = event.reason?.rawValue
    return body
  }
}

/// Nanoseconds since 1970.
func nanosecondsSince1970() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(max(0, time.tv_nsec))
}
