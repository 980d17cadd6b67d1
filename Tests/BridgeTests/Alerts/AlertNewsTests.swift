// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("Alerts in the log")
struct AlertNewsTests {
  private func alert(_ name: AlertName, reason: String? = nil) -> AlertRecord {
    var facts = AlertFacts(summary: "what is wrong", remedy: "what to do")
    facts.reason = reason
    let now = WireTime(milliseconds: 0)
    return AlertRecord(
      fingerprint: AlertFingerprint(home: "home", name: name, subject: ""), home: 1, name: name,
      subject: "", phase: .firing, facts: facts, heldSince: now, startsAt: now, updatedAt: now,
      sequence: 1)
  }

  @Test("An alert is logged at the level of its severity, and its end as information")
  func levels() {
    let log = RecordingLog()
    var news = BatchNews()
    news.add(.alertRaised, alert(.wellKnownNetworkKey))
    news.add(.alertRaised, alert(.borderRouterOffline))
    news.add(.alertRaised, alert(.plaintextCredentials))
    news.add(.alertRaised, alert(.adoptionFailed, reason: "denied"))
    news.add(.alertResolved, alert(.wellKnownNetworkKey))
    news.log(to: log.logger)
    #expect(log.levels == [.critical, .warning, .info, .info, .info])
    #expect(
      log.lines[0] == "alert alertname=WellKnownNetworkKey remedy=what to do summary=what is wrong")
    #expect(log.lines[4] == "alert resolved alertname=WellKnownNetworkKey summary=what is wrong")
  }
}
