// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization
import TestKit

/// Publishes at a steady rate what can be looked up afterwards. What a connection loses on its way is published again by
/// the next one, in the same order.
///
/// | message | what it is |
/// |---|---|
/// | the first | the announcement of the hub, whose network becomes the preferred one |
/// | the next 199 | announcements of the settled routers, on a network of their own |
/// | every 50th | the announcement of a new router, on the hub's network |
/// | every 20th, and one more | a newer dataset of a settled router |
/// | the others | a new name of a settled router |
///
/// They come from 40 logins, so that none of them is a flood.
final class SteadyLoad: MosquittoHandler {
  private static let settled: UInt64 = 199
  private static let users: UInt64 = 40

  private struct State {
    var next: UInt64 = 1
    /// The newest that was handed to a connection.
    var newest: UInt64 = 0
    /// The oldest that the broker has not acknowledged.
    var oldest: UInt64 = 1
    var acknowledged: Set<UInt64> = []
    var refused = 0
    /// The last one that there is to be.
    var end: UInt64 = .max
  }

  private let rate: Double
  private let home: String
  private let settledNetwork: ThreadNetwork
  private let startedAt = ContinuousClock.now
  private let state = Mutex(State())

  /// - Parameter rate: messages a second; 0: as fast as it goes.
  init(rate: Double) throws {
    self.rate = rate
    home = try ThreadNetwork("home").hex()
    settledNetwork = try ThreadNetwork("settled")
  }

  /// Messages that the broker has acknowledged, without a gap.
  var acknowledged: UInt64 { state.withLock { $0.oldest - 1 } }

  /// No message comes after the last one, which announces a new router.
  ///
  /// - Parameter least: so many there are to be at least.
  func end(after least: UInt64 = 250) {
    state.withLock { state in
      state.end = (max(state.newest, least) + 49) / 50 * 50
    }
  }

  var isDone: Bool { state.withLock { $0.oldest > $0.end } }

  /// How many routers there are when all has been taken.
  var routers: Int {
    let opening = 1 + Self.settled
    return Int(opening + (max(acknowledged, opening) - opening) / 50)
  }

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
      let passed = startedAt.duration(to: .now) / .seconds(1)
      let due = rate == 0 ? state.end : min(state.end, UInt64(passed * rate))
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

  private enum Kind {
    case hub, dataset, newRouter, name

    init(_ number: UInt64) {
      if number == 1 {
        self = .hub
      } else if number <= 1 + SteadyLoad.settled || number % 20 == 1 {
        self = .dataset
      } else if number % 50 == 0 {
        self = .newRouter
      } else {
        self = .name
      }
    }
  }

  private static func router(_ number: UInt64) -> BorderRouter {
    switch Kind(number) {
    case .hub, .newRouter:
      BorderRouter(number: 0x1_0000 + Int(number), user: "user-\(number / 50 % users)")
    case .dataset, .name:
      BorderRouter(number: Int(number % settled) + 1, user: "user-\(number % settled % users)")
    }
  }

  private func message(_ number: UInt64) -> Publication {
    let router = Self.router(number)
    var publication =
      switch Kind(number) {
      case .hub, .newRouter: router.announces(home)
      // The network is complete, so another timestamp cannot make it invalid.
      case .dataset: router.announces((try? settledNetwork.hex(at: number)) ?? "")
      case .name: router.says("announce", ("name", "\"Name \(number)\""))
      }
    publication.token = number
    return publication
  }

  // MARK: What came of them

  /// Values of routers that are not those which the broker acknowledged last.
  func lost(in installation: Installation) async throws -> Int {
    var names: [String: UInt64] = [:]
    var stamps: [String: UInt64] = [:]
    for number in 1...max(acknowledged, 1) {
      let agent = Self.router(number).agent
      switch Kind(number) {
      case .hub, .newRouter: stamps[agent] = 1
      case .dataset: stamps[agent] = number
      case .name: names[agent] = number
      }
    }
    for router in try await installation.json("routers").list {
      guard let agent = router["border_agent_id"]?.text, let number = names[agent],
        router["name"]?.text == "Name \(number)"
      else { continue }
      names[agent] = nil
    }
    for credential in try await installation.json("credentials", "list").list {
      guard let agent = credential["border_agent_id"]?.text, let number = stamps[agent],
        credential["active_timestamp"]?.number == Int64(number)
      else { continue }
      stamps[agent] = nil
    }
    return names.count + stamps.count + state.withLock { $0.refused }
  }
}

/// A client that publishes a load until it goes.
final class LoadPublisher: Sendable {
  let load: SteadyLoad
  private let client: MosquittoClient
  private let tasks: [Task<Void, any Error>]

  init(_ load: SteadyLoad, to broker: TestBroker, user: String? = nil) {
    var configuration = broker.configuration(
      clientID: "load-\(UInt32.random(in: 0 ... .max))", user: user)
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
  func finish(after least: UInt64 = 250, within limit: Duration = .seconds(120)) async throws {
    load.end(after: least)
    try await eventually(within: limit, "the broker to acknowledge all of the load") { load.isDone }
  }
}
