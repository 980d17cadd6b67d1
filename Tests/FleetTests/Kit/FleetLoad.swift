#if Fleet
import Broker
@testable import Fleet
import Foundation
import Synchronization
import TestKit
import ThreadDataset
@testable import Threadkeeper

/// What routers of all homes publish.
///
/// The homes take turns, and in each of them its routers; routers of all homes have the same ids. The first message of a
/// router announces it, on the network of its home. Of the others every third is a newer dataset, with the message's
/// number as its timestamp, and the rest are names with that number.
struct FleetLoad: LoadContents {
  let homes: [HomeAddress]
  /// Of each home.
  let routers = 4
  private let networks: [OperationalDataset]

  init(_ homes: [HomeAddress]) throws {
    self.homes = homes
    networks = try homes.indices.map { try Self.network($0).dataset(at: 1) }
  }

  /// The network of a home: nobody else's.
  static func network(_ home: Int) -> SampleNetwork {
    SampleNetwork(
      extendedPANID: "f1ee7000" + hex(home), name: "net-\(home)", networkKey: "c0ffee11d00dfeed5ca1ab1e" + hex(home + 1)
    )
  }

  static func agent(_ router: Int) -> String { "a1b2c3d4" + hex(router + 1) }

  private static func hex(_ number: Int) -> String { String(format: "%08x", number) }

  /// Each router has been announced.
  func last(from number: UInt64) -> UInt64 { max(number, UInt64(homes.count * routers)) }

  private func place(_ number: UInt64) -> (home: Int, router: Int, turn: Int) {
    let index = Int(number - 1)
    return (index % homes.count, index / homes.count % routers, index / homes.count / routers)
  }

  func message(_ number: UInt64) -> Publication {
    let (home, router, turn) = place(number)
    let isDataset = turn.isMultiple(of: 3)
    let field = isDataset ? #""dataset":"\#(dataset(home, number))""# : #""name":"Name \#(number)""#
    return Publication(
      topic: "\(TestFleet.base)/\(homes[home])/in/routers/" + (isDataset && turn > 0 ? "dataset" : "announce"),
      payload: Array(#"{"border_agent_id":"\#(Self.agent(router))",\#(field)}"#.utf8))
  }

  private func dataset(_ home: Int, _ number: UInt64) -> String {
    // The network is complete, so another timestamp cannot make it invalid.
    let stamp = Timestamp(seconds: number)
    return (try? stamp.map { try networks[home].replacing(.activeTimestamp($0)) })??.hex ?? ""
  }

  /// What the broker acknowledged last of a router.
  struct Expected: Equatable, Sendable {
    var name: String?
    var stamp: UInt64?
  }

  /// By home and router, after so many messages.
  func expected(after count: UInt64) -> [HomeAddress: [BorderAgentID: Expected]] {
    var expected: [HomeAddress: [BorderAgentID: Expected]] = [:]
    for number in 1...max(count, 1) {
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

  private final class Holder: Sendable { let seen = Mutex(Seen()) }

  private let client: TestClient
  private let holder: Holder

  static func start(_ broker: TestBroker) async throws -> FleetWatch {
    let watch = FleetWatch(broker.configuration(passing: "watch", ["\(TestFleet.base)/+/+/router/+"]))
    try await watch.client.ready()
    return watch
  }

  private init(_ configuration: MosquittoConfiguration) {
    let holder = Holder()
    self.holder = holder
    client = TestClient(configuration) { batch in
      let now = ContinuousClock.now
      for message in batch {
        guard let shard = message.topic.split(separator: "/").dropFirst().first.flatMap({ Int($0) }) else { continue }
        let number = Self.number(message.payload)
        holder.seen.withLock {
          $0.states[message.topic] = message.payload
          if number > $0.mark, $0.first[shard] == nil { $0.first[shard] = now }
        }
      }
    }
  }

  /// From here on messages after this one are waited for.
  func mark(_ number: UInt64) { holder.seen.withLock { ($0.mark, $0.first) = (number, [:]) } }

  /// When a message after the mark was seen first in a shard.
  func first(in shard: Int) -> ContinuousClock.Instant? { holder.seen.withLock { $0.first[shard] } }

  private struct Shown: Decodable {
    var name: String?
    var active_timestamp: UInt64?
  }

  private static func shown(_ payload: [UInt8]) -> Shown? { try? JSONDecoder().decode(Shown.self, from: Data(payload)) }

  /// The number of the newest message that a state shows.
  private static func number(_ payload: [UInt8]) -> UInt64 {
    let shown = shown(payload)
    let name = shown?.name?.split(separator: " ").last.flatMap { UInt64($0) }
    return max(name ?? 0, shown?.active_timestamp ?? 0)
  }

  /// What the retained state of a router says of name and timestamp.
  func shown(_ home: HomeAddress, _ agent: String) -> FleetLoad.Expected? {
    holder.seen.withLock { $0.states["\(TestFleet.base)/\(home)/router/\(agent)"] }.flatMap(Self.shown).map {
      .init(name: $0.name, stamp: $0.active_timestamp)
    }
  }

  /// All topics of routers that were published to.
  var topics: Set<String> { holder.seen.withLock { Set($0.states.keys) } }
}
#endif
