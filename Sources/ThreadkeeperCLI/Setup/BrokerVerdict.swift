// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import BrokerProbe
import ThreadkeeperDaemon

/// Whether the broker allows what threadkeeper and the routers need, and refuses what it must.
struct BrokerVerdict: Sendable {
  enum State: String, Sendable, Encodable {
    case complete, incomplete
    /// Nobody could look.
    case unknown
  }

  /// What is wrong, each in a sentence's part.
  private(set) var reasons: [String] = []
  /// Logins that can do what only a router or threadkeeper should.
  private(set) var intruders: [String] = []
  /// Clients without a login can.
  private(set) var isOpenToAnonymous = false
  /// A `pattern` line lets everybody.
  private(set) var isOpenToAll = false
  private var isKnown = false

  /// Topics that no access list of threadkeeper's allows anybody.
  static let elsewhere = "threadkeeper-probe-elsewhere"

  var state: State { !reasons.isEmpty ? .incomplete : isKnown ? .complete : .unknown }

  /// - Parameters:
  ///   - report: of a probe of the base topics and of `elsewhere`; nil when there was none.
  ///   - house: the broker's files, where they are on this machine.
  ///   - reader: Home Assistant's login; nil without.
  init(_ report: AccessReport?, _ house: HouseBroker?, for wanted: AccessList, reader: String?) {
    if let report { look(at: report, wanted) }
    if let house, house.isComplete { look(at: house, wanted, reader) }
  }

  private mutating func look(at report: AccessReport, _ wanted: AccessList) {
    isKnown = true
    let refused = report.own.filter { own in
      wanted.baseTopics.contains(own.topic.base) && own.outcome.isDelivered == false
    }
    if !refused.isEmpty {
      let groups = refused.map { "\($0.topic.base)/\($0.topic.group.rawValue)" }
      reasons.append("threadkeeper's login may not use \(groups.joined(separator: ", "))")
    }
    if report.own.contains(where: {
      $0.topic.base == Self.elsewhere && $0.outcome.isDelivered == true
    }) {
      reasons.append("every login may do everything, so each could speak for any border router")
    }
    if case .admitted(let homes) = report.anonymous {
      let found = homes.filter { wanted.baseTopics.contains($0.base) }.contains { home in
        [home.readsAnswers, home.readsEvents, home.speaksForOthers, home.publishesStates]
          .contains { $0.isDelivered == true }
      }
      if found {
        isOpenToAnonymous = true
        reasons.append("clients without a login can read network keys or speak for border routers")
      }
    }
  }

  private mutating func look(at house: HouseBroker, _ wanted: AccessList, _ reader: String?) {
    isKnown = true
    guard let list = house.accessList else {
      if reasons.isEmpty { reasons.append("the broker has no access list") }
      return
    }
    let rules = AccessRules(list)
    let gaps = AccessGaps(
      rules, for: wanted, logins: house.logins ?? [],
      allowsAnonymous: house.options.allowsAnonymous)
    intruders = gaps.intruders.compactMap { $0 }
    isOpenToAll = gaps.isOpenToAll
    if gaps.intruders.contains(nil) { isOpenToAnonymous = true }
    if gaps.lacksLines { reasons.append("the access list lacks lines for threadkeeper") }
    for login in intruders {
      reasons.append("\(login.printable) can speak for border routers or read their keys")
    }
    if gaps.isOpenToAll {
      reasons.append(
        "a line `pattern` of the access list lets every login speak for border routers")
    }
    if let reader,
      !wanted.baseTopics.allSatisfy({ rules.allows(reader, .read, "\($0)/bridge/state") })
    {
      reasons.append("Home Assistant's login \(reader.printable) may not see threadkeeper's states")
    }
  }
}
