// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Alerts for a person")
struct AlertTextTests {
  private func alert(_ status: AlertState.Status, endsAt: Int64?) -> AlertState {
    AlertState(
      fingerprint: "0011", name: .borderRouterOffline, status: status, severity: .warning,
      home: "home",
      facts: AlertWords(
        summary: "Attic is offline", remedy: "Check its power, then run `threadkeeper routers`."),
      startsAt: WireTime(milliseconds: 1_000), updatedAt: WireTime(milliseconds: 2_000),
      endsAt: endsAt.map { WireTime(milliseconds: $0) }, sequence: 1)
  }

  @Test("A firing alert says since when, a resolved one when it was resolved")
  func period() {
    #expect(
      alert(.firing, endsAt: nil).text(style: .plain) == """
        warning BorderRouterOffline (firing since 1970-01-01T00:00:01Z)
          Attic is offline
          Check its power, then run `threadkeeper routers`.

        """)
    #expect(
      alert(.resolved, endsAt: 61_000).text(style: .plain).hasPrefix(
        "warning BorderRouterOffline (resolved at 1970-01-01T00:01:01Z, began at "
          + "1970-01-01T00:00:01Z)\n"))
  }
}
