// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Broker
import Foundation
import Synchronization
import TestKit

/// Looks at the retained states of all routers: a message whose number is in one of them is committed.
final class FleetWatch: Sendable {
  private struct Seen {
    /// The newest state of each router, by its topic.
    var states: [String: [UInt8]] = [:]
    /// Messages after this one are waited for.
    var mark: UInt64 = 0
    /// When a message after the mark was seen first, by shard.
    var first: [Int: ContinuousClock.Instant] = [:]
  }

  private final class Holder: Sendable {
    let seen = Mutex(Seen())
  }

  private let client: TestClient
  private let holder: Holder
  private let base: String

  static func start(_ broker: TestBroker, base: String) async throws -> FleetWatch {
    var configuration = broker.configuration(
      clientID: "watch-\(UInt32.random(in: 0 ... .max))", "\(base)/+/+/router/+")
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let watch = FleetWatch(configuration, base: base)
    try await watch.client.ready()
    return watch
  }

  private init(_ configuration: MosquittoConfiguration, base: String) {
    let holder = Holder()
    self.holder = holder
    self.base = base
    client = TestClient(configuration) { batch in
      let now = ContinuousClock.now
      for message in batch {
        let parts = message.topic.dropFirst(base.count + 1).split(separator: "/")
        guard parts.count == 4, let shard = Int(parts[0]) else { continue }
        let number = Self.number(message.payload)
        holder.seen.withLock {
          $0.states[message.topic] = message.payload
          if number > $0.mark, $0.first[shard] == nil { $0.first[shard] = now }
        }
      }
    }
  }

  /// From here on messages after this one are waited for.
  func mark(_ number: UInt64) {
    holder.seen.withLock {
      $0.mark = number
      $0.first = [:]
    }
  }

  /// When a message after the mark was seen first in a shard.
  func first(in shard: Int) -> ContinuousClock.Instant? {
    holder.seen.withLock { $0.first[shard] }
  }

  private struct Shown: Decodable {
    var name: String?
    var active_timestamp: UInt64?
  }

  /// The number of the newest message that a state shows.
  private static func number(_ payload: [UInt8]) -> UInt64 {
    guard let shown = try? JSONDecoder().decode(Shown.self, from: Data(payload)) else { return 0 }
    let name = shown.name?.split(separator: " ").last.flatMap { UInt64($0) }
    return max(name ?? 0, shown.active_timestamp ?? 0)
  }

  /// What the retained state of a router says of name and timestamp.
  func shown(_ home: FleetHome, _ agent: String) -> FleetLoad.Expected? {
    let payload = holder.seen.withLock { $0.states["\(base)/\(home)/router/\(agent)"] }
    return payload.flatMap { try? JSONDecoder().decode(Shown.self, from: Data($0)) }
      .map { FleetLoad.Expected(name: $0.name, stamp: $0.active_timestamp) }
  }

  /// All topics of routers that were published to.
  var topics: Set<String> { holder.seen.withLock { Set($0.states.keys) } }
}

#endif
