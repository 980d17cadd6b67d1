// SPDX-License-Identifier: Apache-2.0

import Bridge
import Home
import HomeStore
import Testing

@Suite("Snapshots of homes")
struct HomeSnapshotTests {
  @Test("A snapshot stays as it was while the home goes on")
  func staysAsItWas() {
    var home = Home(rules: HomeRules { 1 })
    let snapshot = HomeSnapshot(homes: ["home": home])
    let rules = HomeRules { 1 }
    _ = home.handle(
      .condition(.sessionLost, AlertFacts(.daemon)), at: WireTime(milliseconds: 1), rules: rules)
    #expect(!home.alerts.isEmpty)
    #expect(snapshot.homes["home"]?.alerts.isEmpty == true)
  }
}
