import Broker
import Foundation
import Testing

@Suite("What others publish on the daemon's topics", .inTurns, .timeLimit(.minutes(30))) struct AlteredTopicsTests {
  private static let inventedRouter = "threadkeeper/router/00000000000000aa"
  private static let inventedAlert = "threadkeeper/alert/00000000000000aa"

  /// What a client says that wants a state to look otherwise, in the form of the schemas; nil where it empties it.
  private static func falsified(_ text: String) -> String? {
    for (right, wrong) in [
      (#""state":"online""#, #""state":"offline""#), (#""home":"home""#, #""home":"attic""#),
      (#""intake":"running""#, #""intake":"connecting""#),
    ] where text.contains(right) { return text.replacing(right, with: wrong) }
    return nil
  }

  @Test(
    "Each kind that is falsified or emptied comes back, what is invented goes, and an alert says so",
    arguments: ["5", "'3.1.1'"]) func altered(version: String) async throws
  {
    let running = try await RunningHome(mqtt: ["protocol: \(version)"])
    let (hub, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await running.publish(
      hub.announces(try ThreadNetwork("home").hex()), stray.announces(try ThreadNetwork("guests").hex()))
    func isKept(_ topic: String) -> Bool {
      topic.hasPrefix("threadkeeper/") && !topic.contains("/bridge/event") && !topic.hasSuffix("/event")
        && !topic.hasSuffix("/bridge/daemon")
    }
    func kept(_ heard: Audience.Heard) -> [String: String] {
      heard.latest.filter { isKept($0.key) && !$0.value.isEmpty }
    }
    try await running.until("both routers, the alert, and what lists it") { heard in
      heard.latest[hub.topic] != nil && heard.latest[stray.topic] != nil
        && ["PreferredNetworkMismatch", "PlaintextCredentials"].allSatisfy {
          heard.alerts("alert_raised", $0).count == 1
            && heard.latest["threadkeeper/bridge/alerts"]?.contains($0) == true
        } && heard.latest["threadkeeper/bridge/consent"] != nil
        && heard.state("threadkeeper/bridge/info")?["routers"]?.number == 2
    }
    let before = running.audience.look(kept)
    let kinds = Set(before.keys.map { $0.split(separator: "/")[1] })
    #expect(kinds == ["bridge", "router", "network", "alert"], "\(before.keys)")

    for empties in [false, true] {
      var publications = before.map { topic, text in
        let wrong = empties ? nil : Self.falsified(text)
        return Publication(topic: topic, payload: Array((wrong ?? "").utf8), retain: true)
      }
      for (topic, source) in [
        (Self.inventedRouter, hub.topic), (Self.inventedAlert, before.keys.first { $0.contains("/alert/") } ?? ""),
      ] {
        let text = (before[source] ?? "").replacing(
          source.components(separatedBy: "/").last ?? "", with: "00000000000000aa")
        publications.append(Publication(topic: topic, payload: Array(text.utf8), retain: true))
      }
      try await running.publisher.publish(publications)
      let falsified = Dictionary(
        publications.map { ($0.topic, String(decoding: $0.payload, as: UTF8.self)) }, uniquingKeysWith: { $1 })
      func isLastHeard(_ heard: Audience.Heard) -> Bool {
        heard.messages.count { $0.topic == Self.inventedAlert && !$0.payload.isEmpty } == (empties ? 2 : 1)
      }
      try await running.until("what was altered, and then what is true") { heard in
        isLastHeard(heard)
          && before.allSatisfy { topic, text in
            // These have more by now.
            let changes = ["/bridge/health", "/bridge/alerts"].contains { topic.hasSuffix($0) }
            let now = heard.latest[topic, default: ""]
            return changes ? !now.isEmpty && now != falsified[topic] : now == text
          } && heard.latest[Self.inventedRouter] == "" && heard.latest[Self.inventedAlert] == ""
          && heard.alerts("alert_raised", "StateAltered").count == 1
      }
    }
    let alert = try #require(running.audience.look { $0.alerts("alert_raised", "StateAltered").first })
    #expect(alert["severity"] == "critical")
    #expect(alert["summary"]?.text?.contains("threadkeeper/") == true, "\(alert)")
    #expect(alert["remedy"]?.text?.contains("every login that the broker lets write there") == true)
    // The broker keeps nothing else.
    let later = try await Audience.start(running.broker)
    try await later.caughtUp()
    for (topic, text) in before where !topic.hasSuffix("/health") && !topic.hasSuffix("/alerts") {
      #expect(later.look { $0.latest[topic] } == text, "\(topic)")
    }
    #expect(later.look { $0.latest[Self.inventedRouter] } == nil)
    try await running.stop()
  }
}
