import Broker
import Home
import Testing

@Suite("Alert names") struct AlertNameTests {
  static let pinned: [(AlertName, String)] = [
    (.preferredNetworkMismatch, "PreferredNetworkMismatch"), (.datasetConflict, "DatasetConflict"),
    (.staleDataset, "StaleDataset"), (.credentialsMissing, "CredentialsMissing"),
    (.borderRouterOffline, "BorderRouterOffline"), (.wellKnownNetworkKey, "WellKnownNetworkKey"),
    (.noPreferredNetwork, "NoPreferredNetwork"), (.plaintextCredentials, "PlaintextCredentials"),
    (.messagesDropped, "MessagesDropped"), (.sessionLost, "SessionLost"), (.storeReadOnly, "StoreReadOnly"),
    (.brokerAuthenticationFailed, "BrokerAuthenticationFailed"), (.adoptionFailed, "AdoptionFailed"),
    (.routerDetached, "RouterDetached"), (.preferredKeyDisputed, "PreferredKeyDisputed"),
    (.preferredNetworkChanged, "PreferredNetworkChanged"), (.homeMoved, "HomeMoved"),
    (.sessionTakenOver, "SessionTakenOver"), (.storeDamaged, "StoreDamaged"), (.networkSplit, "NetworkSplit"),
    (.unknownRouter, "UnknownRouter"), (.consentByHomeAssistant, "ConsentByHomeAssistant"),
    (.discoveryAltered, "DiscoveryAltered"), (.homeAssistantDiffers, "HomeAssistantDiffers"),
    (.stateAltered, "StateAltered"), (.anotherDaemon, "AnotherDaemon"), (.anchorAltered, "AnchorAltered"),
    (.preferredNetworkEmpty, "PreferredNetworkEmpty"), (.routerNotAdvertised, "RouterNotAdvertised"),
    (.credentialSharingOpen, "CredentialSharingOpen"), (.homeOffline, "HomeOffline"),
    (.agentNotWorking, "AgentNotWorking"), (.networkChanges, "NetworkChanges"), (.reportsDiffer, "ReportsDiffer"),
    (.testAlert, "TestAlert"), (.threadPathBroken, "ThreadPathBroken"), (.zigbeeSharesChannel, "ZigbeeSharesChannel"),
    (.ghostNetwork, "GhostNetwork"), (.matterServerDiffers, "MatterServerDiffers"),
  ]

  @Test("The words stay as they are", arguments: pinned) func stable(name: AlertName, text: String) {
    #expect(name.word.description == text)
    #expect(AlertName(word: text) == name)
  }

  @Test("None is forgotten here, and nothing else is a name") func complete() {
    #expect(Self.pinned.map(\.0) == AlertName.allCases)
    for text in ["", "storeDamaged", "StoreDamaged ", "Store"] { #expect(AlertName(word: text) == nil) }
  }

  @Test("The words for severities, the worst first") func severities() {
    #expect(AlertSeverity.allCases.map(\.word.description) == ["critical", "warning", "info"])
  }
}

@Suite("Alert fingerprints") struct AlertFingerprintTests {
  @Test(
    "The fingerprints of these alerts never change",
    arguments: [
      ("home", AlertName.preferredNetworkMismatch, "a1b2c3d4e5f60718", "94d31dc734adfc7f"),
      ("home", .borderRouterOffline, "a1b2c3d4e5f60718", "7803019a3bc6a8cc"),
      ("cabin", .preferredNetworkMismatch, "a1b2c3d4e5f60718", "e3ce1145215c590e"),
      ("home", .storeReadOnly, "", "b0134f915fc4b05e"), ("", .sessionLost, "", "bd8a73a3dfec4b05"),
      ("hüs", .plaintextCredentials, "añña", "d65dcc47282054a4"),
    ]) func pinned(home: String, name: AlertName, subject: String, expected: String)
  {
    let fingerprint = AlertFingerprint(home: home, name: name, subject: subject)
    #expect(fingerprint.description == expected)
  }

  @Test("Another home, alert or subject is another fingerprint, wherever the texts are cut") func distinct() {
    var seen: Set<AlertFingerprint> = []
    for home in ["", "h", "ho", "home", "homeS"] {
      for name in AlertName.allCases {
        for subject in ["", "a", "ab", "StaleDataset", "SessionLost"] {
          seen.insert(AlertFingerprint(home: home, name: name, subject: subject))
        }
      }
    }
    #expect(seen.count == 5 * AlertName.allCases.count * 5)
  }
}
