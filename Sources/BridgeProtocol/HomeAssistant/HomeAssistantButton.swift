// SPDX-License-Identifier: Apache-2.0

/// A button in Home Assistant that decides about one request for consent, or, with nothing but its platform, the end
/// of one: Home Assistant then removes the entity, also from its list of known ones.
///
/// The request's id is in what is published when it is pressed, so a button that was shown a moment too long decides
/// about nothing else (https://www.home-assistant.io/integrations/button.mqtt/).
package struct HomeAssistantButton: Encodable, Sendable, Equatable {
  /// The request that is decided about.
  package struct Question: Sendable, Equatable {
    package var id: String
    /// What a yes does, without names that are longer than shown ones.
    package var deed: String
    /// Home Assistant's login at the broker, which publishes the decision.
    package var login: String

    package init(id: String, deed: String, login: String) {
      self.id = id
      self.deed = deed
      self.login = login
    }
  }

  package let platform = "button"
  package var uniqueID: String?
  package var defaultEntityID: String?
  package var name: String?
  package var icon: String?
  package var commandTopic: String?
  /// A request as JSON: Home Assistant publishes it as it is.
  package var payloadPress: String?
  package var availability: [HomeAssistantDevice.Availability]?

  enum CodingKeys: String, CodingKey {
    case platform
    case uniqueID = "unique_id"
    case defaultEntityID = "default_entity_id"
    case name, icon
    case commandTopic = "command_topic"
    case payloadPress = "payload_press"
    case availability
  }
}

extension HomeAssistantPlace {
  /// The two that decide about a request.
  ///
  /// Their keys and ids are the same for every request: one that Home Assistant has missed the end of is used again
  /// by the next request, and goes with that.
  ///
  /// - Parameters:
  ///   - question: nil: both are removed.
  ///   - availability: of the device, which these have too.
  func buttons(
    _ question: HomeAssistantButton.Question?,
    beside availability: [HomeAssistantDevice.Availability]
  ) -> [String: HomeAssistantButton] {
    let (approve, deny) = ("consent_approve", "consent_deny")
    guard let question else {
      return [approve: HomeAssistantButton(), deny: HomeAssistantButton()]
    }
    let request = "\(home.base)/in/\(question.login)/request/consent"
    let waits = HomeAssistantDevice.Availability(
      topic: OutboundTopic(base: home.base).consent,
      valueTemplate: HomeAssistantTemplate.asks(question.id))
    func button(
      _ key: String, _ name: String, _ icon: String, _ topic: String, _ decision: Decision
    ) -> HomeAssistantButton {
      HomeAssistantButton(
        uniqueID: "\(bridgeID)_\(key)",
        defaultEntityID: Self.slug("\(bridgeName) \(key)").map { "button.\($0)" },
        name: "\(name): \(question.deed)", icon: icon, commandTopic: "\(request)/\(topic)",
        payloadPress: String(decoding: WireJSON().encode(decision), as: UTF8.self),
        availability: availability + [waits])
    }
    return [
      approve: button(
        approve, "Approve once", "mdi:check-circle-outline", "approve",
        Decision(id: question.id, scope: "once")),
      deny: button(
        deny, "Deny", "mdi:close-circle-outline", "deny", Decision(id: question.id, scope: nil)),
    ]
  }

  private struct Decision: Encodable {
    let id: String
    let scope: String?
  }
}
