// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadkeeperSupport

/// The texts of alerts about a home, a user or the daemon itself.
extension AlertFacts {
  /// The most networks that the alert names.
  static let networksNamed = 5

  /// - Parameters:
  ///   - isForgotten: a person has decided so.
  ///   - seen: networks that listed routers are on, at most `networksNamed`; others have chosen the names.
  ///   - count: of all of them.
  ///   - homeOption: for commands: ` --home NAME`, or nothing.
  static func noPreferredNetwork(
    isForgotten: Bool, seen: [(id: String, name: String)], count: Int, homeOption: String
  ) -> AlertFacts {
    func named(_ network: (id: String, name: String)) -> String {
      ShownName.quoted(network.name) ?? network.id
    }
    var summary =
      isForgotten
      ? "no network is preferred, because a person has forgotten the last one"
      : "no network is preferred, so no router can be checked"
    if count > 1 {
      let more = count > seen.count ? " and \(count - seen.count) more" : ""
      summary +=
        "; border routers are on \(count) networks: \(seen.map(named).joined(separator: ", "))\(more)"
    }
    var remedy: String
    if seen.isEmpty {
      remedy =
        isForgotten
        ? "Choose one with `threadkeeper preferred set NETWORK\(homeOption)`"
        : "Announce a border router with its dataset: the first network becomes preferred"
    } else {
      remedy =
        "Choose the network that is yours: "
        + seen.map { "`threadkeeper preferred set \($0.id)\(homeOption)` for \(named($0))" }
        .joined(separator: ", ")
    }
    if isForgotten {
      remedy +=
        "; `threadkeeper preferred show --history\(homeOption)` lists those that were preferred"
    } else if count > seen.count {
      remedy += "; `threadkeeper networks` lists all"
    }
    var facts = AlertFacts(summary: summary, remedy: remedy + ".")
    if count > 1 { facts.reason = AlertName.severalNetworks }
    return facts
  }

  static func plaintextCredentials(user: String) -> AlertFacts {
    var facts = AlertFacts(
      summary: "\(ShownName.account(user)) sends network keys unsealed through the broker",
      remedy: "Enrol it with `threadkeeper clients enroll`, and let it seal what it sends. Until "
        + "then use TLS, an access list and no retained messages; a broker with persistence keeps "
        + "queued messages, keys included, in its own file.")
    facts.user = user
    return facts
  }

  /// - Parameter login: Home Assistant's, of the settings.
  static func consentByHomeAssistant(login: String) -> AlertFacts {
    AlertFacts(
      summary:
        "whoever can publish as \(ShownName.account(login)), through Home Assistant too, can "
        + "approve every request for network keys",
      remedy:
        "Set `home_assistant.consent: adoptions`, unless everybody who can use Home Assistant "
        + "may have every network key.")
  }

  static let sessionLost = AlertFacts(
    summary: "the broker has forgotten the daemon's session; events sent meanwhile are lost",
    remedy: "Set `persistence true` on the broker. Routers that announce themselves again are "
      + "taken up; this resolves with the next connection that finds its session.")

  static func takeover(_ reason: String) -> AlertFacts {
    AlertFacts(
      summary: reason,
      remedy: "Look for \"already connected, closing old connection\" in Mosquitto's log. Stop the "
        + "other program: a second daemon with the same `mqtt.client_id` or a copy of this store, or "
        + "a client that uses the id on purpose. Then set another `mqtt.client_id`, and let the broker "
        + "take only ids that you know (`clientid_prefixes`). The daemon keeps trying.")
  }

  /// - Parameter topic: of a device.
  static func discoveryAltered(topic: String) -> AlertFacts {
    // The last part is of the other client's choice.
    let isPlain = topic.utf8.count <= 200 && topic.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return AlertFacts(
      summary: "another client has altered a device of threadkeeper in Home Assistant"
        + (isPlain ? ": \(topic)" : ""),
      remedy:
        "It was published again; where it had buttons, decisions by buttons were refused for a minute. "
        + "Restart Home Assistant, which keeps a button that was added. Find out which login writes there, "
        + "and put what `threadkeeper acl` prints into the broker's access list: it leaves that to Home "
        + "Assistant's own login.")
  }

  static let messagesDropped = AlertFacts(
    summary: "the broker drops messages that it cannot queue",
    remedy: "Set `max_queued_messages 1000000` and a bound in `max_queued_bytes` on the broker.")

  static func storeDamaged(_ tables: [String]) -> AlertFacts {
    AlertFacts(
      summary: "pages of the store were damaged; recreated: \(tables.joined(separator: ", "))",
      remedy: "Check the disk, and take a backup (`threadkeeper store backup`). No credentials are "
        + "lost. Names of routers come back with their next announcements. This resolves after a day."
    )
  }
}
