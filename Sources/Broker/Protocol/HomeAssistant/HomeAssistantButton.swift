// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadkeeperSupport

/// What buttons in Home Assistant decide about.
///
/// The request's id is in a button's `unique_id` and in what is published when it is pressed. Home Assistant never shows
/// the name of another request on it, and a button that is shown a moment too long decides about nothing else.
package enum HomeAssistantButton {
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

  /// Characters of a name that Home Assistant shows on a phone.
  static let longestName = 40

  /// Requests of one home that have buttons at the same time. More wait until one of these is settled.
  package static let mostRequests = 8
  /// Networks of one home that have buttons while none is preferred.
  package static let mostChoices = 5
}

extension HomeAssistantPlace {
  /// The two that decide about a request, by their keys.
  func buttons(_ question: HomeAssistantButton.Question) -> [String: HomeAssistantEntity] {
    func button(
      _ key: String, _ name: String, _ command: String, _ icon: String, scope: String
    ) -> HomeAssistantEntity {
      var button = HomeAssistantEntity(
        id: "\(questionID(question.id))_\(key)",
        defaultEntityID: Self.slug("\(bridgeName) \(key) \(question.id)"),
        Self.name(question.requester, name), icon: icon,
        commandTopic: "\(home.base)/in/\(question.login)/request/consent/\(command)",
        payload: #"{"id":"\#(question.id)",\#(scope)"token":"\#(question.token)"}"#)
      button.attributesTopic = OutboundTopic(base: home.base).consent
      button.attributesTemplate = HomeAssistantTemplate.question(question.id)
      return button
    }
    return [
      "consent_approve": button(
        "consent_approve", "approve once", "approve", "mdi:check-circle-outline",
        scope: #""scope":"once","#),
      "consent_deny": button("consent_deny", "deny", "deny", "mdi:close-circle-outline", scope: ""),
    ]
  }

  /// The one of a router's device that has a person asked again; available while its adoption has failed.
  ///
  /// - Parameter login: Home Assistant's, which publishes the press.
  func askAgain(
    _ agent: String, named name: String, login: String,
    _ availability: [HomeAssistantDevice.Availability]
  ) -> HomeAssistantEntity {
    var button = HomeAssistantEntity(
      id: "\(bridgeID)_\(agent)_ask_again", defaultEntityID: Self.slug("\(name) ask again"),
      "Ask again", icon: "mdi:comment-question-outline",
      commandTopic: "\(home.base)/in/\(login)/request/consent/ask",
      payload: #"{"border_agent_id":"\#(agent)"}"#)
    button.availability =
      availability + [
        HomeAssistantDevice.Availability(
          topic: "\(home.base)/router/\(agent)", valueTemplate: HomeAssistantTemplate.hasFailed)
      ]
    return button
  }

  /// Who asks, and what the button does: `speaker: approve once`.
  private static func name(_ requester: String, _ action: String) -> String {
    let room = HomeAssistantButton.longestName - action.unicodeScalars.count - 2
    return "\(ShownName.shortened(requester, longest: room)): \(action)"
  }

  /// The one that makes a network the preferred one, by its key.
  func button(_ choice: HomeAssistantButton.Choice) -> [String: HomeAssistantEntity] {
    var button = HomeAssistantEntity(
      id: "\(choiceID(choice.network))_prefer",
      defaultEntityID: Self.slug("\(bridgeName) prefer \(choice.network)"),
      "Prefer \(choice.name.isEmpty ? "" : choice.name + " ")\(choice.network)",
      icon: "mdi:star-plus-outline", commandTopic: choosing(choice.login),
      payload: #"{"ext_pan_id":"\#(choice.network)","token":"\#(choice.token)"}"#)
    button.attributesTopic = OutboundTopic(base: home.base).info
    button.attributesTemplate = HomeAssistantTemplate.choice(choice.network)
    return ["prefer": button]
  }

  /// The one that keeps the keys of the preferred network, by its key.
  func button(_ dispute: HomeAssistantButton.Dispute) -> [String: HomeAssistantEntity] {
    var button = HomeAssistantEntity(
      id: "\(disputeID(dispute.since))_keep",
      defaultEntityID: Self.slug("\(bridgeName) keep the current keys"),
      "Keep the current keys", icon: "mdi:key-arrow-right", commandTopic: choosing(dispute.login),
      payload: #"{"id":"\#(dispute.id)","token":"\#(dispute.token)"}"#)
    button.attributesTopic = dispute.alertTopic
    button.attributesTemplate = HomeAssistantTemplate.dispute
    return ["keep": button]
  }

  private func choosing(_ login: String) -> String {
    "\(home.base)/in/\(login)/request/preferred/set"
  }
}
