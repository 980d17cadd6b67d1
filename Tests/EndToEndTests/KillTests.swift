import Broker
import Synchronization
import TestKit
import Testing

@Suite("kill -9 under load", .inTurns, .timeLimit(.minutes(30))) struct KillTests {
  /// Routers that send their network's newer and newer dataset.
  private static let routers = 40
  /// Routers that go to and fro between two networks.
  private static let wanderers = 4
  private static let kills = 10
  /// Rounds that may wait on the broker.
  private static let ahead = 20

  /// What was sent and acknowledged by the broker.
  private struct Sent {
    var rounds: UInt64 = 0
    var isDone = false
  }

  @Test("Ten kills lose nothing that the broker took, and nothing happens twice", .beginsFirst) func kills()
    async throws
  {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker, "threadkeeper/bridge/#")
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let load = Load(
      home: home, guests: guests, routers: (1...Self.routers).map { BorderRouter(number: $0, user: "user-\($0 % 7)") },
      wanderers: (1...Self.wanderers).map { BorderRouter(number: 0x1000 + $0, user: "wanderer") })
    // The first start makes the session on the broker; from here on nothing may be lost.
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish(try load.announcements())

    let sent = Mutex(Sent())
    async let sending: Void = {
      while !sent.withLock({ $0.isDone }) {
        let round = sent.withLock { $0.rounds } + 1
        // Not further ahead than the daemon can follow: some batches wait for it at any time.
        let expected = (Int(round) - Self.ahead) * (Self.routers + Self.wanderers)
        try await audience.until("round \(round - 1)", within: .seconds(60)) { heard in
          heard.events.count >= expected || sent.withLock { $0.isDone }
        }
        try await publisher.publish(try load.round(round))
        sent.withLock { $0.rounds = round }
      }
    }()

    var random = SystemRandomNumberGenerator()
    for kill in 1...Self.kills {
      // Somewhere in the middle of the work: after that many events were told, or right at the start.
      if !kill.isMultiple(of: 5) {
        let events = audience.look { $0.events.count } + Int.random(in: 1...250, using: &random)
        try await audience.until("event \(events), before kill \(kill)") { heard in
          heard.events.count >= events || !daemon.isRunning
        }
      } else {
        try await eventually("the store to be open") { daemon.log.contains("connected") }
      }
      try #require(daemon.isRunning, "it ended by itself: \(daemon.log)")
      try await daemon.kill9()
      daemon = try installation.launch()
    }
    sent.withLock { $0.isDone = true }
    try await sending
    let rounds = sent.withLock { $0.rounds }
    #expect(rounds > 4, "there was hardly any load")

    try await installation.ready(daemon)
    // One more message, and everything before it is through.
    let last = BorderRouter(number: 0x2000, user: "last")
    try await publisher.publish([last.announces(try home.hex())])
    try await audience.until("the last router", within: .seconds(60)) {
      $0.events("router_announced").contains { $0["border_agent_id"]?.text == last.agent }
    }
    try await check(installation, load, rounds: rounds, audience: audience)
    #expect(try await daemon.stop() == .exit(0))
    let report = try installation.verify()
    #expect(report.matchesManifest)
    #expect(report.unreadable.isEmpty)
  }

  @Test("What was committed but never acknowledged comes again, and does nothing again") func repetition() async throws
  {
    let rounds: UInt64 = 6
    let broker = try TestBroker()
    let relay = try Relay(to: broker.port)
    let installation = try Installation(port: relay.port, hold: 0)
    let audience = try await Audience.start(broker)
    let load = Load(
      home: try ThreadNetwork("home"), guests: try ThreadNetwork("guest-thread"),
      routers: (1...8).map { BorderRouter(number: $0) },
      wanderers: (1...4).map { BorderRouter(number: 0x1000 + $0, user: "wanderer") })
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    func publishes(_ publications: [Publication], routers: Int64) async throws {
      try await publisher.publish(publications)
      try await eventually("\(routers) routers") { try await installation.status()["routers"]?.number == routers }
    }
    try await publishes(try load.announcements(), routers: 12)

    relay.begin(.lostAcknowledgements)
    for round in 1...rounds { try await publisher.publish(try load.round(round)) }
    func alerts() async throws -> [JSON] {
      try await installation.json("alerts", "--all").list.filter { $0["alertname"] == "PreferredNetworkMismatch" }
    }
    try await eventually("all rounds to be stored") {
      try await installation.json("credentials", "list").list.contains {
        $0["border_agent_id"]?.text == load.routers.last?.agent && $0["active_timestamp"]?.number == Int64(1 + rounds)
      }
    }
    let before = try await alerts()
    #expect(before.count == load.wanderers.count)
    #expect(before.allSatisfy { $0["seq"]?.number == Int64(rounds) })

    let told = audience.look { $0.messages.count }
    try await daemon.kill9()
    relay.hangUp()
    daemon = try await installation.start()
    let last = BorderRouter(number: 0x2000, user: "last")
    try await publishes([last.announces(try load.home.hex())], routers: 13)
    try await audience.until("the repetitions to be counted") { heard in
      heard.messages.dropFirst(told).contains {
        $0.topic == "threadkeeper/bridge/health"
          && JSON(String(decoding: $0.payload, as: UTF8.self))?["duplicates_ignored"]?.number ?? 0 > 0
      }
    }
    #expect(try await alerts() == before)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A clean stop in the middle of the load loses nothing either") func stopUnderLoad() async throws {
    let running = try await RunningHome(hold: 60)
    let (installation, audience) = (running.installation, running.audience)
    let dataset = try ThreadNetwork("home").hex()
    for part in 1...2 {
      let routers = (1...400).map { BorderRouter(number: part * 1000 + $0) }
      let events = audience.look { $0.events.count }
      async let published = running.publisher.publish(routers.map { $0.announces(dataset) })
      try await audience.until("some of part \(part)") { $0.events.count >= events + 20 || !running.daemon.isRunning }
      try await running.stop()
      _ = try await published
      try await running.start()
    }
    try await eventually("all routers") { try await installation.status()["routers"] == 800 }
    let status = try await installation.status()
    #expect(status["credentials"] == 800)
    #expect(status["store"]?["condition"] == "healthy")
    try await running.stop()
  }

  private func check(_ installation: Installation, _ load: Load, rounds: UInt64, audience: Audience) async throws {
    let status = try await installation.status()
    #expect(status["store"]?["condition"] == "healthy")
    #expect(status["routers"]?.number == Int64(Self.routers + Self.wanderers + 1))
    #expect(status["credentials"]?.number == Int64(Self.routers + Self.wanderers + 1))
    let isAway = !rounds.isMultiple(of: 2)
    #expect(status["networks"] == (isAway ? 2 : 1))

    // 0 lost: every router has what it sent last.
    let stored = try await installation.json("credentials", "list").list
    for router in load.routers {
      let credential = stored.first { $0["border_agent_id"]?.text == router.agent }
      #expect(credential?["active_timestamp"]?.number == Int64(1 + rounds), "\(router.agent)")
    }
    #expect(try await installation.dataset(of: load.routers[0].agent) == (try load.home.hex(at: 1 + rounds)))
    for wanderer in load.wanderers {
      let network = stored.first { $0["border_agent_id"]?.text == wanderer.agent }?["network_name"]
      #expect(network == (isAway ? "guest-thread" : "home"))
    }
    let networks = try await installation.json("networks").list
    let away = networks.first { $0["network_name"] == "guest-thread" }?["routers"]?.number
    let atHome = networks.first { $0["network_name"] == "home" }?["routers"]?.number
    let settled = Int64(Self.routers + 1)
    #expect(away ?? 0 == (isAway ? Int64(Self.wanderers) : 0))
    #expect(atHome == settled + (isAway ? 0 : Int64(Self.wanderers)))

    // Nothing twice: every departure raises the alert, every return resolves it, and each of them
    // counts. A batch that was applied again would count again.
    let alerts = try await installation.json("alerts", "--all").list.filter {
      $0["alertname"] == "PreferredNetworkMismatch" && $0["seq"]?.number ?? 0 > 1
    }
    for wanderer in load.wanderers {
      let alert = alerts.first { $0["router"]?.text == wanderer.agent }
      #expect(alert?["seq"]?.number == Int64(rounds), "\(wanderer.agent)")
      #expect(alert?["status"]?.text == (isAway ? "firing" : "resolved"))
    }
  }
}

/// What is sent while the daemon is killed again and again.
private struct Load {
  let home: ThreadNetwork
  let guests: ThreadNetwork
  let routers: [BorderRouter]
  let wanderers: [BorderRouter]

  func announcements() throws -> [Publication] {
    try (routers + wanderers).map { $0.announces(try home.hex(), sequence: 1) }
  }

  /// Every router says that the network has moved on; every wanderer leaves for the guests' network
  /// or comes back.
  func round(_ round: UInt64) throws -> [Publication] {
    let newer = try home.hex(at: 1 + round)
    let away = try guests.hex()
    let isLeaving = !round.isMultiple(of: 2)
    return try wanderers.map { $0.changes(to: isLeaving ? away : try home.hex(at: 1), sequence: 1 + round) }
      + routers.map { $0.changes(to: newer, sequence: 1 + round) }
  }
}
