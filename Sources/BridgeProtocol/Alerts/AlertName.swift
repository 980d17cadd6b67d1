// SPDX-License-Identifier: Apache-2.0

/// Alerts by the names that dashboards and automations see. The raw values of `number` are stored.
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

  package var severity: Severity {
    switch self {
    case .datasetConflict, .wellKnownNetworkKey, .storeReadOnly, .brokerAuthenticationFailed,
      .sessionTakenOver, .storeDamaged:
      .critical
    case .noPreferredNetwork, .plaintextCredentials, .preferredNetworkChanged: .info
    default: .warning
    }
  }

  /// - Parameter reason: of the alert's facts. What a person has refused is as somebody wants it.
  package func severity(_ reason: String?) -> Severity {
    self == .adoptionFailed && reason == AdoptionState.denied.rawValue ? .info : severity
  }

  /// The number that stands for this alert in the store; never reused.
  package var number: Int64 {
    switch self {
    case .preferredNetworkMismatch: 0
    case .datasetConflict: 1
    case .staleDataset: 2
    case .credentialsMissing: 3
    case .borderRouterOffline: 4
    case .wellKnownNetworkKey: 5
    case .noPreferredNetwork: 6
    case .plaintextCredentials: 7
    case .messagesDropped: 8
    case .sessionLost: 9
    case .storeReadOnly: 10
    case .brokerAuthenticationFailed: 11
    case .adoptionFailed: 12
    case .routerDetached: 13
    case .preferredKeyDisputed: 14
    case .preferredNetworkChanged: 15
    case .homeMoved: 16
    case .sessionTakenOver: 17
    case .storeDamaged: 18
    }
  }

  package init?(number: Int64) {
    guard let name = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = name
  }

  /// Alerts that are about one border router.
  package static let ofRouters: [AlertName] = [
    .preferredNetworkMismatch, .datasetConflict, .staleDataset, .credentialsMissing,
    .borderRouterOffline, .wellKnownNetworkKey, .adoptionFailed,
    .routerDetached,
  ]
}
