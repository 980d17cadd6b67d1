// SPDX-License-Identifier: Apache-2.0

/// `bridge/consent`, retained: how many requests wait for a person, and the one that waits longest. No
/// secret.
package struct ConsentOverview: Encodable, Sendable, Equatable {
  /// The request that waits longest.
  package struct Head: Sendable, Equatable {
    package var id: String
    package var requester: String
    /// Of the key that the answer is sealed to; nil where it is not sealed.
    package var fingerprint: String?
    /// `preferred/get` and the like.
    package var command: String
    /// Of several networks: their names.
    package var networkName: String
    /// Nil where several networks are asked for.
    package var extendedPANID: String?
    package var expiresAt: WireTime
    /// The router that would be given the credentials; nil where the requester asks for itself.
    package var borderAgentID: String?

    package init(
      id: String, requester: String, fingerprint: String? = nil, command: String,
      networkName: String, extendedPANID: String?, expiresAt: WireTime, borderAgentID: String? = nil
    ) {
      self.borderAgentID = borderAgentID
      self.id = id
      self.requester = requester
      self.fingerprint = fingerprint
      self.command = command
      self.networkName = networkName
      self.extendedPANID = extendedPANID
      self.expiresAt = expiresAt
    }
  }

  /// A request that Home Assistant is asked about.
  package struct Asked: Encodable, Sendable, Equatable {
    package var id: String
    /// A sentence for the person who decides.
    package var message: String
    package var expiresAt: WireTime
    /// What a decision through Home Assistant repeats.
    package var token: String

    package init(id: String, message: String, expiresAt: WireTime, token: String) {
      self.id = id
      self.message = message
      self.expiresAt = expiresAt
      self.token = token
    }

    enum CodingKeys: String, CodingKey {
      case id, message, token
      case expiresAt = "expires_at"
    }
  }

  package var v = 1
  package var pending: Int
  package var head: Head?
  /// Those that Home Assistant decides about, oldest first, as many as have buttons there.
  package var homeAssistant: [Asked]

  package init(pending: Int, head: Head?, homeAssistant: [Asked] = []) {
    self.pending = pending
    self.head = head
    self.homeAssistant = homeAssistant
  }

  enum CodingKeys: String, CodingKey {
    case v, pending, head, requester, fingerprint, command
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case expiresAt = "expires_at"
    case borderAgentID = "border_agent_id"
    case homeAssistant = "home_assistant"
  }

  /// Flat, for templates of automations, but for what may be about another request.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(v, forKey: .v)
    try fields.encode(pending, forKey: .pending)
    guard let head else { return }
    try fields.encode(head.id, forKey: .head)
    try fields.encode(head.requester, forKey: .requester)
    try fields.encodeIfPresent(head.fingerprint, forKey: .fingerprint)
    try fields.encode(head.command, forKey: .command)
    try fields.encode(head.networkName, forKey: .networkName)
    try fields.encodeIfPresent(head.extendedPANID, forKey: .extendedPANID)
    try fields.encode(head.expiresAt, forKey: .expiresAt)
    try fields.encodeIfPresent(head.borderAgentID, forKey: .borderAgentID)
    if !homeAssistant.isEmpty { try fields.encode(homeAssistant, forKey: .homeAssistant) }
  }
}
