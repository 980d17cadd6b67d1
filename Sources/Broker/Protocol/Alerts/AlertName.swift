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

/// What is fixed about an alert. Its text is made where its condition is known.
package struct AlertDefinition: Sendable {
  package enum Subject: Sendable {
    /// A border router, by its border agent id.
    case router
    /// A user of the broker.
    case user
    /// A Thread network, by its Extended PAN ID.
    case network
    /// The home, or the daemon itself.
    case home
  }

  /// Stands for the alert in the store; never reused. Those of routers are bits of a router's row, so below 63.
  package let number: Int64
  package let severity: AlertName.Severity
  package let subject: Subject
  /// Whether its condition has to last for the setting `alerts.hold` before it is published.
  package let isHeld: Bool
  /// Seconds without a change after which a notice resolves by itself; nil: it ends with its condition.
  package let noticeDuration: Int?

  init(
    _ number: Int64, _ severity: AlertName.Severity, of subject: Subject, isHeld: Bool = true,
    noticeDuration: Int? = nil
  ) {
    self.number = number
    self.severity = severity
    self.subject = subject
    self.isHeld = isHeld
    self.noticeDuration = noticeDuration
  }
}

extension AlertName {
  private static let day = 86_400

  /// The table of all alerts.
  package var definition: AlertDefinition {
    switch self {
    case .preferredNetworkMismatch: .init(0, .warning, of: .router)
    case .datasetConflict: .init(1, .critical, of: .router)
    case .staleDataset: .init(2, .warning, of: .router)
    case .credentialsMissing: .init(3, .warning, of: .router)
    case .borderRouterOffline: .init(4, .warning, of: .router)
    case .wellKnownNetworkKey: .init(5, .critical, of: .router)
    case .noPreferredNetwork: .init(6, .info, of: .home)
    // Of a user: a program with one login publishes for all its routers.
    case .plaintextCredentials: .init(7, .info, of: .user)
    case .messagesDropped: .init(8, .warning, of: .home, isHeld: false)
    case .sessionLost: .init(9, .warning, of: .home, isHeld: false)
    // Kept in memory: a store that cannot be written cannot hold the alert.
    case .storeReadOnly: .init(10, .critical, of: .home, isHeld: false)
    case .brokerAuthenticationFailed: .init(11, .critical, of: .home, isHeld: false)
    // A decision, or the end of a wait, does not have to last.
    case .adoptionFailed: .init(12, .warning, of: .router, isHeld: false)
    case .routerDetached: .init(13, .warning, of: .router)
    case .preferredKeyDisputed: .init(14, .warning, of: .home)
    case .preferredNetworkChanged:
      .init(15, .info, of: .home, isHeld: false, noticeDuration: Self.day)
    case .homeMoved: .init(16, .warning, of: .home)
    case .sessionTakenOver: .init(17, .critical, of: .home, isHeld: false)
    case .storeDamaged: .init(18, .critical, of: .home, isHeld: false, noticeDuration: Self.day)
    case .networkSplit: .init(19, .warning, of: .network)
    case .unknownRouter: .init(20, .info, of: .router)
    // A setting is no condition that could pass by itself.
    case .consentByHomeAssistant: .init(21, .info, of: .home, isHeld: false)
    case .discoveryAltered:
      .init(25, .critical, of: .home, isHeld: false, noticeDuration: Self.day)
    }
  }

  package var number: Int64 { definition.number }
  package var severity: Severity { definition.severity }

  package init?(number: Int64) {
    guard let name = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = name
  }

  /// Alerts that are about one border router.
  package static let ofRouters = allCases.filter { $0.definition.subject == .router }
  /// Alerts about something that has happened; they end by themselves.
  package static let notices = allCases.filter { $0.definition.noticeDuration != nil }
}
