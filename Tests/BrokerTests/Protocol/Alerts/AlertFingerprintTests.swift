// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Testing

@Suite("Alert fingerprints")
struct AlertFingerprintTests {
  @Test(
    "The fingerprints of these alerts never change",
    arguments: [
      ("home", AlertName.preferredNetworkMismatch, "a1b2c3d4e5f60718", "94d31dc734adfc7f"),
      ("home", .borderRouterOffline, "a1b2c3d4e5f60718", "7803019a3bc6a8cc"),
      ("cabin", .preferredNetworkMismatch, "a1b2c3d4e5f60718", "e3ce1145215c590e"),
      ("home", .storeReadOnly, "", "b0134f915fc4b05e"),
      ("", .sessionLost, "", "bd8a73a3dfec4b05"),
      ("hüs", .plaintextCredentials, "añña", "d65dcc47282054a4"),
    ])
  func pinned(home: String, name: AlertName, subject: String, expected: String) {
    let fingerprint = AlertFingerprint(home: home, name: name, subject: subject)
    #expect(fingerprint.description == expected)
  }

  @Test("Another home, alert or subject is another fingerprint, wherever the texts are cut")
  func distinct() {
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
