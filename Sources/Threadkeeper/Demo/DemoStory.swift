import Broker
import FoundationEssentials
import Home
import ServiceDiscovery
import SodiumCrypto
import Synchronization
import ThreadDataset
import Wire

/// What the demo shows: a home with two routers, a third one on another network, and a fourth that is only seen by
/// mDNS.
struct DemoStory {
  static let routers = ["hub", "speaker", "wifi-router"]

  private let stage: DemoStage
  private let home: DemoNetwork
  private let guests: DemoNetwork
  private let hub: SimulatedRouter
  private let speaker: SimulatedRouter
  private let wifi: SimulatedRouter

  init(stage: DemoStage) throws {
    self.stage = stage
    home = try DemoNetwork(name: "home", channel: 15)
    guests = try DemoNetwork(name: "guest-thread", channel: 20)
    hub = SimulatedRouter("hub", "Hallway hub", agent: "a1b2c3d4e5f60701", stage)
    speaker = SimulatedRouter("speaker", "Kitchen speaker", agent: "a1b2c3d4e5f60702", stage)
    wifi = SimulatedRouter("wifi-router", "Wi-Fi router", agent: "a1b2c3d4e5f60703", stage)
  }

  /// Tells it to its end: in some seconds, on a terminal in half a minute.
  func tell() async throws {
    if let link = await stage.link { stage.timeline.write("The status page of this demonstration: \(link)\n") }
    stage.timeline.write(
      "A private broker, an encrypted store, four simulated border routers. "
        + "Alerts are held for \(DemoStage.hold) s here (30 s unless configured).\n")
    if let pause = stage.pause { stage.timeline.write("It begins in \(pause) seconds.\n") }
    let cast = [hub, speaker, wifi]
    let running = cast.map { router in Task { try await router.client.run() } }
    defer { cast.forEach { $0.client.stop() } }
    try await settle()
    try await migrate()
    try await part()
    try await discover()
    for router in cast { router.client.stop() }
    for task in running { _ = await task.result }
    try DemoSummary(stage: stage, keys: [home.key, guests.key]).tell()
  }

  private func settle() async throws {
    try await stage.act("Two routers at home, one on another network")
    hub.announce(home.dataset, ssid: "home-wifi")
    try await stage.heard("preferred_changed", from: hub)
    speaker.announce(home.dataset, ssid: "home-wifi")
    try await stage.heard("dataset_stored", from: speaker)
    wifi.announce(guests.dataset, ssid: "home-wifi")
    try await stage.heardAlert("alert_raised", "PreferredNetworkMismatch")

    try await stage.act("The SSID changes: the router is checked against the preferred network")
    wifi.changeSSID(from: "home-wifi", to: "home-wifi-6")
    try await stage.heard("ssid_changed", from: wifi)

    try await stage.act("It is given the preferred network's credentials, and the alert resolves")
    wifi.change(home.dataset, "is on home now")
    try await stage.heardAlert("alert_resolved", "PreferredNetworkMismatch")
  }

  private func migrate() async throws {
    try await stage.act("The home's dataset changes; the others follow in time, so no alert rises")
    let newer = try home.onChannel(25)
    hub.change(newer, "moves the network to channel 25")
    try await stage.heard("preferred_changed", from: hub, count: 2)
    for router in [speaker, wifi] {
      router.change(newer, "follows to channel 25")
      try await stage.heard("dataset_updated", from: router, count: router === wifi ? 2 : 1)
    }
  }

  private func part() async throws {
    try await stage.act("A router leaves the Thread network")
    wifi.leave()
    try await stage.heard("router_left", from: wifi)
    let topic = "threadkeeper/router/\(wifi.agent)"
    try await stage.until("the retained state of the router that left is gone") {
      $0.last { $0.topic == topic }?.payload.isEmpty == true
    }
  }
}

extension DemoStory {
  /// Last, so that the page still shows two networks when a person opens it.
  private func discover() async throws {
    try await stage.act("Another router is seen by mDNS. Its record is simulated: nothing is sent on your network")
    let box = AdvertisedRouter(name: "TV box (simulated)", network: "tv-thread")
    stage.timeline.line("mdns", "a record of \(box.name), on \(box.network)")
    stage.discover(box.record)
    try await stage.heard("router_discovered", from: box.agent)
    // Of severity info: a device of another maker often has a network of its own, on purpose.
    try await stage.heardAlert("alert_raised", box.agent)
    stage.timeline.write(
      "          Accept \(box.network) on the page, and the alert ends.\n"
        + "          The command in its remedy is for a home of your own.\n")
  }
}

/// A Thread network with random keys.
struct DemoNetwork {
  let key: NetworkKey
  let dataset: OperationalDataset

  init(name: String, channel: UInt16) throws {
    var random = SystemRandomNumberGenerator()
    dataset = try OperationalDataset(
      completing: [.networkName(name), .channel(Channel(number: channel))], from: &random)
    guard let key = dataset.networkKey else { throw CommandFailure(.software, "the demonstration's dataset is wrong") }
    self.key = key
  }

  /// The same network, a second newer.
  func onChannel(_ number: UInt16) throws -> OperationalDataset {
    guard let timestamp = dataset.activeTimestamp?.later() else { return dataset }
    return try dataset.replacing(.activeTimestamp(timestamp), .channel(Channel(number: number)))
  }
}

/// Tells what happens in one line each: what the routers do, and what the daemon says to it.
final class Timeline: Sendable {
  private let start = ContinuousClock.now
  private let style = TerminalStyle(of: .output)
  private let output = Mutex(())

  func heading(_ text: String) { write("\n" + style.bold(text) + "\n") }

  func write(_ text: String) {
    // Where standard output is closed, nobody watches.
    output.withLock { _ in try? StandardStream.output.write(text) }
  }

  /// Events and alerts of the daemon, in words.
  func tell(_ message: IncomingMessage) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard message.topic.hasSuffix("bridge/event") || message.topic.hasSuffix("bridge/event/alert"),
      let event = try? decoder.decode(Heard.self, from: Data(message.payload))
    else { return }
    let words = event.words.printable
    switch event.eventType {
    case "alert_raised": line("daemon", style.red(words))
    case "alert_resolved": line("daemon", style.green(words))
    default: line("daemon", words)
    }
  }

  /// What somebody does or says.
  func line(_ who: String, _ text: String) {
    let elapsed = ContinuousClock.now - start
    let tenths = elapsed / .milliseconds(100)
    let clock = "\(Int(tenths) / 10).\(Int(tenths) % 10)s"
    let padding = String(repeating: " ", count: max(0, 6 - clock.count))
    let name = who + String(repeating: " ", count: max(0, 12 - who.count))
    write("\(padding)\(clock)  \(name) \(text)\n")
  }

  /// The fields of an event that the timeline tells.
  private struct Heard: Decodable {
    let eventType: String
    let borderAgentId, networkName, alertname, severity, summary, ssid, preferred: String?
    let differs: [String]?

    var words: String {
      let router = borderAgentId ?? ""
      let changes = differs.map { " (\($0.listed))" } ?? ""
      return switch eventType {
      case "router_discovered": "event: router \(router) is seen on the local network"
      case "router_announced": "event: router \(router) is here"
      case "router_online": "event: router \(router) is back"
      case "router_left": "event: router \(router) left; its credentials are deleted"
      case "dataset_stored": "event: credentials of \(networkName ?? "") stored, encrypted"
      case "dataset_updated": "event: credentials updated to \(networkName ?? "")\(changes)"
      case "preferred_changed": "event: \(networkName ?? "") is the preferred network"
      case "ssid_changed": "event: SSID is now \(ssid ?? ""); preferred network: \(preferred ?? "none")"
      case "alert_raised": "ALERT \(alertname ?? "") (\(severity ?? "")): \(summary ?? "")"
      case "alert_updated": "ALERT \(alertname ?? "") changed: \(summary ?? "")"
      case "alert_resolved": "RESOLVED \(alertname ?? ""): \(summary ?? "")"
      default: "event: \(eventType)"
      }
    }
  }
}

/// A border router that publishes what it would if it could.
final class SimulatedRouter: Sendable {
  let user: String
  let name: String
  let agent: String
  let client: DemoClient
  private let timeline: Timeline

  init(_ user: String, _ name: String, agent: String, _ stage: DemoStage) {
    self.user = user
    self.name = name
    self.agent = agent
    timeline = stage.timeline
    client = DemoClient(DemoStage.connection(stage.broker, user: user))
  }

  func announce(_ dataset: OperationalDataset, ssid: String) {
    timeline.line(user, "announces itself on \(dataset.networkName ?? "")")
    publish(kind: .announce, dataset: dataset)
    publish(kind: .ssid, ssid: ssid)
  }

  func change(_ dataset: OperationalDataset, _ words: String) {
    timeline.line(user, words)
    publish(kind: .dataset, dataset: dataset)
  }

  func changeSSID(from old: String, to new: String) {
    timeline.line(user, "changes its SSID from \(old) to \(new)")
    publish(kind: .ssid, ssid: new, previous: old)
  }

  func leave() {
    timeline.line(user, "leaves")
    publish(kind: .leave)
  }

  private func publish(
    kind: RouterMessage.Kind, dataset: OperationalDataset? = nil, ssid: String? = nil, previous: String? = nil
  ) {
    var event = InboundEvent(kind)
    event.agent = BorderAgentID(hex: agent)
    event.dataset = dataset.map { WireDataset($0.bytes) }
    event.message.name = name
    event.message.ssid = ssid
    event.message.previousSSID = previous
    client.publish("threadkeeper/in/\(user)/\(kind.word)", String(decoding: event.json(), as: UTF8.self))
  }
}

/// A border router as it would advertise itself on the local network, with random ids.
struct AdvertisedRouter {
  let name: String
  /// The name of its Thread network: at most 16 bytes.
  let network: String
  private let id = RandomBytes.make(16)

  /// Its border agent id, under which the daemon lists it.
  var agent: String { Hexadecimal.encode(id) }

  var record: ServiceRecord {
    // The Thread interface is active, and so is the border agent: bits 3 and 4.
    let state: [UInt8] = [0, 0, 0, 0b1_0001]
    let values: [(String, [UInt8])] = [
      ("id", id), ("xa", RandomBytes.make(8)), ("xp", RandomBytes.make(8)), ("nn", Array(network.utf8)),
      ("vn", Array("Example".utf8)), ("mn", Array("TV box".utf8)), ("tv", Array("1.3.0".utf8)), ("sb", state),
      ("at", [0, 0, 0, 0, 0, 1, 0, 0]), ("pt", RandomBytes.make(4)),
    ]
    return ServiceRecord(
      name: name, host: "\(agent).local", port: 49_191,
      text: TXTRecord(entries: values.map { Array("\($0)=".utf8) + $1 }))
  }
}
