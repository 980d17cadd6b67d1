import Broker
import Synchronization
import Testing

@testable import Bridge
@testable import Home
@testable import HomeStore

/// A publisher of one home, and what a broker has of it.
final class PublisherScene {
  var scene: PublishingScene
  let store = MemoryStore()
  let publisher: Publisher
  let settings: PublisherSettings
  private var nextMessage: Int64 = 1
  /// The messages of the last commit.
  private(set) var rows: [[UInt8]] = []
  /// What the broker keeps, and all that it was sent, in order.
  private(set) var broker: [String: [UInt8]] = [:]
  private(set) var sent: [Publication] = []

  init(
    _ settings: PublisherSettings = .home(), _ scene: PublishingScene = PublishingScene(),
    ofEarlier rows: [[UInt8]] = []
  ) {
    self.scene = scene
    self.settings = settings
    let box = ClockBox(scene.now)
    self.box = box
    store.add(rows, from: 1)
    nextMessage = Int64(rows.count) + 1
    publisher = Publisher(
      settings, HomeSnapshot(homes: ["home": scene.home]), store, stored: 1..<Int64(rows.count) + 1, now: { box.now })
  }

  /// What a process before has left: a router that announced itself, and the events of that.
  static func announced() -> (PublisherSettings, PublishingScene, rows: [[UInt8]]) {
    let settings = PublisherSettings.home { $0.discoveryPrefix = "ha" }
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7))
    let rows = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true)).rows(
      of: scene.output, at: scene.now)
    return (settings, scene, rows)
  }

  final class ClockBox: Sendable {
    private let time: Mutex<WireTime>
    init(_ now: WireTime) { time = Mutex(now) }
    var now: WireTime { time.withLock { $0 } }
    func set(_ now: WireTime) { time.withLock { $0 = now } }
  }

  private let box: ClockBox

  func wait(_ seconds: Int) {
    scene.now = scene.now.adding(seconds: seconds)
    box.set(scene.now)
  }

  /// Time passes, for the publisher.
  func tick(after seconds: Int = 1) {
    wait(seconds)
    let mayHaveMore = publisher.tick()
    #expect(mayHaveMore || publisher.publications(upTo: 1).isEmpty, "nobody wakes the connection for it")
  }

  /// An input, its commit, and what the publisher hears of it.
  func commit(_ body: (inout PublishingScene) -> Void) {
    scene.output = HomeOutput()
    body(&scene)
    rows = EventWriter(home: "home", base: settings.topics.homes[0].base, ways: .init(isOnlyHome: true)).rows(
      of: scene.output, at: scene.now)
    let first = nextMessage
    store.add(rows, from: first)
    nextMessage += Int64(rows.count)
    publisher.note(
      [Publisher.CommittedHome("home", scene.home, scene.home.takeChanges())], messages: first..<nextMessage)
  }

  /// A router on network 7.
  func announce(_ agent: UInt64) { commit { $0.publish(.announce, agent, .of(7)) } }

  /// Hands out what there is; the broker acknowledges it.
  @discardableResult func pump(
    refusing error: MosquittoError? = nil, where isRefused: (Publication) -> Bool = { _ in false }
  ) throws -> [Publication] {
    var all: [Publication] = []
    while case let next = publisher.publications(upTo: 7), !next.isEmpty {
      for publication in next {
        all.append(publication)
        if let error, isRefused(publication) {
          publisher.acknowledged(publication.token, .refused(error))
          continue
        }
        keep(publication)
        publisher.acknowledged(publication.token, .delivered)
      }
    }
    sent += all
    return all
  }

  func keep(_ publication: Publication) {
    guard publication.retain else { return }
    broker[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
  }

  /// A connection begins, and the broker takes what there is.
  @discardableResult func connect(sessionPresent: Bool = true) throws -> [Publication] {
    publisher.connected(sessionPresent: sessionPresent)
    return try pump()
  }

  /// What the broker keeps comes to the publisher.
  @discardableResult func read(_ topics: (String) -> Bool = { _ in true }) -> [Publisher.AlteredTopic] {
    publisher.subscribed()
    defer { publisher.looked() }
    return publisher.received(
      broker.filter { topics($0.key) }.map { IncomingMessage(topic: $0.key, payload: $0.value, isRetained: true) })
  }

  /// Another client publishes something that the broker keeps.
  @discardableResult func alter(_ topic: String, _ payload: String) -> [Publisher.AlteredTopic] {
    broker[topic] = payload.isEmpty ? nil : Array(payload.utf8)
    return publisher.received([.of(topic, payload)])
  }

  /// What the broker keeps there.
  func kept(_ topic: String) -> String { (broker[topic] ?? []).text }
  func forget(_ topic: String) { broker[topic] = nil }
  func put(_ topic: String, _ payload: String) { broker[topic] = Array(payload.utf8) }

  /// What a publisher that begins now would leave on a broker.
  func fresh() throws -> [String: [UInt8]] {
    let fresh = PublisherScene(settings, scene)
    try fresh.connect(sessionPresent: false)
    fresh.tick(after: 0)
    try fresh.pump()
    return fresh.broker
  }
}

extension PublisherSettings {
  /// Of one home.
  static func home(_ change: (inout PublisherSettings) -> Void = { _ in }) -> PublisherSettings {
    var settings = PublisherSettings(BaseTopics([.init(name: "home", base: "tk")]))
    change(&settings)
    return settings
  }

  /// With Home Assistant, which decides about everything.
  static let homeAssistant = home {
    $0.discoveryPrefix = "ha"
    $0.requests.homeAssistant = .all
    $0.requests.homeAssistantLogin = "ha"
  }
}

extension Sequence where Element == Publication { var topics: [String] { map(\.topic) } }
