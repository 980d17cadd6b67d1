import Broker
import TestKit
import Testing

@Suite("Alerts", .inTurns, .timeLimit(.minutes(30))) struct AlertTests {
  @Test("Routers and networks of one name have their ids in alerts and lists") func namesakes() async throws {
    let running = try await RunningHome()
    let (home, other) = (try ThreadNetwork("Home"), try ThreadNetwork("Home"))
    let (one, two) = (BorderRouter(number: 1), BorderRouter(number: 2))
    for (router, network) in [(one, home), (two, other)] {
      try await running.publish(router.says("announce", ("name", "\"Attic\""), ("dataset", "\"\(try network.hex())\"")))
      try await running.until("router \(router.agent)") { $0.state(router.topic) != nil }
    }
    let summary =
      #""Attic" (\#(two.agent)) is on "Home" (\#(other.extendedPANID)), not on the preferred network "#
      + #""Home" (\#(home.extendedPANID))"#
    try await running.until("the alert") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").contains { $0["summary"]?.text == summary }
    }
    let list = try await running.installation.run("networks")
    #expect([one, two].allSatisfy { list.contains("Attic (\($0.agent))") }, "\(list)")
    try await running.stop()
  }

  @Test("Every alert about a router rises with its condition and resolves with it") func conditions() async throws {
    let running = try await RunningHome(more: "presence: {offline_after: 1}")
    let home = try ThreadNetwork("home")
    let known = try ThreadNetwork("documented", networkKey: Array(stride(from: 0, to: 256, by: 17)).map(UInt8.init))
    let hub = BorderRouter(number: 1)
    let one = BorderRouter(number: 2)

    func raised(_ name: String, _ router: BorderRouter?) async throws {
      try await running.until("\(name) to be raised") {
        $0.alerts("alert_raised", name).contains { $0["router"]?.text == router?.agent }
      }
    }
    func resolved(_ name: String, _ router: BorderRouter?) async throws {
      try await running.until("\(name) to be resolved") {
        $0.alerts("alert_resolved", name).contains { $0["router"]?.text == router?.agent }
      }
    }

    // A router without a dataset: nothing is stored, and nothing is preferred.
    try await running.publish(one.says("announce"))
    try await raised("CredentialsMissing", one)
    try await raised("NoPreferredNetwork", nil)
    try await running.publish(hub.announces(try home.hex(at: 5)))
    try await resolved("NoPreferredNetwork", nil)
    try await running.publish(one.changes(to: try home.hex(at: 5)))
    try await resolved("CredentialsMissing", one)
    try await raised("PlaintextCredentials", nil)

    // The same age, other content; then older than what it had before.
    try await running.publish(one.changes(to: try home.hex(at: 5, channel: 26)))
    try await raised("DatasetConflict", one)
    #expect(try await running.installation.dataset(of: one.agent) == (try home.hex(at: 5)))
    try await running.publish(one.changes(to: try home.hex(at: 4)))
    try await raised("StaleDataset", one)
    try await resolved("DatasetConflict", one)
    try await running.publish(one.changes(to: try home.hex(at: 5)))
    try await resolved("StaleDataset", one)

    // A network key out of documentation.
    try await running.publish(one.changes(to: try known.hex()))
    try await raised("WellKnownNetworkKey", one)
    try await raised("PreferredNetworkMismatch", one)
    try await running.publish(one.changes(to: try home.hex(at: 6, channel: 20)))
    try await resolved("WellKnownNetworkKey", one)
    #expect(try await running.preferred == "home")

    // It says that it goes; it is silent.
    try await running.publish(hub.says("offline"))
    try await raised("BorderRouterOffline", hub)
    try await running.until("its availability") { $0.state("\(hub.topic)/availability") == ["state": "offline"] }
    try await running.publish(hub.says("heartbeat"))
    try await resolved("BorderRouterOffline", hub)
    try await running.until("its silence to be noticed") { $0.alerts("alert_raised", "BorderRouterOffline").count == 2 }
    // The other one goes, too: they are one alert, and it has none of its own.
    try await running.publish(one.says("offline"))
    try await raised("HomeOffline", nil)
    #expect(running.audience.look { $0.alerts("alert_raised", "BorderRouterOffline").count } == 2)
    // Being off is not leaving.
    #expect(try await running.installation.dataset(of: hub.agent) == (try home.hex(at: 5)))
    try await running.stop()
  }
}
