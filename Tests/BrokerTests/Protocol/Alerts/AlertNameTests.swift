// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@Suite("Alert names")
struct AlertNameTests {
  static let pinned: [(AlertName, String, Int64, AlertName.Severity)] = [
    (.preferredNetworkMismatch, "PreferredNetworkMismatch", 0, .warning),
    (.datasetConflict, "DatasetConflict", 1, .critical),
    (.staleDataset, "StaleDataset", 2, .warning),
    (.credentialsMissing, "CredentialsMissing", 3, .warning),
    (.borderRouterOffline, "BorderRouterOffline", 4, .warning),
    (.wellKnownNetworkKey, "WellKnownNetworkKey", 5, .critical),
    (.noPreferredNetwork, "NoPreferredNetwork", 6, .info),
    (.plaintextCredentials, "PlaintextCredentials", 7, .info),
    (.messagesDropped, "MessagesDropped", 8, .warning),
    (.sessionLost, "SessionLost", 9, .warning),
    (.storeReadOnly, "StoreReadOnly", 10, .critical),
    (.brokerAuthenticationFailed, "BrokerAuthenticationFailed", 11, .critical),
    (.adoptionFailed, "AdoptionFailed", 12, .warning),
    (.routerDetached, "RouterDetached", 13, .warning),
    (.preferredKeyDisputed, "PreferredKeyDisputed", 14, .warning),
    (.preferredNetworkChanged, "PreferredNetworkChanged", 15, .info),
    (.homeMoved, "HomeMoved", 16, .warning),
    (.sessionTakenOver, "SessionTakenOver", 17, .critical),
    (.storeDamaged, "StoreDamaged", 18, .critical),
    (.networkSplit, "NetworkSplit", 19, .warning),
    (.unknownRouter, "UnknownRouter", 20, .info),
    (.consentByHomeAssistant, "ConsentByHomeAssistant", 21, .info),
    (.discoveryAltered, "DiscoveryAltered", 25, .critical),
  ]

  @Test("Names, stored numbers and severities stay as they are", arguments: pinned)
  func stable(name: AlertName, text: String, number: Int64, severity: AlertName.Severity) {
    #expect(name.rawValue == text)
    #expect(name.number == number)
    #expect(AlertName(number: number) == name)
    #expect(name.severity == severity)
  }

  @Test("None is forgotten here, and no number is used twice")
  func complete() {
    #expect(Self.pinned.map(\.0) == AlertName.allCases)
    #expect(Set(AlertName.allCases.map(\.number)).count == AlertName.allCases.count)
    #expect(AlertName(number: 1_000) == nil)
    #expect(AlertName(number: -1) == nil)
  }

  @Test("The alerts of routers fit into the bits of a router's row")
  func bits() {
    #expect(AlertName.ofRouters.map(\.number) == [0, 1, 2, 3, 4, 5, 12, 13, 20])
  }

  @Test("What is decided, counted or over already is published at once; the rest has to last")
  func held() {
    #expect(
      AlertName.allCases.filter { !$0.definition.isHeld } == [
        .messagesDropped, .sessionLost, .storeReadOnly, .brokerAuthenticationFailed,
        .adoptionFailed, .preferredNetworkChanged, .sessionTakenOver, .storeDamaged,
        .consentByHomeAssistant, .discoveryAltered,
      ])
    #expect(AlertName.preferredNetworkChanged.isHeld(AlertName.disagreement))
    #expect(!AlertName.preferredNetworkChanged.isHeld(nil))
  }

  @Test("What has happened is told for a day")
  func notices() {
    #expect(AlertName.notices == [.preferredNetworkChanged, .storeDamaged, .discoveryAltered])
    #expect(AlertName.notices.allSatisfy { $0.definition.noticeDuration == 86_400 })
  }

  @Test("The words for severities")
  func severities() {
    #expect(AlertName.Severity.critical.rawValue == "critical")
    #expect(AlertName.Severity.warning.rawValue == "warning")
    #expect(AlertName.Severity.info.rawValue == "info")
  }
}
