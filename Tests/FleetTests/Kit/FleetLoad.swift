// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Broker
import Foundation
import Home
import Synchronization
import TestKit
import ThreadDataset

/// A home of a fleet.
struct FleetHome: Hashable, Sendable, CustomStringConvertible {
  let shard: Int
  let name: String

  var description: String { "\(shard)/\(name)" }
}

/// Publishes to all homes at a steady rate what can be looked up afterwards. What a connection loses on its way is
/// published again by the next one, in the same order.
///
/// The homes take turns, and in each of them its routers; routers of all homes have the same ids. The first message of a
/// router announces it, on the network of its home. Of the others every third is a newer dataset, with the message's
/// number as its timestamp, and the rest are names with that number.
final class FleetLoad: MosquittoHandler {
  private struct State {
    var next: UInt64 = 1
    /// The newest that was handed to a connection.
    var newest: UInt64 = 0
    /// The oldest that the broker has not acknowledged.
    var oldest: UInt64 = 1
    var acknowledged: Set<UInt64> = []
    var refused = 0
    var end: UInt64 = .max
  }

  let homes: [FleetHome]
  let routers: Int
  private let base: String
  private let rate: Double
  private let networks: [OperationalDataset]
  private let startedAt = ContinuousClock.now
  private let state = Mutex(State())

  /// - Parameters:
  ///   - routers: of each home.
  ///   - rate: messages a second, of all homes together.
  init(_ homes: [FleetHome], routers: Int = 4, base: String, rate: Double) throws {
    (self.homes, self.routers, self.base, self.rate) = (homes, routers, base, rate)
    networks = try homes.indices.map { try Self.network($0).dataset(at: 1) }
  }

  /// The network of a home: nobody else's.
  static func network(_ home: Int) -> SampleNetwork {
    SampleNetwork(
      extendedPANID: "f1ee7000" + hex(home, 8), name: "net-\(home)",
      networkKey: "c0ffee11d00dfeed5ca1ab1e" + hex(home + 1, 8))
  }

  static func agent(_ router: Int) -> String { "a1b2c3d4" + hex(router + 1, 8) }

  private static func hex(_ number: Int, _ digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }

  /// Messages that the broker has acknowledged, without a gap.
  var acknowledged: UInt64 { state.withLock { $0.oldest - 1 } }

  /// The newest that was handed to a connection.
  var newest: UInt64 { state.withLock { $0.newest } }

  /// Those that the broker refused: nobody has them.
  var refused: Int { state.withLock { $0.refused } }

  /// No message comes after those that were handed over, and each router has been announced.
  func end() {
    state.withLock { $0.end = max($0.newest, UInt64(homes.count * routers)) }
  }

  var isDone: Bool { state.withLock { $0.oldest > $0.end } }

  // MARK: What the client asks

  func connected(_ session: MosquittoSession) {
    state.withLock { state in
      state.next = state.oldest
      state.acknowledged = []
    }
  }

  func received(_ batch: [IncomingMessage]) throws {}

  func publications(upTo limit: Int) -> [Publication] {
    state.withLock { state in
      let due = min(state.end, UInt64(startedAt.duration(to: .now) / .seconds(1) * rate))
      let last = min(due, state.next + UInt64(limit) - 1)
      guard state.next <= last else { return [] }
      defer { state.next = last + 1 }
      state.newest = max(state.newest, last)
      return (state.next...last).map(message)
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    state.withLock { state in
      if outcome != .delivered { state.refused += 1 }
      state.acknowledged.insert(token)
      while state.acknowledged.remove(state.oldest) != nil { state.oldest += 1 }
    }
  }

  func disconnected(_ event: MosquittoDisconnection) {}

  // MARK: The messages

  private func place(_ number: UInt64) -> (home: Int, router: Int, turn: UInt64) {
    let index = number - 1
    let (homes, routers) = (UInt64(homes.count), UInt64(routers))
    return (Int(index % homes), Int(index / homes % routers), index / homes / routers)
  }

  /// The home that a message is for.
  func home(of number: UInt64) -> FleetHome { homes[place(number).home] }

  private func message(_ number: UInt64) -> Publication {
    let (home, router, turn) = place(number)
    let agent = "\"border_agent_id\":\"\(Self.agent(router))\""
    let topic = "\(base)/\(homes[home].shard)/\(homes[home].name)/in/routers/"
    var publication =
      if turn.isMultiple(of: 3) {
        Publication(
          topic: topic + (turn == 0 ? "announce" : "dataset"),
          payload: Array("{\(agent),\"dataset\":\"\(dataset(home, number))\"}".utf8))
      } else {
        Publication(
          topic: topic + "announce", payload: Array("{\(agent),\"name\":\"Name \(number)\"}".utf8))
      }
    publication.token = number
    return publication
  }

  private func dataset(_ home: Int, _ number: UInt64) -> String {
    // The network is complete, so another timestamp cannot make it invalid.
    let stamp = Timestamp(seconds: number)
    return (try? stamp.map { try networks[home].replacing(.activeTimestamp($0)) })??.hex ?? ""
  }

  // MARK: What came of them

  /// What the broker acknowledged last of a router.
  struct Expected: Equatable, Sendable {
    var name: String?
    var stamp: UInt64?
  }

  /// By home and router.
  func expected() -> [FleetHome: [BorderAgentID: Expected]] {
    var expected: [FleetHome: [BorderAgentID: Expected]] = [:]
    for number in 1...max(acknowledged, 1) {
      let (home, router, turn) = place(number)
      guard let agent = BorderAgentID(hex: Self.agent(router)) else { continue }
      if turn.isMultiple(of: 3) {
        expected[homes[home], default: [:]][agent, default: Expected()].stamp = number
      } else {
        expected[homes[home], default: [:]][agent, default: Expected()].name = "Name \(number)"
      }
    }
    return expected
  }
}

/// A client that publishes a load until it goes.
final class FleetPublisher: Sendable {
  let load: FleetLoad
  private let client: MosquittoClient
  private let tasks: [Task<Void, any Error>]

  init(_ load: FleetLoad, to broker: TestBroker) {
    var configuration = broker.configuration(clientID: "load-\(UInt32.random(in: 0 ... .max))")
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    let client = MosquittoClient(configuration, handler: load)
    self.load = load
    self.client = client
    tasks = [
      Task { try await client.run() },
      Task {
        while true {
          try await Task.sleep(for: .milliseconds(10))
          client.wake()
        }
      },
    ]
  }

  deinit {
    client.stop()
    tasks.last?.cancel()
  }

  /// Waits until the broker has acknowledged the last message.
  func finish(within limit: Duration = .seconds(120)) async throws {
    load.end()
    try await eventually(within: limit, "the broker to acknowledge all of the load") { load.isDone }
  }
}

#endif
