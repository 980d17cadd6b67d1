// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SealedEnvelope

/// Makes publications of `ssid` events.
struct SSIDWriter {
  let subject: SSIDSubject
  private let answerTopic: String
  private var encoder: EventEncoder

  /// - Parameter instance: names this agent among those of the login, in the topic of its answers.
  init(base: String, user: String, subject: SSIDSubject, keys: AgentKeys?, instance: String) {
    self.subject = subject
    encoder = EventEncoder(base: base, user: user, keys: keys)
    answerTopic = encoder.answerTopic("ssid-\(instance)")
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

  /// The number of the latest publication, which its answer names.
  var lastSequence: UInt64 { encoder.lastSequence }

  /// - Parameters:
  ///   - expiry: seconds after which the broker drops it; nil: it waits for a daemon that is away.
  ///   - now: nanoseconds since 1970.
  /// - Throws: `SealingError`.
  mutating func publication(
    of ssid: SSID, expiry: UInt32?, now: UInt64
  ) throws(SealingError) -> Publication {
    let body = body(of: ssid)
    return try encoder.publication(
      .ssid, responseTopic: answerTopic, expiry: expiry, now: now
    ) { _ in body }
  }

  /// For people.
  func summary(of ssid: SSID) -> String { encoder.summary(.ssid, body(of: ssid)) }

  private func body(of ssid: SSID) -> [UInt8] {
    var body = Body(ssid: "\(ssid)")
    switch subject {
    case .router(let agent): body.borderAgentID = "\(agent)"
    case .accessPoint(let name): body.accessPoint = name
    }
    return WireJSON().encode(body)
  }
}
