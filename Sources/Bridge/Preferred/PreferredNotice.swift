// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset
import ThreadkeeperSupport

/// The text of the alert `PreferredNetworkChanged`.
struct PreferredNotice {
  let from: OperationalDataset
  let to: OperationalDataset
  let cause: PreferredCause
  /// Who reports it, or has chosen it, for a sentence.
  let who: String?
  /// The second router that reports it.
  let second: String?
  /// Routers that have other parameters.
  let disagreeing: [String]
  /// Under which the former network is kept.
  let formerID: String?
  /// For commands: ` --home NAME`, or nothing.
  let homeOption: String

  var facts: AlertFacts {
    var facts = AlertFacts(summary: "\(change): \(reason)\(disagreement)", remedy: remedy)
    if !disagreeing.isEmpty { facts.reason = AlertName.disagreement }
    facts.networkName = to.networkName
    facts.extendedPANID = to.extendedPANID?.description
    facts.preferredNetworkName = to.networkName
    facts.preferredExtendedPANID = to.extendedPANID?.description
    if !bringsCredentials {
      facts.differs = to.essentialDifferences(from: from).map(\.rawValue)
    }
    facts.trigger = "preferred_changed"
    return facts
  }

  /// Whether the network was preferred by its Extended PAN ID alone before.
  private var bringsCredentials: Bool {
    !from.hasCredentials && to.extendedPANID == from.extendedPANID
  }

  private var change: String {
    let name = to.shownName ?? "without a name"
    if bringsCredentials { return "the credentials of the preferred network \(name) are here now" }
    guard to.extendedPANID != from.extendedPANID else {
      guard to.hasKeys(of: from) else { return "the preferred network \(name) has new keys" }
      let names = to.essentialDifferences(from: from).map(\.rawValue).joined(separator: ", ")
      return "the preferred network \(name) has other parameters (\(names))"
    }
    return
      "\(name) is the preferred network now, instead of \(from.shownName ?? "one without a name")"
  }

  private var reason: String {
    let who = who ?? "a border router"
    return switch cause {
    case .first, .sameKeys: "\(who) reports them"
    case .onlyMember: "\(who), its only border router, reports them"
    case .confirmed: "\(who) and \(second ?? "another border router") report them"
    case .owner: "a program on this machine has stored it for one of its team's border routers"
    case .person: "a person has chosen it (\(who))"
    }
  }

  private var disagreement: String {
    guard !disagreeing.isEmpty else { return "" }
    return ", and \(NameList(disagreeing)) \(disagreeing.count == 1 ? "has" : "have") others"
  }

  private var remedy: String {
    guard let formerID else {
      return "If this is not what you want, choose another one with `threadkeeper preferred set`."
    }
    return
      "If this is not what you want, go back with `threadkeeper preferred set \(formerID)\(homeOption)`."
  }
}

extension OperationalDataset {
  /// The network's name, quoted and cut for a sentence; nil where it shows nothing.
  var shownName: String? { networkName.flatMap(ShownName.quoted) }
}
