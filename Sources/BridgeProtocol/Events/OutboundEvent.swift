// SPDX-License-Identifier: Apache-2.0

/// `bridge/event` and `router/<id>/event`: what happened, without any secret.
package struct OutboundEvent: Encodable, Sendable {
  package var v = 1
  package var eventType: String
  package var time: WireTime
  package var borderAgentID: String?
  package var extendedPANID: String?
  package var user: String?
  package var detail = EventDetail()

  package init(eventType: String, time: WireTime) {
    self.eventType = eventType
    self.time = time
  }

  enum CodingKeys: String, CodingKey {
    case v
    case eventType = "event_type"
    case time
    case borderAgentID = "border_agent_id"
    case extendedPANID = "ext_pan_id"
    case user
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(v, forKey: .v)
    try container.encode(eventType, forKey: .eventType)
    try container.encode(time, forKey: .time)
    try container.encodeIfPresent(borderAgentID, forKey: .borderAgentID)
    try container.encodeIfPresent(extendedPANID, forKey: .extendedPANID)
    try container.encodeIfPresent(user, forKey: .user)
    try detail.encode(to: encoder)
  }
}
