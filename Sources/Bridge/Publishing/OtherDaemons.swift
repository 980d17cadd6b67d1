import Broker
import Home
import Synchronization
import ThreadkeeperSupport
import Wire

/// Other daemons on the base topics of this one. The retained `bridge/info` has whose a base topic is; it is
/// looked at with each connection, before anything is published.
///
/// | `bridge/info` is | this daemon |
/// |---|---|
/// | not there, or its own, or that of `mqtt.take_over` | publishes |
/// | another daemon's, when it connects | publishes nothing there, until that is gone |
/// | made another daemon's while it publishes | replaces it |
///
/// Each daemon publishes its instance on `bridge/daemon`, which is not retained: when it connects, and once a minute
/// while there is another one. So the other one learns of it, also where both have the same store. The last will of a
/// connection is published on the first base topic, whoever has it: it is given before that is known.
struct OtherDaemons {
  /// Seconds after which one that was not seen again is gone.
  static let seconds = 180
  /// Seconds between two greetings while there is another one.
  static let interval = 60

  struct Other: Hashable {
    /// 32 hex digits of its store.
    let instance: String
    /// Whether the base topic is its own, so that this daemon publishes nothing there.
    var isOwner = false
  }

  /// Of this daemon's store, and of this process.
  let instance: String
  private let process: UInt64
  private let takesOver: String?
  /// By home.
  private var owners: [Int: String] = [:]
  /// Those of them for which the broker keeps no `bridge/info`, as after a restart without persistence: the owner
  /// publishes it again, if it is there.
  private var unconfirmed: Set<Int> = []
  /// The same, of a connection that has not shown yet all that the broker keeps.
  private var found: [Int: String]?
  /// Base topics of before that are another daemon's by now.
  private(set) var formerOwned: Set<ExactName> = []
  private var seen: [Int: (instance: String, at: WireTime)] = [:]
  private var greetedAt: WireTime?

  init(instance: String, takesOver: String?) {
    self.instance = instance
    self.takesOver = takesOver
    process = .random(in: 0 ... .max)
  }

  /// Whether this connection has shown whose the base topics are.
  var hasLooked: Bool { found == nil }

  /// Whether any base topic is another daemon's.
  var holdsAny: Bool { !owners.isEmpty || found?.isEmpty == false }

  func holds(_ home: Int) -> Bool { owners[home] != nil || found?[home] != nil }

  func others(at now: WireTime) -> [Int: Other] {
    var others = seen.filter { isRecent($0.value.at, now, Self.seconds) }.mapValues { Other(instance: $0.instance) }
    for (home, owner) in owners { others[home] = Other(instance: owner, isOwner: true) }
    return others
  }

  /// Whether another one may publish there at the moment.
  func hasSeen(in home: Int, at now: WireTime) -> Bool {
    seen[home].map { isRecent($0.at, now, Self.seconds) } ?? false
  }

  // MARK: The connection

  mutating func connect() {
    found = [:]
    formerOwned.removeAll()
  }

  /// All that the broker keeps of it has come.
  ///
  /// - Returns: whether a base topic is this daemon's again.
  mutating func look(at now: WireTime) -> Bool {
    guard let found else { return false }
    unconfirmed = Set(owners.keys.filter { found[$0] == nil })
    owners.merge(found) { $1 }
    self.found = nil
    return release(at: now)
  }

  /// - Returns: whether a base topic is this daemon's again, because its owner is gone.
  mutating func release(at now: WireTime) -> Bool {
    let gone = unconfirmed.filter { !hasSeen(in: $0, at: now) }
    for home in gone { owners[home] = nil }
    unconfirmed.subtract(gone)
    return !gone.isEmpty
  }

  // MARK: bridge/info

  private func isAnother(_ instance: String) -> Bool { instance != self.instance && instance != takesOver }

  /// - Returns: whether the base topic is this daemon's again.
  mutating func noteInfo(_ message: IncomingMessage, of home: Int, at now: WireTime) -> Bool {
    let instance = Self.hex("instance_id", digits: 32, in: message.payload)
    if !message.isRetained, let instance, instance != self.instance { seen[home] = (instance, now) }
    guard message.isRetained || holds(home) else { return false }
    if let instance, isAnother(instance) {
      unconfirmed.remove(home)
      if found == nil { owners[home] = instance } else { found?[home] = instance }
      return false
    }
    guard !message.isRetained else { return false }
    found?[home] = nil
    return found == nil && owners.removeValue(forKey: home) != nil
  }

  /// What is kept below a base topic of before.
  mutating func noteFormerInfo(_ message: IncomingMessage, of base: String) {
    guard let instance = Self.hex("instance_id", digits: 32, in: message.payload), isAnother(instance) else { return }
    formerOwned.insert(ExactName(base))
  }

  // MARK: bridge/daemon

  /// - Returns: whether it is of this process.
  mutating func noteGreeting(_ payload: [UInt8], of home: Int, at now: WireTime) -> Bool {
    guard let instance = Self.hex("instance_id", digits: 32, in: payload),
      let process = Self.hex("process", digits: 16, in: payload)
    else { return false }
    guard UInt64(process, radix: 16) != self.process else { return true }
    seen[home] = (instance, now)
    return false
  }

  mutating func greeting(version: String, at now: WireTime) -> [UInt8] {
    greetedAt = now
    return BridgeDaemon(instance: instance, process: process, version: version).json(capacity: 160)
  }

  func isGreetingDue(at now: WireTime) -> Bool {
    guard hasLooked, holdsAny || seen.values.contains(where: { isRecent($0.at, now, Self.seconds) }) else {
      return false
    }
    return !(greetedAt.map { isRecent($0, now, Self.interval) } ?? false)
  }

  /// Not of a time to come: the clock was set back.
  private func isRecent(_ time: WireTime, _ now: WireTime, _ seconds: Int) -> Bool {
    time <= now && now < time.adding(seconds: seconds)
  }

  /// A member of a JSON object as this program writes it. What is written otherwise is no daemon's.
  private static func hex(_ key: StaticString, digits: Int, in payload: [UInt8]) -> String? {
    let mark = Array("\"\(key)\":\"".utf8)
    guard payload.count <= 16_384, let found = payload.firstRange(of: mark) else { return nil }
    let value = payload[found.upperBound...].prefix(digits)
    let isHex = value.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    guard value.count == digits, isHex, value.endIndex < payload.endIndex, payload[value.endIndex] == UInt8(ascii: "\"")
    else { return nil }
    return String(decoding: value, as: UTF8.self)
  }
}

extension Publisher {
  /// Another daemon on a base topic of this one.
  package struct OtherDaemon: Hashable, Sendable {
    package let home: String
    package let base: String
    /// 32 hex digits of its store.
    package let instance: String
    /// Whether the base topic is its own, so that this daemon publishes nothing there.
    package let isOwner: Bool
    /// Whether it has a copy of this daemon's store.
    package let isCopy: Bool
  }

  /// Nil: the broker has not shown yet whose the base topics are.
  package var otherDaemons: [OtherDaemon]? {
    let now = now()
    return state.withLock { state in
      guard state.isConnected, state.others.hasLooked else { return nil }
      return state.others.others(at: now).sorted { $0.key < $1.key }.map { home, other in
        OtherDaemon(
          home: state.states.name(home), base: state.states.base(home), instance: other.instance,
          isOwner: other.isOwner, isCopy: other.instance == state.others.instance)
      }
    }
  }

  /// Who this daemon is. The broker's acknowledgement comes after what it keeps.
  package func greetings() -> [Publication] {
    let now = now()
    return state.withLock { $0.greetings(at: now) }
  }

  /// The broker has shown whose the base topics are.
  package func looked() {
    let now = now()
    state.withLock { state in
      if state.others.look(at: now) { state.publishAll(at: now) }
      state.emptyFormer()
    }
  }

  /// Whether a topic belongs to a home whose base topic is another daemon's.
  package func isHeld(_ topic: String) -> Bool { state.withLock { $0.isHeld(topic) } }

  /// That the daemon stops, where it publishes. The broker may send it back before it acknowledges it.
  package func lastPublications() -> [Publication] {
    state.withLock { state in
      guard state.others.hasLooked else { return [] }
      let publications = state.homes.indices.filter { !state.others.holds($0) }.map {
        Publication(
          topic: state.states.topic(RetainedPlace(home: $0, subject: .presence)), payload: BridgeState.stopped,
          retain: true)
      }
      for publication in publications { state.kept.noteOwn(publication) }
      return publications
    }
  }
}

extension Publisher.State {
  mutating func greetings(at now: WireTime) -> [Publication] {
    let topics = states.settings.topics
    let payload = others.greeting(version: states.settings.version, at: now)
    return (topics.parent.map { [$0] } ?? topics.homes.map(\.base)).map {
      Publication(topic: OutboundTopic(base: $0).daemon, payload: payload)
    }
  }

  mutating func watchOthers(at now: WireTime) {
    if others.hasLooked, others.release(at: now) { publishAll(at: now) }
    if others.isGreetingDue(at: now) { urgent += greetings(at: now) }
  }

  fileprivate func isHeld(_ topic: String) -> Bool {
    guard others.holdsAny, let (home, levels) = states.home(of: topic) else { return false }
    return others.holds(home) && levels != ["bridge", "daemon"]
  }

  /// Without what belongs to another daemon's base topic: that counts as published.
  mutating func withoutHeld(_ publications: [Publication]) -> [Publication] {
    publications.filter { publication in
      guard isHeld(publication.topic) else { return true }
      acknowledge(publication.token, .delivered)
      return false
    }
  }
}
