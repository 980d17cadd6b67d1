import Home
import ThreadkeeperSupport

/// Buttons in Home Assistant, in the daemon's device.
///
/// What is decided about is in a button's `unique_id` and in what is published when it is pressed. Home Assistant never
/// shows the name of another request on it, and a button that is shown a moment too long decides about nothing else.
package enum HomeAssistantButton {
  /// Who publishes a press, Home Assistant's login at the broker, and without what it counts for nothing.
  package typealias Press = (login: String, token: String)

  /// Characters of a name that Home Assistant shows on a phone.
  static let longestName = 40

  /// Requests of one home that have buttons at the same time. More wait until one of these is settled.
  package static let mostRequests = 8
  /// Networks of one home that have buttons while none is preferred.
  package static let mostChoices = 5
}

extension HomeAssistantDevice {
  /// The two that decide about a request for consent. Available while the request waits.
  ///
  /// - Parameter requester: who asks, as far as it was checked: the login.
  package static func question(
    _ id: String, by requester: String, _ press: HomeAssistantButton.Press, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    func button(_ key: String, _ name: String, _ command: String, _ icon: String, scope: String = "")
      -> HomeAssistantEntity
    {
      let room = HomeAssistantButton.longestName - name.unicodeScalars.count - 2
      return HomeAssistantEntity(
        id: "\(place.questionID(id))_\(key)",
        defaultEntityID: HomeAssistantPlace.slug("\(place.bridgeName) \(key) \(id)"),
        "\(ShownName.shortened(requester, longest: room)): \(name)", icon: icon,
        commandTopic: "\(place.home.base)/in/\(press.login)/request/consent/\(command)",
        payload: #"{"id":"\#(id)",\#(scope)"token":"\#(press.token)"}"#)
    }
    return buttons(
      [
        "consent_approve": button(
          "consent_approve", "approve once", "approve", "mdi:check-circle-outline", scope: #""scope":"once","#),
        "consent_deny": button("consent_deny", "deny", "deny", "mdi:close-circle-outline"),
      ], HomeAssistantTemplate.question(id), OutboundTopic(base: place.home.base).consent,
      while: HomeAssistantTemplate.isWaiting(id), place)
  }

  /// The one that makes a network the preferred one. Available while none is.
  ///
  /// - Parameters:
  ///   - network: its Extended PAN ID.
  ///   - name: others have chosen it; perhaps empty.
  package static func choice(
    _ network: String, named name: String, _ press: HomeAssistantButton.Press, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    let button = HomeAssistantEntity(
      id: "\(place.choiceID(network))_prefer",
      defaultEntityID: HomeAssistantPlace.slug("\(place.bridgeName) prefer \(network)"),
      "Prefer \(name.isEmpty ? "" : name + " ")\(network)", icon: "mdi:star-plus-outline",
      commandTopic: "\(place.home.base)/in/\(press.login)/request/preferred/set",
      payload: #"{"ext_pan_id":"\#(network)","token":"\#(press.token)"}"#)
    return buttons(
      ["prefer": button], HomeAssistantTemplate.choice(network), OutboundTopic(base: place.home.base).info,
      while: HomeAssistantTemplate.isUndecided, place)
  }

  /// The one that keeps the preferred network's keys. Available while they are disputed.
  ///
  /// - Parameters:
  ///   - id: of the preferred network as it is.
  ///   - since: when the preferred network was changed last: a press is about no other keys.
  ///   - alert: where the alert about that is published.
  package static func dispute(
    _ id: String, since: WireTime, alert: String, _ press: HomeAssistantButton.Press, _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    let button = HomeAssistantEntity(
      id: "\(place.disputeID(since))_keep",
      defaultEntityID: HomeAssistantPlace.slug("\(place.bridgeName) keep the current keys"), "Keep the current keys",
      icon: "mdi:key-arrow-right", commandTopic: "\(place.home.base)/in/\(press.login)/request/preferred/set",
      payload: #"{"id":"\#(id)","token":"\#(press.token)"}"#)
    return buttons(["keep": button], HomeAssistantTemplate.dispute, alert, while: HomeAssistantTemplate.isFiring, place)
  }

  /// - Parameters:
  ///   - attributes: what a press does.
  ///   - topic: of the state that says so, and whether they are available.
  private static func buttons(
    _ all: [String: HomeAssistantEntity], _ attributes: String, _ topic: String, while isAvailable: String,
    _ place: HomeAssistantPlace
  ) -> HomeAssistantDevice {
    var device = bridge(place)
    device.availability.append(Availability(topic: topic, valueTemplate: isAvailable))
    device.components = all.mapValues {
      var button = $0
      button.attributesTopic = topic
      button.attributesTemplate = attributes
      return button
    }
    return device
  }

  /// Those of the daemon's device by which a person finds out whether alerts arrive; the second one is available until
  /// that is said. With an old press nothing is lost, so they need no token.
  mutating func addAlertButtons(login: String?, _ place: HomeAssistantPlace) {
    for (key, name, command, icon) in [
      ("test_alert", "Send a test alert", "test", "mdi:bell-ring-outline"),
      ("alerts_arrive", "It arrived", "confirm", "mdi:bell-check-outline"),
    ] {
      // Home Assistant keeps a component that is only left out.
      components[key] =
        login.map { login in
          var button = HomeAssistantEntity(
            id: "\(place.bridgeID)_\(key)", defaultEntityID: HomeAssistantPlace.slug("\(place.bridgeName) \(key)"),
            name, icon: icon, commandTopic: "\(place.home.base)/in/\(login)/request/alerts/\(command)", payload: "{}")
          if command == "confirm" {
            button.availability =
              availability + [
                Availability(
                  topic: OutboundTopic(base: place.home.base).info, valueTemplate: HomeAssistantTemplate.needsAlerts)
              ]
          }
          return button
        } ?? HomeAssistantEntity(removed: .button)
    }
  }

  /// The one of a router's device that has a person asked again; available while its adoption has failed.
  func askAgain(_ agent: String, login: String, _ place: HomeAssistantPlace) -> HomeAssistantEntity {
    var button = HomeAssistantEntity(
      id: "\(place.bridgeID)_\(agent)_ask_again", defaultEntityID: HomeAssistantPlace.slug("\(device.name) ask again"),
      "Ask again", icon: "mdi:comment-question-outline",
      commandTopic: "\(place.home.base)/in/\(login)/request/consent/ask", payload: #"{"border_agent_id":"\#(agent)"}"#)
    button.availability =
      availability + [
        Availability(topic: "\(place.home.base)/router/\(agent)", valueTemplate: HomeAssistantTemplate.hasFailed)
      ]
    return button
  }
}
