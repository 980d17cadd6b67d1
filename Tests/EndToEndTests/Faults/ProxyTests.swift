import TestKit
import Testing

/// A daemon that reaches its broker over a way that fails, and routers that report meanwhile.
private struct ProxyScene {
  private let scene: RelayedHome
  private var version = 1

  private var relay: Relay { scene.relay }
  private var installation: Installation { scene.installation }
  private var daemon: DaemonProcess { scene.daemon }
  private var publisher: TestPublisher { scene.publisher }
  private var home: ReportingHome { scene.home }

  static func faults(cutAfter bytes: Int) -> [Relay.Fault] {
    [.lostAcknowledgements, .cut(after: bytes), .blackHole, .duplicates, .slow]
  }

  static func start() async throws -> ProxyScene { ProxyScene(scene: try await .start()) }

  /// Every report while the fault lasts is stored, at the latest when it is over.
  mutating func round(_ fault: Relay.Fault) async throws {
    try await connected()
    version += 1
    let before = connections
    switch fault {
    case .lostAcknowledgements:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.hangUp()
    case .cut:
      relay.begin(fault)
      // What they send each other grows until the cut comes.
      while relay.fault != nil {
        version += 1
        try await publisher.publish(try home.reports(version))
      }
    case .blackHole:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try Soak.check(try await home.missing(version, in: installation) > 0, "something came through a black hole")
      relay.begin(nil)
    case .duplicates:
      relay.hangUp(then: fault)
      try await eventually("a connection with duplicates") { connections > before }
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.hangUp()
    case .slow:
      relay.begin(fault)
      try await publisher.publish(try home.reports(version))
      try await home.stored(version, in: installation)
      relay.begin(nil)
    }
    try await home.stored(version, in: installation, within: .seconds(120))
  }

  /// A broker that does not answer for longer than the keep-alive allows: the daemon connects again when it can.
  mutating func longSilence() async throws {
    try await connected()
    version += 1
    let before = losses
    relay.begin(.blackHole)
    try await publisher.publish(try home.reports(version))
    try await eventually(within: .seconds(150), "the daemon to give the connection up") { losses > before }
    relay.hangUp()
    try await home.stored(version, in: installation, within: .seconds(120))
  }

  /// - Returns: what named the faults.
  func end() async throws -> String {
    try await connected()
    try await scene.check(version)
    try await scene.health.until("health with duplicates and reconnects", within: .seconds(120)) {
      guard let state = $0.state("threadkeeper/bridge/health") else { return false }
      return state["duplicates_ignored"]?.number ?? 0 > 0 && state["intake_reconnects"]?.number ?? 0 > 0
    }
    let state = scene.health.state("threadkeeper/bridge/health")
    try await installation.checkStop(daemon)
    let reconnects = state?["intake_reconnects"]?.number ?? 0
    let duplicates = state?["duplicates_ignored"]?.number ?? 0
    return "health: `intake_reconnects` \(reconnects), `duplicates_ignored` \(duplicates)"
  }

  private func connected() async throws {
    try await eventually(within: .seconds(120), "the daemon to be connected") {
      let status = try await installation.status()
      return status["intake"]?["state"] == "running" && status["broker"]?["state"] == "connected"
    }
  }

  private var connections: Int { daemon.log.components(separatedBy: "intake connected").count }

  private var losses: Int { daemon.log.components(separatedBy: "intake disconnected").count }
}

@Suite("A way to the broker that fails", .inTurns, .timeLimit(.minutes(30))) struct ProxyTests {
  @Test("Lost acknowledgements, cuts, silence, duplicates, slowness: every report is stored, once") func eachOnce()
    async throws
  {
    var scene = try await ProxyScene.start()
    for fault in ProxyScene.faults(cutAfter: 1_000) { try await scene.round(fault) }
    _ = try await scene.end()
  }
}

@Suite("A way to the broker that fails for minutes", .serialized) struct ProxySoakTests {
  /// Each begins with a new daemon: one whose connections are cut again and again waits for up to a minute.
  private static let scenes = 6

  @Test("Any order of the faults, and a long silence", .enabled(if: Soak.proxy.isWanted, "`make soak` runs it"))
  func soakProxy() async throws {
    try await Soak.proxy.measure { ledger in
      for number in 1...Self.scenes {
        var scene = try await ProxyScene.start()
        for fault in ProxyScene.faults(cutAfter: .random(in: 0...6_000)).shuffled() {
          try await scene.round(fault)
          ledger.round()
        }
        if number == Self.scenes {
          try await scene.longSilence()
          ledger.round()
        }
        ledger.name(try await scene.end())
      }
    }
  }
}
