// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SealedEnvelope

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
    body.threadState = event.threadState?.rawValue
    body.reason = event.reason?.rawValue ?? event.adoptionFailure?.rawValue
    return body
  }
}
