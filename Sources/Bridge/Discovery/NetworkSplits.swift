// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset
import ThreadkeeperSupport

/// Networks whose border routers are in several partitions: they do not reach each other by radio, and devices of one
/// partition cannot be reached through routers of another one. Only of networks that the home wants: a neighbour's are
/// not its business. Partitions are seen by mDNS; over MQTT, routers report that they lead one.
struct NetworkSplits {
  /// A router by its partition.
  struct Place: Hashable {
    let network: ExtendedPANID
    let partition: UInt32
    let router: String
  }

  /// A router that has reported over MQTT that it leads its network, from one time until another.
  struct Leader: Hashable {
    let id: Int64
    let network: ExtendedPANID
    let since: WireTime
    let reported: WireTime
  }

  /// Leaders of one network that are named. Only a login that makes routers up has more.
  private static let maximumLeaders = 20

  /// Names of routers in a text.
  private static let namesShown = 3

  let context: TransactionContext
  let home: HomeContext

  func check() throws -> [Effect] {
    let record = home.record
    let seen = try Self.several(RouterLedger.partitions(home: record.id, context.tx))
    let led = try Self.simultaneous(RouterLedger.leaders(home: record.id, context.tx))
    var split = Set(seen.keys).union(led.keys)
    if !split.isEmpty {
      let preferred = try context.preferredNetwork(of: home)?.extendedPANID
      let accepted = try AcceptedNetworkLedger.all(home: record.id, context.tx)
      split = split.filter { $0 == preferred || accepted.contains($0) }
    }
    var effects: [Effect] = try split.map { network in
      let places = try seen[network] ?? places(of: led[network] ?? [])
      let name = try NetworkLedger.find(network, home: record.id, context.tx)?.name
      var facts = Self.facts(network, name, places)
      facts.trigger = seen[network] == nil ? "heartbeat" : "mdns"
      return .alert(.networkSplit, facts, about: network.description, home: record.id)
    }
    let active = try AlertLedger.activeSubjects(of: .networkSplit, home: record.id, context.tx)
    for subject in active where ExtendedPANID(hex: subject).map({ !split.contains($0) }) ?? true {
      effects.append(.alert(.networkSplit, nil, about: subject, home: record.id))
    }
    return effects
  }

  /// The networks with several partitions.
  private static func several(_ places: [Place]) -> [ExtendedPANID: [Place]] {
    Dictionary(grouping: places, by: \.network).filter { Set($1.map(\.partition)).count > 1 }
  }

  /// The leaders that led their network at the same time as another one, in the same order: a partition has one leader.
  ///
  /// - Parameter leaders: ordered by network, `since` and `reported`.
  static func simultaneous(_ leaders: [Leader]) -> [ExtendedPANID: [Leader]] {
    var found: [ExtendedPANID: [Leader]] = [:]
    // The one of this network that reported last, and one that has led alone so far.
    var latest: Leader?
    var alone: Leader?
    for leader in leaders {
      guard let last = latest, last.network == leader.network, last.reported > leader.since else {
        (latest, alone) = (leader, leader)
        continue
      }
      found[leader.network, default: []] += [alone, leader].compactMap(\.self)
      alone = nil
      if leader.reported > last.reported { latest = leader }
    }
    return found
  }

  /// Each leader is in a partition of its own. The partitions are numbered.
  private func places(of leaders: [Leader]) throws -> [Place] {
    try leaders.prefix(Self.maximumLeaders).enumerated().compactMap { number, leader in
      try RouterLedger.shownName(id: leader.id, context.tx).map {
        Place(network: leader.network, partition: UInt32(number), router: $0)
      }
    }
  }

  static func facts(_ network: ExtendedPANID, _ name: String?, _ places: [Place]) -> AlertFacts {
    let shown = name.flatMap(ShownName.quoted) ?? network.description
    let parts = Dictionary(grouping: places, by: \.partition).values
      .map { names($0.map(\.router)) }.sorted()
    var facts = AlertFacts(
      summary: "\(shown) is split into \(parts.count) parts that do not reach each other by radio: "
        + parts.prefix(namesShown).joined(separator: " | "),
      remedy:
        "Check that each border router is within radio range of another one or of a mains-powered "
        + "Thread device, and restart those that are alone. The parts join by themselves when they "
        + "reach each other.")
    facts.networkName = name
    facts.extendedPANID = network.description
    return facts
  }

  private static func names(_ routers: [String]) -> String {
    let sorted = routers.sorted()
    let more = sorted.count - namesShown
    return sorted.prefix(namesShown).joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}
