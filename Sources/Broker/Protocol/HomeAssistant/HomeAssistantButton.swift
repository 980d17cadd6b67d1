// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadkeeperSupport

/// A button in Home Assistant that decides about one request for consent
/// (https://www.home-assistant.io/integrations/button.mqtt/).
///
/// The request's id is in its `unique_id` and in what is published when it is pressed. Home Assistant never shows the
/// name of another request on it, and a button that is shown a moment too long decides about nothing else.
package struct HomeAssistantButton: Encodable, Sendable, Equatable {
  /// The request that is decided about.
  package struct Question: Sendable, Equatable {
    package var id: String
    /// Who asks, as far as it was checked: the login.
    package var requester: String
    /// Home Assistant's login at the broker, which publishes the decision.
    package var login: String
    /// Without which a decision by a button counts for nothing.
    package var token: String

    package init(id: String, requester: String, login: String, token: String) {
      self.id = id
      self.requester = requester
      self.login = login
      self.token = token
    }
  }

  /// A network that can be preferred while none is.
  package struct Choice: Sendable, Equatable {
    /// Its Extended PAN ID.
    package var network: String
    /// Others have chosen it; perhaps empty.
    package var name: String
    /// As in `Question`.
    package var login: String
    package var token: String

    package init(network: String, name: String, login: String, token: String) {
      self.network = network
      self.name = name
      self.login = login
      self.token = token
    }
  }

  /// A dispute about the keys of the preferred network, in which the current ones can be kept.
  package struct Dispute: Sendable, Equatable {
    /// When the preferred network was changed last: a press is about no other keys.
    package var since: WireTime
    /// Of the preferred network as it is.
    package var id: String
    /// Where the alert is published.
    package var alertTopic: String
    /// As in `Question`.
    package var login: String
    package var token: String

    package init(since: WireTime, id: String, alertTopic: String, login: String, token: String) {
      self.since = since
      self.id = id
      self.alertTopic = alertTopic
      self.login = login
      self.token = token
    }
  }

  package let platform = "button"
  package var uniqueID: String
  package var defaultEntityID: String?
  package var name: String
  package var icon: String?
  /// What a press does, as an attribute.
  package var attributesTopic: String?
  package var attributesTemplate: String?
  package var commandTopic: String
  /// A request as JSON: Home Assistant publishes it as it is.
  package var payloadPress: String
  /// Nil: that of the device.
  package var availability: [HomeAssistantDevice.Availability]?
  /// The press is repeated until the broker has it. The device's own does not count for what is published.
  package var qos = 1

  enum CodingKeys: String, CodingKey {
    case platform
    case uniqueID = "unique_id"
    case defaultEntityID = "default_entity_id"
    case name, icon
    case attributesTopic = "json_attributes_topic"
    case attributesTemplate = "json_attributes_template"
    case commandTopic = "command_topic"
    case payloadPress = "payload_press"
    case availability, qos
  }
}

extension HomeAssistantButton {
  /// Characters of a name that Home Assistant shows on a phone.
  static let longestName = 40

  /// Requests of one home that have buttons at the same time. More wait until one of these is settled.
  package static let mostRequests = 8
  /// Networks of one home that have buttons while none is preferred.
  package static let mostChoices = 5
}

extension HomeAssistantPlace {
  /// The two that decide about a request, by their keys.
  func buttons(_ question: HomeAssistantButton.Question) -> [String: HomeAssistantButton] {
    var (approve, deny) = (
      button("consent_approve", question, "approve once", "approve", scope: "once"),
      button("consent_deny", question, "deny", "deny", scope: nil)
    )
    approve.button.icon = "mdi:check-circle-outline"
    deny.button.icon = "mdi:close-circle-outline"
    return [approve.key: approve.button, deny.key: deny.button]
  }

  private func button(
    _ key: String, _ question: HomeAssistantButton.Question, _ name: String, _ command: String,
    scope: String?
  ) -> (key: String, button: HomeAssistantButton) {
    let button = HomeAssistantButton(
      uniqueID: "\(questionID(question.id))_\(key)",
      defaultEntityID: Self.slug("\(bridgeName) \(key) \(question.id)").map { "button.\($0)" },
      name: Self.name(question.requester, name),
      attributesTopic: OutboundTopic(base: home.base).consent,
      attributesTemplate: HomeAssistantTemplate.question(question.id),
      commandTopic: "\(home.base)/in/\(question.login)/request/consent/\(command)",
      payloadPress: String(
        decoding: WireJSON().encode(
          Decision(id: question.id, scope: scope, token: question.token)), as: UTF8.self))
    return (key, button)
  }

  /// The one of a router's device that has a person asked again; available while its adoption has failed.
  ///
  /// - Parameter login: Home Assistant's, which publishes the press.
  func askAgain(
    _ agent: String, named name: String, login: String,
    _ availability: [HomeAssistantDevice.Availability]
  ) -> HomeAssistantButton {
    let hasFailed = HomeAssistantDevice.Availability(
      topic: "\(home.base)/router/\(agent)", valueTemplate: HomeAssistantTemplate.hasFailed)
    return HomeAssistantButton(
      uniqueID: "\(bridgeID)_\(agent)_ask_again",
      defaultEntityID: Self.slug("\(name) ask again").map { "button.\($0)" },
      name: "Ask again", icon: "mdi:comment-question-outline",
      commandTopic: "\(home.base)/in/\(login)/request/consent/ask",
      payloadPress: #"{"border_agent_id":"\#(agent)"}"#,
      availability: availability + [hasFailed])
  }

  /// Who asks, and what the button does: `speaker: approve once`.
  private static func name(_ requester: String, _ action: String) -> String {
    let room = HomeAssistantButton.longestName - action.unicodeScalars.count - 2
    return "\(ShownName.shortened(requester, longest: room)): \(action)"
  }

  /// The one that makes a network the preferred one, by its key.
  func button(_ choice: HomeAssistantButton.Choice) -> [String: HomeAssistantButton] {
    var button = HomeAssistantButton(
      uniqueID: "\(choiceID(choice.network))_prefer",
      defaultEntityID: Self.slug("\(bridgeName) prefer \(choice.network)").map { "button.\($0)" },
      name: "Prefer \(choice.name.isEmpty ? "" : choice.name + " ")\(choice.network)",
      attributesTopic: OutboundTopic(base: home.base).info,
      attributesTemplate: HomeAssistantTemplate.choice(choice.network),
      commandTopic: choosing(choice.login),
      payloadPress: String(
        decoding: WireJSON().encode(Preference(network: choice.network, token: choice.token)),
        as: UTF8.self))
    button.icon = "mdi:star-plus-outline"
    return ["prefer": button]
  }

  /// The one that keeps the keys of the preferred network, by its key.
  func button(_ dispute: HomeAssistantButton.Dispute) -> [String: HomeAssistantButton] {
    let button = HomeAssistantButton(
      uniqueID: "\(disputeID(dispute.since))_keep",
      defaultEntityID: Self.slug("\(bridgeName) keep the current keys").map { "button.\($0)" },
      name: "Keep the current keys", icon: "mdi:key-arrow-right",
      attributesTopic: dispute.alertTopic, attributesTemplate: HomeAssistantTemplate.dispute,
      commandTopic: choosing(dispute.login),
      payloadPress: String(
        decoding: WireJSON().encode(Decision(id: dispute.id, scope: nil, token: dispute.token)),
        as: UTF8.self))
    return ["keep": button]
  }

  private func choosing(_ login: String) -> String {
    "\(home.base)/in/\(login)/request/preferred/set"
  }

  private struct Preference: Encodable {
    let network: String
    let token: String

    enum CodingKeys: String, CodingKey {
      case network = "ext_pan_id"
      case token
    }
  }

  private struct Decision: Encodable {
    let id: String
    let scope: String?
    let token: String
  }
}
