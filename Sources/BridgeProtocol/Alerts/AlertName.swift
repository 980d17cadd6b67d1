// SPDX-License-Identifier: Apache-2.0

/// Alerts by the names that dashboards and automations see. `AlertDefinition` has what is fixed about each.
package enum AlertName: String, CaseIterable, Codable, Sendable {
  case preferredNetworkMismatch = "PreferredNetworkMismatch"
  case datasetConflict = "DatasetConflict"
  case staleDataset = "StaleDataset"
  case credentialsMissing = "CredentialsMissing"
  case borderRouterOffline = "BorderRouterOffline"
  case wellKnownNetworkKey = "WellKnownNetworkKey"
  case noPreferredNetwork = "NoPreferredNetwork"
  case plaintextCredentials = "PlaintextCredentials"
  case messagesDropped = "MessagesDropped"
  case sessionLost = "SessionLost"
  case storeReadOnly = "StoreReadOnly"
  case brokerAuthenticationFailed = "BrokerAuthenticationFailed"
  case adoptionFailed = "AdoptionFailed"
  case routerDetached = "RouterDetached"
  case preferredKeyDisputed = "PreferredKeyDisputed"
  case preferredNetworkChanged = "PreferredNetworkChanged"
  case homeMoved = "HomeMoved"
  case sessionTakenOver = "SessionTakenOver"
  case storeDamaged = "StoreDamaged"
  case networkSplit = "NetworkSplit"
  case unknownRouter = "UnknownRouter"
  case consentByHomeAssistant = "ConsentByHomeAssistant"
  case discoveryAltered = "DiscoveryAltered"

  package enum Severity: String, Codable, Sendable {
    case critical, warning, info

    package static let worstFirst: [Severity] = [.critical, .warning, .info]
  }

  /// The reason of a mismatch of a router that was never on the preferred network: homes have a speaker of another
  /// maker, with a network of its own, on purpose.
  package static let neverMember = "never_member"

  /// The reason of an adoption that failed, and of a changed preferred network while border routers have other
  /// parameters.
  package static let disagreement = AdoptionState.disagreement.rawValue

  /// Whether its condition has to last: routers that change together do not disagree for long.
  package func isHeld(_ reason: String?) -> Bool {
    definition.isHeld || self == .preferredNetworkChanged && reason == Self.disagreement
  }

  /// The reason why no preferred network is a warning: routers are on several, and none of them is checked.
  package static let severalNetworks = "several_networks"

  /// - Parameter reason: of the alert's facts. What a person has refused is as somebody wants it.
  package func severity(_ reason: String?) -> Severity {
    switch (self, reason) {
    case (.adoptionFailed, AdoptionState.denied.rawValue),
      (.preferredNetworkMismatch, Self.neverMember):
      .info
    case (.preferredNetworkChanged, Self.disagreement),
      (.noPreferredNetwork, Self.severalNetworks):
      .warning
    default: severity
    }
  }
}
