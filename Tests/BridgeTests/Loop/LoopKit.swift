import Broker
import Home
import HomeStore
import KeychainCore
import SodiumCrypto
import Synchronization
import Testing
import ThreadDataset

@testable import Bridge

/// A loop over a store in memory, with a clock that a test sets.
final class LoopKit: Sendable {
  static let clock0: Int64 = 1_790_000_000_000
  /// With which parts of datasets are hashed.
  static let hashKey = SecretBytes(copying: [UInt8](repeating: 7, count: 32))

  let store: any RecordStore
  let memory: MemoryStore
  let follower: Recorder
  let time: Time
  let loop: HomeLoop

  /// Shared by a kit and those that follow it on the same store.
  final class Time: Sendable {
    private let value = Atomic<Int64>(LoopKit.clock0)
    var now: WireTime { WireTime(milliseconds: value.load(ordering: .relaxed)) }
    func advance(seconds: Int) { value.add(Int64(seconds) * 1_000, ordering: .relaxed) }
  }

  /// The same ids in the same order, so that two loops can be compared.
  static func rules() -> HomeRules {
    let ids = Atomic<UInt64>(0)
    var rules = HomeRules { ids.add(0x1_0000_0001, ordering: .relaxed).newValue }
    (rules.settings.routersPerTeam, rules.settings.routersPerHome) = (10_000, 10_000)
    return rules
  }

  final class Recorder: LoopFollower {
    let batches = Mutex<[CommittedBatch]>([])
    private let next: (any LoopFollower)?

    init(_ next: (any LoopFollower)?) { self.next = next }

    func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]] {
      if let next { return next.messages(of: outcome, at: now) }
      var texts = outcome.output.events.map { "\(outcome.home) \(Self.name($0))" }
      if let rejection = outcome.rejection { texts.append("\(outcome.home) \(rejection.code)") }
      return texts.isEmpty ? [] : [Array(texts.joined(separator: ", ").utf8)]
    }

    private static func name(_ event: HomeEvent) -> String {
      switch event {
      case .router(let event): "router \(event.types.rawValue)"
      case .alert(let key, _, let news, _): "\(key.name) \(news)"
      default: "other"
      }
    }

    func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews {
      next?.news(of: batch, home: home) ?? BatchNews()
    }

    func committed(_ batch: CommittedBatch, _ homes: CommittedHomes) {
      batches.withLock { $0.append(batch) }
      next?.committed(batch, homes)
    }

    func willHandle() { next?.willHandle() }
    func hasHandled() { next?.hasHandled() }

    var rejections: [Rejection] { batches.withLock { $0.flatMap { $0.outcomes.compactMap(\.rejection) } } }
  }

  /// - Parameter next: gets all that the loop reports, and decides what is published.
  init(
    serving homes: [ServedHome], on memory: MemoryStore = MemoryStore(), store: (any RecordStore)? = nil,
    time: Time = Time(), discovers: Bool = false, devicePrefix: String? = nil,
    following next: (any LoopFollower)? = nil, _ change: (inout IntakeReading) -> Void = { _ in }
  ) throws {
    self.memory = memory
    self.store = store ?? memory
    self.time = time
    follower = Recorder(next)
    var reading = IntakeReading(hashKey: Self.hashKey)
    change(&reading)
    loop = try HomeLoop(
      homes, discovers: discovers, devicePrefix: devicePrefix, store: self.store, reading: reading, follower: follower,
      clock: { time.now })
  }

  convenience init(
    _ homes: [String] = ["home"], on memory: MemoryStore = MemoryStore(), store: (any RecordStore)? = nil,
    time: Time = Time(), bases: [String: String] = [:], discovers: Bool = false, devicePrefix: String? = nil,
    following next: (any LoopFollower)? = nil, _ change: (inout IntakeReading) -> Void = { _ in }
  ) throws {
    let rules = Self.rules()
    try self.init(
      serving: homes.map { ServedHome(name: $0, base: bases[$0] ?? "tk/\($0)", rules: rules) }, on: memory,
      store: store, time: time, discovers: discovers, devicePrefix: devicePrefix, following: next, change)
  }

  /// The same store in another process.
  /// - Parameter damaged: rows that cannot be read from then on.
  func restarted(
    _ homes: [String] = ["home"], bases: [String: String] = [:], cleanly: Bool = true,
    damaged: some Sequence<Int64> = []
  ) throws -> LoopKit {
    if cleanly { try loop.stop() }
    // What is written at the end is whole again.
    memory.contents.withLock { $0.damaged.formUnion(damaged) }
    return try LoopKit(homes, on: memory, store: store, time: time, bases: bases)
  }

  func receive(_ messages: IncomingMessage...) throws { try loop.received(messages) }

  /// Time passes, and a tick comes at its end.
  func pass(seconds: Int = 0, _ link: Link = Link()) throws {
    time.advance(seconds: seconds)
    try loop.tick(link)
  }

  func prefer(_ network: ExtendedPANID?) throws {
    let network = try #require(network)
    try loop.perform(.request(.setPreferred(.network(network, router: nil)), .administrator), in: "home")
  }

  func enroll(_ user: ExactName, _ keys: PublicIdentity, trust: EnrolledClient.Trust = .broker) throws {
    try loop.perform(
      .enroll(
        EnrolledClient(line: keys.line, fingerprint: keys.fingerprint, trust: trust, at: time.now, by: "uid 0"), user,
        by: .commandLine(user: 0)), in: "home")
  }

  var home: Home { loop.homes.snapshot.homes["home"] ?? Home(rules: HomeRules { 0 }) }

  func router(_ number: Int) -> Router? { home.routers[.agent(number)] }

  func dataset(_ key: RecordKey, _ home: String = "home") throws -> OperationalDataset? {
    try loop.homes.withDataset(of: key, in: home) { try OperationalDataset(bytes: Array($0)) }
  }

  /// The codes of all messages that were rejected.
  var rejected: [String] { follower.rejections.map(\.code) }

  var last: CommittedBatch? { follower.batches.withLock { $0.last } }
}

extension BorderAgentID {
  /// Of a router whose messages a loop receives.
  static func agent(_ number: Int) -> BorderAgentID {
    BorderAgentID(high: 0xA000_0000_0000_0000 | UInt64(number), low: 0)
  }

  /// Of a router that a home is given.
  static func number(_ number: UInt64) -> BorderAgentID { BorderAgentID(high: number, low: 0) }
}

extension IncomingMessage {
  static func of(_ topic: String, _ text: String = "", isRetained: Bool = false) -> IncomingMessage {
    IncomingMessage(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
  }

  static func message(
    _ kind: String, _ number: Int, dataset: OperationalDataset? = nil, home: String = "home", user: String = "otbr",
    more: String = "", isRetained: Bool = false, responseTopic: String? = nil
  ) -> IncomingMessage {
    var text = #"{"border_agent_id":"\#(BorderAgentID.agent(number))""#
    if let dataset { text += #","dataset":"\#(dataset.hex)""# }
    text += more + "}"
    return IncomingMessage(
      topic: "tk/\(home)/in/\(user)/\(kind)", payload: Array(text.utf8), isRetained: isRetained,
      responseTopic: responseTopic)
  }

  static func announce(
    _ number: Int, _ dataset: OperationalDataset = .of(1), home: String = "home", user: String = "otbr",
    more: String = ""
  ) -> IncomingMessage { message("announce", number, dataset: dataset, home: home, user: user, more: more) }
}

extension OperationalDataset {
  /// Complete and active: equal numbers stand for equal values.
  static func of(_ network: UInt8, key: UInt8? = nil, at seconds: UInt64 = 1, channel: UInt8 = 15, name: String? = nil)
    -> OperationalDataset
  {
    func tlv(_ type: UInt8, _ value: [UInt8]) -> [UInt8] { [type, UInt8(value.count)] + value }
    let timestamp = withUnsafeBytes(of: (seconds << 16).bigEndian) { Array($0) }
    let key = key ?? network
    let bytes =
      tlv(0, [0, 0, channel]) + tlv(1, [0x12, 0x34]) + tlv(2, [UInt8](repeating: network, count: 8))
      + tlv(3, Array((name ?? "net\(network)").utf8)) + tlv(4, [UInt8](repeating: 0x40 | key, count: 16))
      + tlv(5, [UInt8](repeating: 0x80 | key, count: 16)) + tlv(7, [0xFD, 0, 0, 0, 0, 0, 0, network])
      + tlv(12, [2, 0xA0, 0xF7, 0xF8]) + tlv(14, timestamp) + tlv(53, [0, 4, 0, 0x1F, 0xFF, 0xE0])
    guard let dataset = try? OperationalDataset(bytes: bytes) else {
      preconditionFailure("the dataset of the tests is not sound")
    }
    return dataset
  }
}

extension RequestContext {
  /// The daemon's own user at the command line.
  static var administrator: RequestContext {
    var context = RequestContext(Requester(.systemUser(0), team: "root"), reply: .caller, actor: "uid 0")
    context.isAdministrator = true
    return context
  }
}

extension Home {
  /// Without printing both where they differ.
  func equals(_ other: Home) -> Bool { self == other }

  func isFiring(_ name: AlertName) -> Bool { alerts[AlertKey(name)]?.phase == .firing }
}

extension [UInt8] { var text: String { String(decoding: self, as: UTF8.self) } }

extension Publication { var text: String { payload.text } }
