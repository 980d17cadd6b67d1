// SPDX-License-Identifier: Apache-2.0

import Broker
import Home

// What is published of a home, field by field: to compare with what the daemon writes, and for templates to read. These
// are allow-lists: what is not named here is not published.

/// A JSON object by its fields. Those that are nil are left out.
package protocol PublishedFields: Encodable, Sendable {
  typealias Fields = [String: (any Encodable & Sendable)?]

  var fields: Fields { get }
}

private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension PublishedFields {
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: FieldName.self)
    for case (let name, let value?) in fields {
      try container.encode(value, forKey: FieldName(stringValue: name))
    }
  }
}

/// `bridge/info`, retained.
package struct BridgeInfo: PublishedFields {
  package struct Preferred: PublishedFields {
    package let fields: Fields

    package init(networkName: String, extendedPANID: String) {
      fields = ["network_name": networkName, "ext_pan_id": extendedPANID]
    }
  }

  package let fields: Fields

  /// - Parameters:
  ///   - alertsHold: seconds for which a condition must last before its alert is raised.
  ///   - enrolmentLine: the daemon's public keys, to seal to and to verify with.
  ///   - fingerprint: what two people compare of them.
  package init(
    version: String, instanceID: String, home: String, preferredNetwork: Preferred?,
    routers: Int, networks: Int, alertsHold: Int, onMismatch: String,
    offlineAfter: Int, enrolmentLine: String? = nil, fingerprint: String? = nil
  ) {
    fields = [
      "v": 1, "version": version, "instance_id": instanceID, "home": home,
      "preferred_network": preferredNetwork, "routers": routers, "networks": networks,
      "alerts_hold": alertsHold, "on_mismatch": onMismatch, "offline_after": offlineAfter,
      "enrolment_line": enrolmentLine, "fingerprint": fingerprint,
    ]
  }
}

/// `bridge/alerts`, retained: counts, and the newest of the active ones.
package struct AlertsOverview: PublishedFields {
  package let fields: Fields

  package init(active: Int, critical: Int, warning: Int, info: Int, alerts: [AlertState]) {
    fields = [
      "v": 1, "active": active, "critical": critical, "warning": warning, "info": info,
      "alerts": alerts,
    ]
  }
}

/// `bridge/consent`, retained: how many requests wait for a person, and the one that waits longest. No
/// secret. Flat, for templates of automations, but for what may be about another request.
package struct ConsentOverview: PublishedFields {
  /// The request that waits longest.
  package struct Head: PublishedFields {
    package let fields: Fields

    /// - Parameters:
    ///   - fingerprint: of the key that the answer is sealed to; nil where it is not sealed.
    ///   - command: `preferred/get` and the like.
    ///   - networkName: of several networks: their names.
    ///   - extendedPANID: nil where several networks are asked for.
    ///   - borderAgentID: the router that would be given the credentials; nil where the requester asks for itself.
    package init(
      id: String, requester: String, fingerprint: String? = nil, command: String,
      networkName: String, extendedPANID: String?, expiresAt: WireTime, borderAgentID: String? = nil
    ) {
      fields = [
        "head": id, "requester": requester, "fingerprint": fingerprint, "command": command,
        "network_name": networkName, "ext_pan_id": extendedPANID, "expires_at": expiresAt,
        "border_agent_id": borderAgentID,
      ]
    }
  }

  /// A request that Home Assistant is asked about.
  package struct Asked: PublishedFields {
    package let fields: Fields

    /// - Parameters:
    ///   - message: a sentence for the person who decides.
    ///   - token: what a decision through Home Assistant repeats.
    package init(id: String, message: String, expiresAt: WireTime, token: String) {
      fields = ["id": id, "message": message, "expires_at": expiresAt, "token": token]
    }
  }

  package let fields: Fields

  /// - Parameter homeAssistant: those that Home Assistant decides about, oldest first, as many as have buttons there.
  package init(pending: Int, head: Head?, homeAssistant: [Asked] = []) {
    let own: Fields = [
      "v": 1, "pending": pending, "home_assistant": homeAssistant.isEmpty ? nil : homeAssistant,
    ]
    fields = own.merging(head?.fields ?? [:]) { $1 }
  }
}
