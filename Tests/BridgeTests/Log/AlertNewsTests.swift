// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Alerts in the log")
struct AlertNewsTests {
  private func add(
    _ name: AlertName, _ message: AlertFacts.Message, _ news: Alert.News = .raised,
    to batch: inout BatchNews
  ) {
    var facts = AlertFacts(message)
    facts.router = BorderAgentID(high: 0xA0, low: 0)
    facts.user = "otbr"
    facts.network = .init(ExtendedPANID(number: 1), "attic")
    let alert = Alert.began(facts, hold: 0, at: .init(milliseconds: 0)).0
    batch.add(.alert(AlertKey(name), alert, news, previousSeverity: nil), of: "home")
  }

  @Test("An alert is logged at the level of its severity, and its end as information")
  func levels() {
    let log = RecordingLog()
    var news = BatchNews()
    add(.wellKnownNetworkKey, .wellKnownKey, to: &news)
    add(.borderRouterOffline, .offline(.frozen), to: &news)
    add(.plaintextCredentials, .plaintext, to: &news)
    add(.adoptionFailed, .adoptionFailed(.denied, isConfiguredForPreferred: false), to: &news)
    add(.wellKnownNetworkKey, .wellKnownKey, .resolved, to: &news)
    news.log(to: log.logger)
    #expect(log.levels == [.critical, .warning, .info, .info, .info])
    let summary = #"summary="attic" uses a network key that is printed in public documentation"#
    #expect(
      log.lines[0] == "alert alertname=WellKnownNetworkKey remedy=Form a new network with a random "
        + "key: with this one, anybody nearby can join and listen. \(summary)")
    #expect(log.lines[4] == "alert resolved alertname=WellKnownNetworkKey \(summary)")
  }

  @Test("Its sentence begins with a capital, unless that is an id or a login")
  func sentences() {
    var news = BatchNews()
    add(
      .noPreferredNetwork, .noPreferred(isForgotten: true, networks: [], more: 0), .resolved,
      to: &news)
    add(.borderRouterOffline, .offline(.frozen), to: &news)
    add(.plaintextCredentials, .plaintext, to: &news)
    let texts = news.events(at: .init(milliseconds: 0)).map(\.text)
    #expect(texts[0].hasPrefix("Resolved: No network is preferred"))
    #expect(texts[1].hasPrefix("00000000000000a0"))
    #expect(texts[2].hasPrefix("otbr sends network keys"))
  }

  @Test("A remedy names the home where there are several")
  func homes() {
    let log = RecordingLog()
    for isOnlyHome in [true, false] {
      var news = BatchNews()
      var facts = AlertFacts(.joined)
      facts.router = BorderAgentID(high: 1, low: 0)
      let alert = Alert.began(facts, hold: 0, at: .init(milliseconds: 0)).0
      news.add(
        .alert(AlertKey(.unknownRouter), alert, .raised, previousSeverity: nil), of: "attic",
        isOnlyHome: isOnlyHome)
      news.log(to: log.logger)
    }
    #expect(log.lines.map { $0.contains(" --home attic`") } == [false, true])
  }
}
