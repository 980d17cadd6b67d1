// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import BrokerProbe
import ThreadkeeperDaemon

/// Whether the broker allows what threadkeeper and the routers need, and refuses what it must.
struct BrokerVerdict: Sendable {
  enum State: String, Sendable, Encodable {
    case complete, incomplete
    /// Not all of it could be seen.
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
  /// Clients without a login get in; nil when that is not known.
  private(set) var admitsAnonymous: Bool?
  /// The broker has an access list: it refuses what another would take.
  private(set) var hasList = false
  /// That list can be read, and has not all lines that threadkeeper and Home Assistant need.
  private(set) var lacksLines = false
  /// The lines of an intruder that let it, where they can be read.
  private(set) var wideLines: [String: [String]] = [:]
  /// All of threadkeeper's own topics came back.
  private var isOwnFine = false
  private var hasSeenList = false

  /// Topics that no access list of threadkeeper's allows anybody.
  static let elsewhere = "threadkeeper-probe-elsewhere"

  var state: State {
    !reasons.isEmpty ? .incomplete : isOwnFine && hasSeenList ? .complete : .unknown
  }

  /// What is known where not all is.
  var findings: [String] {
    guard state == .unknown else { return reasons }
    if isOwnFine {
      return ["threadkeeper's own login is fine; whether others may read keys could not be seen"]
    }
    return ["threadkeeper's own topics could not be tried"]
  }

  /// - Parameters:
  ///   - report: of a probe of the base topics and of `elsewhere`; nil when there was none.
  ///   - house: the broker's files, where they are on this machine.
  ///   - reader: Home Assistant's login; nil without.
  init(_ report: AccessReport?, _ house: HouseBroker?, for wanted: AccessList, reader: String?) {
    let files = house?.isComplete == true ? house : nil
    if let report { look(at: report, wanted, isAlone: files == nil) }
    if let files { look(at: files, wanted, reader) }
  }

  /// - Parameter isAlone: the broker's files are not here: then the probe is all that is known.
  private mutating func look(at report: AccessReport, _ wanted: AccessList, isAlone: Bool) {
    let own = report.own.filter { wanted.baseTopics.contains($0.topic.base) }
    let refused = own.filter { $0.outcome.isDelivered == false }
    isOwnFine = !own.isEmpty && own.allSatisfy { $0.outcome.isDelivered == true }
    hasList = report.own.contains { $0.outcome.isDelivered == false }
    if !refused.isEmpty {
      let groups = refused.map { "\($0.topic.base)/\($0.topic.group.rawValue)" }
      reasons.append("threadkeeper's login may not use \(groups.joined(separator: ", "))")
    }
    if isAlone,
      report.own.contains(where: {
        $0.topic.base == Self.elsewhere && $0.outcome.isDelivered == true
      })
    {
      reasons.append(
        "threadkeeper's own login may do everything: a login that may, too, can speak for any border router"
      )
    }
    switch report.anonymous {
    case .refused(let error): if error.isRefusal { admitsAnonymous = false }
    case .admitted(let homes):
      admitsAnonymous = true
      let found = homes.filter { wanted.baseTopics.contains($0.base) }.contains { home in
        [
          home.readsAnswers, home.readsEvents, home.writesAnswers, home.speaksForOthers,
          home.publishesStates,
        ]
        .contains { $0.isDelivered == true }
      }
      if found {
        isOpenToAnonymous = true
        reasons.append("clients without a login can read network keys or speak for border routers")
      }
    }
  }

  private mutating func look(at house: HouseBroker, _ wanted: AccessList, _ reader: String?) {
    admitsAnonymous = house.options.allowsAnonymous
    guard let list = house.accessList else {
      reasons.append(
        "the broker has no access list, so each login could speak for any border router")
      return
    }
    (hasList, hasSeenList) = (true, true)
    let rules = AccessRules(list)
    let gaps = AccessGaps(
      rules, for: wanted, logins: house.logins ?? [],
      allowsAnonymous: house.options.allowsAnonymous)
    intruders = gaps.intruders.compactMap { $0 }
    let topics = wanted.baseTopics.flatMap(AccessGaps.ofOthers)
    for login in intruders { wideLines[login] = rules.lines(of: login, reaching: topics) }
    lacksLines = gaps.lacksLines
    isOpenToAll = gaps.isOpenToAll
    if gaps.intruders.contains(nil), !isOpenToAnonymous {
      isOpenToAnonymous = true
      reasons.append("clients without a login can read network keys or speak for border routers")
    }
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
      lacksLines = true
      reasons.append("Home Assistant's login \(reader.printable) may not see threadkeeper's states")
    }
  }
}
