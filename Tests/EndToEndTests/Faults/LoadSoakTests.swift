import Broker
import Synchronization
import TestKit
import Testing

/// The short forms are in `BrokerTests` and `FloodTests`.
@Suite("More than usual", .serialized) struct LoadSoakTests {
  private static let backlog: UInt64 = 100_000
  private static let routers = 10_000
  private static let flood: UInt64 = 100_000

  @Test(
    "100,000 messages that waited while the daemon was away are all taken",
    .enabled(if: Soak.backlog.isWanted, "`make soak` runs it")) func soakBacklog() async throws
  {
    try await Soak.backlog.measure { ledger in
      let broker = try TestBroker()
      let port = try UnusedPort.next()
      let installation = try Installation(
        port: broker.port, hold: 60, more: "http: {enabled: true, port: \(port)}", logLevel: "info")
      var daemon = try await installation.start()
      try Soak.check(try await daemon.stop() == .exit(0), "it did not stop:\n\(daemon.log)")
      let publisher = LoadPublisher(try HomeLoad(), rate: 0, to: broker)
      // It ends with a new router.
      publisher.load.end(after: Self.backlog)
      try await publisher.finish(after: Self.backlog, within: .seconds(180))
      let begin = ContinuousClock.now
      daemon = try await installation.start()
      try await eventually(within: .seconds(180), "all that waited") {
        try await installation.status()["routers"]?.number == Int64(publisher.load.routers)
      }
      let seconds = begin.duration(to: .now).components.seconds
      ledger.lose(try await publisher.load.lost(in: installation))
      let metrics = try await RawAnswer.get("/metrics", port: Int(port)).body
      let taken = metrics.split(separator: "\n").first { $0.hasPrefix("threadkeeper_messages_received_total ") }
      let count = taken?.split(separator: " ").last.flatMap { UInt64($0) } ?? 0
      try Soak.check(count >= publisher.load.acknowledged, "only \(count) messages are counted")
      ledger.name("`messages_received_total` \(count), \(seconds) s after the start")
      ledger.round()
      try await installation.checkStop(daemon)
    }
  }

  @Test(
    "10,000 routers: a broker that forgets all of them gets all of them again",
    .enabled(if: Soak.forget.isWanted, "`make soak` runs it")) func soakForget() async throws
  {
    try await Soak.forget.measure { ledger in
      let broker = try TestBroker()
      let installation = try Installation(port: broker.port, hold: 0, logLevel: "info")
      let daemon = try await installation.start()
      let publisher = try await TestPublisher.start(broker)
      let home = try ReportingHome(Self.routers)
      try await publisher.publish(try home.reports(1))
      try await eventually(within: .seconds(120), "all routers") {
        try await installation.status()["routers"]?.number == Int64(Self.routers)
      }
      broker.kill()
      try broker.start()
      let audience = try await Audience.start(broker, "threadkeeper/#")
      try await audience.until("all that was retained, and the alert", within: .seconds(180)) { heard in
        heard.latest.count { $0.key.hasPrefix("threadkeeper/router/") && !$0.value.isEmpty } >= Self.routers
          && heard.latest.values.contains { $0.contains("SessionLost") }
      }
      ledger.lose(try await home.missing(1, in: installation))
      ledger.name("alert `SessionLost`; \(daemon.residentBytes / 1_000_000) MB resident")
      ledger.round()
      try await installation.checkStop(daemon)
    }
  }

  @Test(
    "A login that floods is refused and counted, and what others report meanwhile is stored",
    .enabled(if: Soak.flood.isWanted, "`make soak` runs it")) func soakFlood() async throws
  {
    try await Soak.flood.measure { ledger in
      let broker = try TestBroker()
      let installation = try Installation(
        port: broker.port, hold: 0, more: "limits: {events_burst: 1000, routers_per_team: 1000}", logLevel: "info")
      let daemon = try await installation.start()
      let audience = try await Audience.start(broker, "threadkeeper/bridge/health")
      let home = try ReportingHome(10)
      let publisher = try await TestPublisher.start(broker)
      let flood = FloodingLogin(count: Self.flood)
      let mallory = MosquittoClient(broker.configuration(clientID: "mallory"), handler: flood)
      let flooding = Task { try await mallory.run() }
      defer { flooding.cancel() }
      var version = 0
      var slowest = Duration.zero
      while !flood.isDone {
        version += 1
        let begin = ContinuousClock.now
        try await publisher.publish(try home.reports(version))
        try await home.stored(version, in: installation, within: .seconds(60))
        slowest = max(slowest, begin.duration(to: .now))
        ledger.round()
      }
      mallory.stop()
      ledger.lose(try await home.missing(version, in: installation))
      try await audience.until("the count of what was refused", within: .seconds(120)) {
        ($0.state("threadkeeper/bridge/health")?["messages_rejected"]?.number ?? 0) > Int64(Self.flood) / 2
      }
      let refused = audience.state("threadkeeper/bridge/health")?["messages_rejected"]?.number ?? 0
      let wait = slowest / .seconds(1)
      ledger.name(
        "`rate_limited`, `messages_rejected` \(refused); others waited \((wait * 10).rounded() / 10) s at most")
      try await installation.checkStop(daemon)
    }
  }
}

/// The short form is `KillTests`.
@Suite("kill -9 for minutes", .serialized) struct KillSoakTests {
  private static let kills = 300

  @Test(
    "300 kills at any moment, at 2,000 messages a second, lose nothing that the broker took",
    .enabled(if: Soak.kill.isWanted, "`make soak` runs it")) func soakKill() async throws
  {
    try await Soak.kill.measure { ledger in
      let broker = try TestBroker()
      let installation = try Installation(port: broker.port, hold: 60, logLevel: "notice")
      let witness = try await Audience.start(broker, "threadkeeper/bridge/state")
      var daemon = try await installation.start()
      let publisher = LoadPublisher(try HomeLoad(), rate: 2_000, to: broker)
      var online = 0
      for kill in 1...Self.kills {
        // One of three in its first steps, the others at work. How long those take depends on the machine.
        if !kill.isMultiple(of: 3) {
          try await eventually("the daemon to be online") { count("online", witness) > online || !daemon.isRunning }
        }
        try await Task.sleep(for: .milliseconds(.random(in: 1...600)))
        try Soak.check(daemon.isRunning, "it ended by itself:\n\(daemon.log)")
        try await daemon.kill9()
        online = count("online", witness)
        daemon = try installation.launch()
        ledger.round()
      }
      let load = publisher.load
      try await publisher.finish()
      try await eventually(within: .seconds(180), "all \(load.acknowledged) messages") {
        try await installation.status()["routers"]?.number == Int64(load.routers)
      }
      ledger.lose(try await load.lost(in: installation))
      let wills = count("offline", witness)
      try Soak.check(wills > Self.kills / 4, "only \(wills) last wills were published")
      ledger.name("`bridge/state` `offline`, \(wills) times; \(load.acknowledged) messages")
      try await installation.checkStop(daemon)
    }
  }

  private func count(_ state: String, _ witness: Audience) -> Int {
    let payload = Array(#"{"state":"\#(state)"}"#.utf8)
    return witness.look { $0.messages.count { $0.payload == payload } }
  }
}

/// Announces invented routers as fast as the broker takes them.
private final class FloodingLogin: MosquittoHandler {
  private let count: UInt64
  private let state = Mutex((sent: UInt64(0), acknowledged: UInt64(0)))

  init(count: UInt64) { self.count = count }

  var isDone: Bool { state.withLock { $0.acknowledged >= count } }

  func connected(_ session: MosquittoSession) { state.withLock { $0.sent = $0.acknowledged } }

  func received(_ batch: [IncomingMessage]) throws {}

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let end = min(count, state.sent + UInt64(limit))
      defer { state.sent = end }
      return (state.sent..<end).map { number in
        BorderRouter(number: 0x100_0000 + Int(number), user: "mallory").says("announce")
      }
    }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {
    state.withLock { $0.acknowledged += 1 }
  }

  func disconnected(_ event: MosquittoDisconnection) {}
}
