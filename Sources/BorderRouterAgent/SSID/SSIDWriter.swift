// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SealedEnvelope

/// Makes publications of `ssid` events, sealed and signed where there are keys. See docs/reference/mqtt-protocol.md.
struct SSIDWriter {
  let base: String
  let user: String
  let subject: SSIDSubject
  let keys: AgentKeys?
  /// Of this process: a login may have several agents.
  let instance: String
  /// The number of the latest publication, which its answer names.
  private(set) var lastSequence: UInt64 = 0

  init(base: String, user: String, subject: SSIDSubject, keys: AgentKeys?, instance: String) {
    self.base = base
    self.user = user
    self.subject = subject
    self.keys = keys
    self.instance = instance
  }

  private struct Body: Encodable {
    var borderAgentID: String?
    var accessPoint: String?
    var ssid: String

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case accessPoint = "access_point"
      case ssid
    }
  }

  var topic: String { "\(base)/in/\(user)/\(InboundEventKind.ssid.rawValue)" }

  var answerTopic: String {
    OutboundTopic(base: base).answer(to: user, command: "event") + "/ssid-\(instance)"
  }

  /// - Parameters:
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970. The number of an envelope follows it, and rises in any case.
  /// - Throws: `SealingError`.
  mutating func publication(
    of ssid: SSID, expiry: UInt32?, now: UInt64
  ) throws(SealingError) -> Publication {
    lastSequence = max(now, lastSequence + 1)
    var payload = body(of: ssid)
    if let keys {
      let envelope = try Envelope.seal(
        payload, to: keys.daemon, from: keys.own,
        at: .init(
          topic: topic, order: .sequence(lastSequence), now: Int64(now / 1_000_000_000)))
      payload = Array("{\"sealed\":".utf8) + envelope + Array("}".utf8)
    }
    return Publication(
      topic: topic, payload: payload, messageExpiry: expiry, contentType: "application/json",
      correlationData: Array("\(InboundEventKind.ssid.rawValue) \(lastSequence)".utf8),
      responseTopic: answerTopic,
      token: lastSequence)
  }

  /// For people.
  func summary(of ssid: SSID) -> String {
    let text = String(decoding: body(of: ssid), as: UTF8.self)
    return "\(topic)\(keys == nil ? "" : " (sealed)") \(text)"
  }

  private func body(of ssid: SSID) -> [UInt8] {
    var body = Body(ssid: "\(ssid)")
    switch subject {
    case .router(let agent): body.borderAgentID = "\(agent)"
    case .accessPoint(let name): body.accessPoint = name
    }
    return WireJSON().encode(body)
  }
}
