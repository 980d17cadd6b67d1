import Broker
import TestKit
import Testing

@Suite("Alerts", .inTurns, .timeLimit(.minutes(30))) struct AlertTests {
  @Test("After a restart no alert is published again but one that the broker does not have") func restart() async throws
  {
    let running = try await RunningHome()
    let (hub, strays) = (BorderRouter(number: 1), [BorderRouter(number: 2), BorderRouter(number: 3)])
    try await running.publish(hub.announces(try ThreadNetwork("home").hex()))
    try await running.until("the router") { $0.state(hub.topic) != nil }
    let guests = try ThreadNetwork("guests").hex()
    for router in strays { try await running.publish(router.announces(guests)) }
    try await running.until("the alerts") { $0.alerts("alert_raised", "PreferredNetworkMismatch").count == 2 }
    let topics = running.audience.look { heard in
      heard.latest.keys.filter { heard.state($0)?["alertname"] == "PreferredNetworkMismatch" && $0.contains("/alert/") }
    }
    let (kept, lost) = (try #require(topics.first), try #require(topics.last))
    func published(_ topic: String) -> Int { running.audience.look { $0.messages.count { $0.topic == topic } } }
    let before = published(kept)
    try await running.stop()
    try await running.publish(Publication(topic: lost, payload: [], retain: true))
    try await running.until("that it is gone") { $0.latest[lost] == "" }
    try await running.start()
    try await running.until("what was lost") { $0.state(lost)?["status"] == "firing" }
    #expect(topics.count == 2 && published(kept) == before)
    #expect(running.audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").count } == 2)
    try await running.stop()
  }
}
