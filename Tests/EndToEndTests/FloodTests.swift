import Broker
import Foundation
import TestKit
import Testing

@Suite("Floods", .inTurns, .timeLimit(.minutes(30))) struct FloodTests {
  fileprivate static let logins = EmbeddedBrokerConfiguration.Login.home + [.init("mallory")]

  @Test("A login that floods is refused by name and counted, and the others are served") func events() async throws {
    let running = try await RunningHome(
      logins: Self.logins, more: "limits: {events_per_second: 1, events_burst: 50, routers_per_team: 20}")
    let network = try ThreadNetwork("home").hex()
    let mallory = try await TestPublisher.start(running.broker, user: "mallory")
    try await mallory.publish((1_000..<1_400).map { BorderRouter(number: $0, user: "mallory").announces(network) })
    let own = BorderRouter(number: 1)
    try await running.publish(own.announces(network))
    try await running.until("the router of another login, and both rejections") { heard in
      let codes = Set(heard.events("message_rejected").compactMap { $0["code"]?.text })
      return heard.state(own.topic)?["credentials"] == "stored"
        && codes.isSuperset(of: ["rate_limited", "too_many_routers"])
    }
    #expect(try await running.installation.json("routers").list.count == 21)
    let lines = running.daemon.log.split(separator: "\n").count { $0.contains("border router announced") }
    #expect(lines <= 30, "\(lines) lines")
    try await running.stop()
  }
}

private enum HangingRecord { static let library = PreloadedLibrary("hanging_record") }

@Suite("Messages made to stop the intake", .inTurns, .timeLimit(.minutes(30))) struct PoisonTests {
  @Test(
    "A message that hangs the daemon is rejected after some kills, and all others are stored",
    .enabled(if: HangingRecord.library != nil, "there is no C compiler")) func hanging() async throws
  {
    let running = try await RunningHome(logins: FloodTests.logins, hold: 1)
    let installation = running.installation
    let network = try ThreadNetwork("home").hex()
    func announcements(_ numbers: ClosedRange<Int>) -> [Publication] {
      numbers.map { BorderRouter(number: $0).announces(network) }
    }
    try await running.publisher.publish(announcements(1...1))
    try await running.until("a router") { $0.state(BorderRouter(number: 1).topic) != nil }
    try await running.stop()
    let note = installation.directory.file("hangs")
    let text = "This one hangs"
    let variables = [
      "LD_PRELOAD": try #require(HangingRecord.library).path, "HANGING_NOTE": note, "HANGING_TEXT": text,
    ]
    let mallory = try await TestPublisher.start(running.broker, user: "mallory")
    try await running.publisher.publish(announcements(1...25))
    try await mallory.publish([
      BorderRouter(number: 99, user: "mallory").says("announce", ("dataset", "\"\(network)\""), ("name", "\"\(text)\""))
    ])
    try await running.publisher.publish(announcements(26...49))
    var kills = 0
    func isRejected() -> Bool {
      running.audience.look { heard in
        heard.events("message_rejected").contains {
          $0["code"]?.text == "cannot_apply" && $0["user"]?.text == "mallory"
        }
      }
    }
    while !isRejected(), kills < 12 {
      let daemon = try installation.launch(environment: variables)
      try await eventually("the daemon to hang, or the rejection") {
        FileManager.default.fileExists(atPath: note) || isRejected()
      }
      guard isRejected() else {
        try await daemon.kill9()
        try FileManager.default.removeItem(atPath: note)
        kills += 1
        continue
      }
      try await running.until("the last router") {
        $0.state(BorderRouter(number: 49).topic)?["credentials"] == "stored"
      }
      #expect(try await daemon.stop() == .exit(0))
    }
    // Batches of fewer and fewer messages first, then the message alone three times.
    #expect((3...9).contains(kills), "\(kills) kills")
    #expect(isRejected())
    let status = try await installation.serving { try await installation.status() }
    #expect(status["routers"] == 49)
  }
}
