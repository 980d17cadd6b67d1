// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Testing

@Suite("Alert names")
struct AlertNameTests {
  static let pinned: [(AlertName, String)] = [
    (.preferredNetworkMismatch, "PreferredNetworkMismatch"),
    (.datasetConflict, "DatasetConflict"),
    (.staleDataset, "StaleDataset"),
    (.credentialsMissing, "CredentialsMissing"),
    (.borderRouterOffline, "BorderRouterOffline"),
    (.wellKnownNetworkKey, "WellKnownNetworkKey"),
    (.noPreferredNetwork, "NoPreferredNetwork"),
    (.plaintextCredentials, "PlaintextCredentials"),
    (.messagesDropped, "MessagesDropped"),
    (.sessionLost, "SessionLost"),
    (.storeReadOnly, "StoreReadOnly"),
    (.brokerAuthenticationFailed, "BrokerAuthenticationFailed"),
    (.adoptionFailed, "AdoptionFailed"),
    (.routerDetached, "RouterDetached"),
    (.preferredKeyDisputed, "PreferredKeyDisputed"),
    (.preferredNetworkChanged, "PreferredNetworkChanged"),
    (.homeMoved, "HomeMoved"),
    (.sessionTakenOver, "SessionTakenOver"),
    (.storeDamaged, "StoreDamaged"),
    (.networkSplit, "NetworkSplit"),
    (.unknownRouter, "UnknownRouter"),
    (.consentByHomeAssistant, "ConsentByHomeAssistant"),
    (.discoveryAltered, "DiscoveryAltered"),
    (.homeAssistantDiffers, "HomeAssistantDiffers"),
  ]

  @Test("The words stay as they are", arguments: pinned)
  func stable(name: AlertName, text: String) {
    #expect(name.word.description == text)
    #expect(AlertName(word: text) == name)
  }

  @Test("None is forgotten here, and nothing else is a name")
  func complete() {
    #expect(Self.pinned.map(\.0) == AlertName.allCases)
    for text in ["", "storeDamaged", "StoreDamaged ", "Store"] {
      #expect(AlertName(word: text) == nil)
    }
  }

  @Test("The words for severities, the worst first")
  func severities() {
    #expect(AlertSeverity.allCases.map(\.word.description) == ["critical", "warning", "info"])
  }
}
