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

  package enum Severity: String, Codable, Sendable {
    case critical, warning, info

    package static let worstFirst: [Severity] = [.critical, .warning, .info]
  }

  /// - Parameter reason: of the alert's facts. What a person has refused is as somebody wants it.
  package func severity(_ reason: String?) -> Severity {
    self == .adoptionFailed && reason == AdoptionState.denied.rawValue ? .info : severity
  }
}
