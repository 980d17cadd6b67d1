// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import HomeStore
import KeychainCore
import SodiumCrypto
import Synchronization
import ThreadDataset

@testable import Bridge

/// A loop over a store in memory, with a clock that a test sets.
final class LoopKit: Sendable {
  static let clock0: Int64 = 1_790_000_000_000

  let store: any RecordStore
  let memory: MemoryStore
  let follower = Recorder()
  let time: Time
  let loop: HomeLoop

  /// Shared by a kit and those that follow it on the same store.
  final class Time: Sendable {
    private let value = Atomic<Int64>(LoopKit.clock0)
    var now: WireTime { WireTime(milliseconds: value.load(ordering: .relaxed)) }
    func advance(seconds: Int) { value.add(Int64(seconds) * 1_000, ordering: .relaxed) }
  }

  /// The same ids in the same order, so that two loops can be compared.
  private final class Counter: Sendable {
    private let value = Atomic<UInt64>(0)
    var next: UInt64 { value.add(0x1_0000_0001, ordering: .relaxed).newValue }
  }

  final class Recorder: LoopFollower {
    let batches = Mutex<[CommittedBatch]>([])

    func messages(of outcome: LoopOutcome, in home: Home, at now: WireTime) -> [[UInt8]] {
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

    func committed(_ batch: CommittedBatch) { batches.withLock { $0.append(batch) } }

    var rejections: [Rejection] {
      batches.withLock { $0.flatMap { $0.outcomes.compactMap(\.rejection) } }
    }
  }

  init(
    _ homes: [String] = ["home"], on memory: MemoryStore = MemoryStore(),
    store: (any RecordStore)? = nil, time: Time = Time(), bases: [String: String] = [:],
    discovers: Bool = false, devicePrefix: String? = nil,
    _ change: (inout IntakeReading) -> Void = { _ in }
  ) throws {
    self.memory = memory
    self.store = store ?? memory
    self.time = time
    var reading = IntakeReading(hashKey: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
    reading.eventsBurst = 100_000
    change(&reading)
    let ids = Counter()
    loop = try HomeLoop(
      homes.map {
        ServedHome(
          name: $0, base: bases[$0] ?? "tk/\($0)",
          rules: HomeRules { ids.next })
      },
      discovers: discovers, devicePrefix: devicePrefix, store: self.store, reading: reading,
      follower: follower,
      clock: { time.now })
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

  var home: Home { loop.snapshot.homes["home"] ?? Home(rules: HomeRules { 0 }) }

  static func agent(_ number: Int) -> BorderAgentID {
    BorderAgentID(high: 0xA000_0000_0000_0000 | UInt64(number), low: 0)
  }

  static func message(
    _ kind: String, _ number: Int, dataset: OperationalDataset? = nil, home: String = "home",
    user: String = "otbr", more: String = "", isRetained: Bool = false, responseTopic: String? = nil
  ) -> IncomingMessage {
    var text = #"{"border_agent_id":"\#(agent(number))""#
    if let dataset { text += #","dataset":"\#(dataset.hex)""# }
    text += more + "}"
    return IncomingMessage(
      topic: "tk/\(home)/in/\(user)/\(kind)", payload: Array(text.utf8), isRetained: isRetained,
      responseTopic: responseTopic)
  }

  static func announce(
    _ number: Int, _ dataset: OperationalDataset = dataset(1), home: String = "home",
    user: String = "otbr", more: String = ""
  ) -> IncomingMessage {
    message("announce", number, dataset: dataset, home: home, user: user, more: more)
  }

  /// Complete and active; another network for each number.
  static func dataset(_ network: UInt8, seconds: UInt64 = 1, channel: UInt8 = 15)
    -> OperationalDataset
  {
    func tlv(_ type: UInt8, _ value: [UInt8]) -> [UInt8] { [type, UInt8(value.count)] + value }
    let timestamp = withUnsafeBytes(of: (seconds << 16).bigEndian) { Array($0) }
    let bytes =
      tlv(0, [0, 0, channel]) + tlv(1, [0x12, 0x34])
      + tlv(2, [UInt8](repeating: network, count: 8)) + tlv(3, Array("net\(network)".utf8))
      + tlv(4, [UInt8](repeating: 0x40 | network, count: 16))
      + tlv(5, [UInt8](repeating: 0x80 | network, count: 16))
      + tlv(7, [0xFD, 0, 0, 0, 0, 0, 0, network]) + tlv(12, [2, 0xA0, 0xF7, 0xF8])
      + tlv(14, timestamp) + tlv(53, [0, 4, 0, 0x1F, 0xFF, 0xE0])
    guard let dataset = try? OperationalDataset(bytes: bytes) else {
      preconditionFailure("the dataset of the tests is not sound")
    }
    return dataset
  }
}

extension Home {
  /// Without printing both where they differ.
  func equals(_ other: Home) -> Bool { self == other }
}
