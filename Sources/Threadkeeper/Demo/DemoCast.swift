import Broker
import FoundationEssentials
import Home
import ServiceDiscovery
import SodiumCrypto
import Synchronization
import ThreadDataset
import Wire

/// A participant of the demonstration: publishes what it is given, and hands on what it receives.
final class DemoClient: MosquittoHandler {
  private struct State {
    var client: MosquittoClient?
    var waiting: [Publication] = []
    var messages: [IncomingMessage] = []
  }

  private let state = Mutex(State())
  private let onMessage: @Sendable (IncomingMessage) -> Void

  init(
    _ daemon: Daemon, _ user: String, subscribingTo filters: [String] = [],
    onMessage: @escaping @Sendable (IncomingMessage) -> Void = { _ in }
  ) {
    self.onMessage = onMessage
    let configuration = MosquittoConfiguration(
      host: "127.0.0.1", port: daemon.port, clientID: "demo-\(user)", username: user,
      password: daemon.embeddedBroker?.password(of: user), cleanStart: true, subscriptions: filters.map { .init($0) })
    let client = MosquittoClient(configuration, handler: self)
    state.withLock { $0.client = client }
  }

  func run() async throws {
    guard let client = current else { return }
    try await client.run()
  }

  func stop() { current?.stop() }

  func publish(_ topic: String, _ payload: String) {
    let publication = Publication(topic: topic, payload: Array(payload.utf8), token: 1)
    state.withLock { $0.waiting.append(publication) }
    current?.wake()
  }

  var messages: [IncomingMessage] { state.withLock { $0.messages } }

  private var current: MosquittoClient? { state.withLock { $0.client } }

  // MARK: - MosquittoHandler

  func connected(_ session: MosquittoSession) {}

  func received(_ batch: [IncomingMessage]) throws {
    state.withLock { $0.messages += batch }
    batch.forEach(onMessage)
  }

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let taken = Array(state.waiting.prefix(limit))
      state.waiting.removeFirst(taken.count)
      return taken
    }
  }

  func acknowledged(_ publication: SentPublication, _ outcome: PublicationOutcome) {}

  func disconnected(_ event: MosquittoDisconnection) {}
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

/// Shows what happens, a line each: what the routers do, and what the daemon publishes.
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
  func show(_ message: IncomingMessage) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard message.topic.hasSuffix("bridge/event") || message.topic.hasSuffix("bridge/event/alert"),
      let event = try? decoder.decode(Event.self, from: Data(message.payload))
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

  /// The fields of an event that the timeline shows.
  private struct Event: Decodable {
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
struct SimulatedRouter {
  let user: String
  let name: String
  let agent: String
  let client: DemoClient
  let timeline: Timeline

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
