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

  /// Names of routers in a text.
  private static let namesShown = 3

  let context: TransactionContext
  let home: HomeContext

  func check() throws -> [Effect] {
    let record = home.record
    let seen = try Self.several(RouterLedger.partitions(home: record.id, context.tx))
    let led = try Self.several(RouterLedger.leaders(home: record.id, context.tx))
    var split = seen.merging(led) { seen, _ in seen }
    if !split.isEmpty {
      let preferred = try context.preferredNetwork(of: home)?.extendedPANID
      let accepted = try AcceptedNetworkLedger.all(home: record.id, context.tx)
      split = split.filter { $0.key == preferred || accepted.contains($0.key) }
    }
    var effects: [Effect] = try split.map { network, places in
      let name = try NetworkLedger.find(network, home: record.id, context.tx)?.name
      var facts = Self.facts(network, name, places)
      facts.trigger = seen[network] == nil ? "heartbeat" : "mdns"
      return .alert(.networkSplit, facts, about: network.description, home: record.id)
    }
    let active = try AlertLedger.activeSubjects(of: .networkSplit, home: record.id, context.tx)
    for subject in active where ExtendedPANID(hex: subject).map({ split[$0] == nil }) ?? true {
      effects.append(.alert(.networkSplit, nil, about: subject, home: record.id))
    }
    return effects
  }

  /// The networks with several partitions.
  private static func several(_ places: [Place]) -> [ExtendedPANID: [Place]] {
    Dictionary(grouping: places, by: \.network).filter { Set($1.map(\.partition)).count > 1 }
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
