// SPDX-License-Identifier: Apache-2.0

import Home

// What values are called in everything that is published.

extension AlertName {
  var word: StaticString {
    switch self {
    case .preferredNetworkMismatch: "PreferredNetworkMismatch"
    case .datasetConflict: "DatasetConflict"
    case .staleDataset: "StaleDataset"
    case .credentialsMissing: "CredentialsMissing"
    case .borderRouterOffline: "BorderRouterOffline"
    case .wellKnownNetworkKey: "WellKnownNetworkKey"
    case .noPreferredNetwork: "NoPreferredNetwork"
    case .plaintextCredentials: "PlaintextCredentials"
    case .messagesDropped: "MessagesDropped"
    case .sessionLost: "SessionLost"
    case .brokerAuthenticationFailed: "BrokerAuthenticationFailed"
    case .adoptionFailed: "AdoptionFailed"
    case .routerDetached: "RouterDetached"
    case .preferredKeyDisputed: "PreferredKeyDisputed"
    case .preferredNetworkChanged: "PreferredNetworkChanged"
    case .homeMoved: "HomeMoved"
    case .sessionTakenOver: "SessionTakenOver"
    case .storeDamaged: "StoreDamaged"
    case .networkSplit: "NetworkSplit"
    case .unknownRouter: "UnknownRouter"
    case .consentByHomeAssistant: "ConsentByHomeAssistant"
    case .discoveryAltered: "DiscoveryAltered"
    }
  }
}

extension AlertSubject {
  /// Empty for the home.
  var text: String {
    switch self {
    case .home: ""
    case .router(let agent): agent.description
    case .user(let user): user.text
    case .network(let network): network.description
    }
  }
}

extension AlertSeverity {
  var word: StaticString {
    switch self {
    case .critical: "critical"
    case .warning: "warning"
    case .info: "info"
    }
  }
}

extension Alert.News {
  var eventType: StaticString {
    switch self {
    case .raised: "alert_raised"
    case .updated: "alert_updated"
    case .resolved: "alert_resolved"
    }
  }
}

extension AlertFacts.Trigger {
  var word: StaticString {
    switch self {
    case .announce: "announce"
    case .dataset: "dataset"
    case .heartbeat: "heartbeat"
    case .offline: "offline"
    case .ssid: "ssid"
    case .ssidChanged: "ssid_changed"
    case .preferredChanged: "preferred_changed"
    case .request: "request"
    case .deleted: "deleted"
    case .silence: "silence"
    case .mdns: "mdns"
    case .accepted: "accepted"
    case .adoption: "adoption"
    case .start: "start"
    }
  }
}

extension OfflineReason {
  var word: StaticString {
    switch self {
    case .stopped: "stopped"
    case .unreachable: "unreachable"
    case .frozen: "frozen"
    case .untrusted: "untrusted"
    case .silent: "silent"
    }
  }
}

extension ThreadState {
  var word: StaticString {
    switch self {
    case .disabled: "disabled"
    case .detached: "detached"
    case .child: "child"
    case .router: "router"
    case .leader: "leader"
    }
  }
}

extension CredentialState {
  var word: StaticString {
    switch self {
    case .missing: "missing"
    case .stored: "stored"
    case .stale: "stale"
    case .conflict: "conflict"
    }
  }
}

extension RouterSource {
  var word: StaticString {
    switch self {
    case .mqtt: "mqtt"
    case .mdns: "mdns"
    }
  }
}

extension AdoptionState {
  /// As the reason of an alert.
  var word: StaticString {
    switch self {
    case .due: "due"
    case .asked: "asked"
    case .agreed: "agreed"
    case .sent: "sent"
    case .notEnrolled: "not_enrolled"
    case .damagedKeys: "damaged_enrolment"
    case .denied: "denied"
    case .expired: "expired"
    case .timeout: "timeout"
    case .disagreement: "disagreement"
    case .pendingChange: "pending_change"
    case .refused: "refused"
    case .noAnswer: "no_answer"
    case .notAttached: "not_attached"
    }
  }

  /// As it is published of a router; nil where nobody was asked yet.
  var published: StaticString? {
    switch self {
    case .due: nil
    case .asked, .agreed, .sent: word
    default: "failed"
    }
  }
}

extension PreferredCheck {
  var word: StaticString {
    switch self {
    case .none: "none"
    case .match: "match"
    case .mismatch, .stale, .conflict: "mismatch"
    }
  }
}

extension RouterEvent {
  /// Why a dataset was ignored, or a router left.
  var reason: StaticString? {
    if types.contains(.datasetIgnored) { return isConflict ? "conflict" : "older" }
    return isRemoved ? "removed" : nil
  }

  /// Nil where it is not known.
  var networkName: String? { network.flatMap { $0.name.isEmpty ? nil : $0.name } }
}

extension DatasetDifferences {
  var words: [String] { parameters.map(\.rawValue) }
}
