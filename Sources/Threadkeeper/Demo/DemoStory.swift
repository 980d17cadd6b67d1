import ArgumentParser
import Bridge
import Broker
import FoundationEssentials
import Glibc
import Home
import Logging
import ServiceDiscovery
import ServiceLifecycle
import Settings
import StatusPage
import ThreadDataset

/// `threadkeeper demo`
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "demo", "Watch the daemon work, with a private broker and simulated border routers.",
    """
    Begins with a link to the status page. On a terminal the page stays until you press Ctrl-C; otherwise \
    it ends with the story, after less than a minute. Needs the program mosquitto, listens on 127.0.0.1 \
    only, sends nothing on the local network, and leaves nothing behind.

    Example:
      threadkeeper demo
    """)

  func run() async throws {
    StopSignals.ignoreOthers()
    var services = ServiceGroupConfiguration(
      services: [
        .init(
          service: DemoShow(), successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .gracefullyShutdownGroup)
      ], logger: DemoShow.logger)
    StopSignals.stop(&services)
    let group = ServiceGroup(configuration: services)
    do { try await group.run() } catch is CancellationError { throw ThreadkeeperCommand.stopped }
  }
}

/// The demonstration as a service: who interrupts it, also while it starts, finds everything put away. All of it is in a
/// temporary directory.
private struct DemoShow: Service {
  static let logger = Logger(label: "threadkeeper.demo") { _ in SwiftLogNoOpLogHandler() }

  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/threadkeeper-demo-\(UUID().uuidString)"
    guard mkdir(directory, 0o700) == 0 else {
      throw CommandFailure(
        .cannotCreate, "the directory \(directory) cannot be made: \(String(cString: strerror(errno)))",
        remedy: "set TMPDIR to a directory that this user may write to")
    }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var settings = Settings(stateDirectory: directory)
    settings.eachHome.alertsHold = DemoStory.hold
    settings.homeAssistant.discovery = .off
    // Any that is free.
    (settings.mqtt.port, settings.http.port) = (0, 0)
    settings.http.token = SecretText(PageToken.make())
    let daemon = try Daemon.start(
      settings,
      logins: [.init("threadkeeper", role: .daemon), .init("monitor", role: .monitor)]
        + DemoStory.routers.map { .init($0) }, ask: { _ in nil }, logger: Self.logger)
    defer { daemon.end() }
    try await daemon.run(playing: DemoStory(daemon))
  }
}

/// What the daemon is played: a home with two routers, a third one on another network, and a fourth that is only seen by
/// mDNS.
struct DemoStory: Service {
  /// Seconds for which a condition must last here; the default of 30 would make a long film.
  static let hold = 2
  static let routers = ["hub", "speaker", "wifi-router"]

  private let daemon: Daemon
  private let timeline: Timeline
  private let audience: DemoClient
  private let home: DemoNetwork
  private let guests: DemoNetwork
  private let hub: SimulatedRouter
  private let speaker: SimulatedRouter
  private let wifi: SimulatedRouter

  init(_ daemon: Daemon) throws {
    let timeline = Timeline()
    (self.daemon, self.timeline) = (daemon, timeline)
    audience = DemoClient(daemon, "monitor", subscribingTo: ["threadkeeper/#"]) { timeline.show($0) }
    home = try DemoNetwork(name: "home", channel: 15)
    guests = try DemoNetwork(name: "guest-thread", channel: 20)
    func router(_ user: String, _ name: String, _ agent: String) -> SimulatedRouter {
      SimulatedRouter(user: user, name: name, agent: agent, client: DemoClient(daemon, user), timeline: timeline)
    }
    hub = router("hub", "Hallway hub", "a1b2c3d4e5f60701")
    speaker = router("speaker", "Kitchen speaker", "a1b2c3d4e5f60702")
    wifi = router("wifi-router", "Wi-Fi router", "a1b2c3d4e5f60703")
  }

  private var bridge: Bridge { daemon.operations.bridge }

  /// Plays it to its end: in some seconds, on a terminal in half a minute. There the page stays.
  func run() async throws {
    let clients = [audience, hub.client, speaker.client, wifi.client]
    let running = clients.map { client in Task { try await client.run() } }
    func end() async {
      bridge.discovery?.stop()
      for client in clients { client.stop() }
      for task in running { _ = await task.result }
    }
    do {
      try await cancelWhenGracefulShutdown {
        try await play()
        guard StandardStream.output.isTerminal else { return }
        timeline.write("The page stays until you press Ctrl-C.\n")
        // All that was promised is done: Ctrl-C is no interruption now.
        while (try? await Task.sleep(for: .seconds(3_600))) != nil {}
      }
    } catch {
      await end()
      throw error
    }
    await end()
  }

  private func play() async throws {
    // From then on all that a router publishes is received.
    try await until("the daemon and the audience to be connected") {
      bridge.monitor.snapshot.intake.state == .running && $0.contains { $0.topic == "threadkeeper/bridge/state" }
    }
    if let link = try await link() { timeline.write("The status page of this demonstration: \(link)\n") }
    timeline.write(
      "A private broker, an encrypted store, four simulated border routers. "
        + "Alerts are held for \(Self.hold) s here (30 s unless configured).\n")
    if let pause { timeline.write("It begins in \(pause) seconds.\n") }
    try await settle()
    try await migrate()
    try await part()
    try await discover()
    try summarize()
  }

  /// Where a browser opens the page; waits until it is there.
  private func link() async throws -> String? {
    var http = daemon.operations.settings.http
    guard let page = daemon.page, let token = http.token else { return nil }
    while page.condition.current == .starting { try await Task.sleep(for: .milliseconds(10)) }
    guard case .listening(let port) = page.condition.current else { return nil }
    http.port = UInt16(clamping: port)
    return PageToken.link(http, token: token.revealed)
  }

  private func settle() async throws {
    try await act("Two routers at home, one on another network")
    hub.announce(home.dataset, ssid: "home-wifi")
    try await received("preferred_changed", of: hub.agent)
    speaker.announce(home.dataset, ssid: "home-wifi")
    try await received("dataset_stored", of: speaker.agent)
    wifi.announce(guests.dataset, ssid: "home-wifi")
    try await received("alert_raised", of: "PreferredNetworkMismatch")

    try await act("The SSID changes: the router is checked against the preferred network")
    wifi.changeSSID(from: "home-wifi", to: "home-wifi-6")
    try await received("ssid_changed", of: wifi.agent)

    try await act("It is given the preferred network's credentials, and the alert resolves")
    wifi.change(home.dataset, "is on home now")
    try await received("alert_resolved", of: "PreferredNetworkMismatch")
  }

  private func migrate() async throws {
    try await act("The home's dataset changes; the others follow in time, so no alert rises")
    let newer = try home.onChannel(25)
    hub.change(newer, "moves the network to channel 25")
    try await received("preferred_changed", of: hub.agent, count: 2)
    for router in [speaker, wifi] {
      router.change(newer, "follows to channel 25")
      try await received("dataset_updated", of: router.agent, count: router.agent == wifi.agent ? 2 : 1)
    }
  }

  private func part() async throws {
    try await act("A router leaves the Thread network")
    wifi.leave()
    try await received("router_left", of: wifi.agent)
    let topic = "threadkeeper/router/\(wifi.agent)"
    try await until("the retained state of the router that left is gone") {
      $0.last { $0.topic == topic }?.payload.isEmpty == true
    }
  }
}

extension DemoStory {
  /// Last, so that the page still shows two networks when a person opens it.
  private func discover() async throws {
    try await act("Another router is seen by mDNS. Its record is simulated: nothing is sent on your network")
    let box = AdvertisedRouter(name: "TV box (simulated)", network: "tv-thread")
    timeline.line("mdns", "a record of \(box.name), on \(box.network)")
    // What a search of the local network would have found.
    bridge.discovery?.receive(.found(box.record))
    bridge.discovery?.receive(.listed)
    try await received("router_discovered", of: box.agent)
    // Of severity info: a device of another maker often has a network of its own, on purpose.
    try await received("alert_raised", of: box.agent)
    timeline.write(
      "          Accept \(box.network) on the page, and the alert ends.\n"
        + "          The command in its remedy is for a home of your own.\n")
  }
}

/// The story goes on when the daemon has said what it must say.
extension DemoStory {
  private static let limit = Duration.seconds(15)

  /// - Parameter subject: the name of an alert, or a border agent id.
  private func received(_ event: String, of subject: String, count: Int = 1) async throws {
    try await until("\(event) of \(subject)") { $0.count { $0.isEvent(event) && $0.says(subject) } >= count }
  }

  /// Seconds before each act, so that a person can follow on the page; nil where no person watches.
  private var pause: Int? { StandardStream.output.isTerminal ? 4 : nil }

  /// Begins the next part of the story.
  private func act(_ heading: String) async throws {
    if let pause { try await Task.sleep(for: .seconds(pause)) }
    timeline.heading(heading)
  }

  private func until(_ what: String, _ condition: ([IncomingMessage]) -> Bool) async throws {
    let deadline = ContinuousClock.now + Self.limit
    while !condition(audience.messages) {
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(.software, "the demonstration waited for \(what) in vain")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

extension DemoStory {
  /// What is left at the end, counted and looked for, not claimed.
  private func summarize() throws {
    guard let found = bridge.loop.homes.home("home") else { return }
    let counts = HomeCounts(found)
    let messages = audience.messages
    let (raised, resolved) = (
      messages.count { $0.isEvent("alert_raised") }, messages.count { $0.isEvent("alert_resolved") }
    )
    let keys = [home.key, guests.key]
    let directory = daemon.operations.settings.store.path
    let files = try FileManager.default.contentsOfDirectory(atPath: directory).compactMap {
      FileManager.default.contents(atPath: directory + "/" + $0).map { Array($0) }
    }
    let leaks = (messages.map(\.payload) + files).count { bytes in keys.contains { bytes.holds($0) } }
    timeline.heading("Summary")
    timeline.write(
      """
        routers            \(counts.routers.listed)
        networks           \(counts.networks)
        credentials        \(counts.credentials), encrypted
        preferred network  \(found.preferred?.dataset.name ?? "none")
        alerts             \(raised) raised, \(resolved) resolved
        network keys found in \(messages.count) published messages and in the store's files: \(leaks)

      """)
    guard leaks == 0 else { throw CommandFailure(.software, "a network key was found where none may be") }
  }
}

extension IncomingMessage {
  /// Of the home, or of an alert.
  fileprivate func isEvent(_ type: String) -> Bool { topic.hasPrefix("threadkeeper/bridge/event") && says(type) }
  fileprivate func says(_ word: String) -> Bool { String(decoding: payload, as: UTF8.self).contains("\"\(word)\"") }
}

extension [UInt8] {
  /// Whether a key is in there, as bytes or as hex.
  fileprivate func holds(_ key: NetworkKey) -> Bool {
    let text = Array(key.revealedHex.utf8)
    return contains(key.bytes) || contains(text) || contains(Array(key.revealedHex.uppercased().utf8))
  }
}
