// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset
import ThreadkeeperSupport

/// Which alerts a router's state calls for, and their texts.
///
/// Every one names the router, the network, what differs (names, never values) and what to do.
struct RouterAlertConditions {
  let router: RouterRecord
  let check: PreferredCheck
  let dataset: OperationalDataset?
  let preferred: OperationalDataset?
  let trigger: String
  /// The login that credentials were to be sent to in an adoption that failed; nil: the one that publishes for the
  /// router.
  var addressee: String?
  /// The name of the network that it is on, where it is configured for another one and the name is known.
  var currentName: String?
  /// Whether an alert of the home explains why it differs from the preferred network.
  var isExplainedByHome = false
  /// Whether a person has accepted that routers are on its network, which is not the preferred one.
  var isNetworkAccepted = false
  /// For commands: ` --home NAME`, or nothing.
  var homeOption = ""

  var wanted: [AlertName: AlertFacts] {
    var wanted: [AlertName: AlertFacts] = [:]
    switch check {
    case .none, .match: break
    case .mismatch where isExplainedByHome: break
    case .mismatch where isNeverMember && isNetworkAccepted: break
    case .mismatch(let names): wanted[.preferredNetworkMismatch] = mismatch(names)
    case .stale(let names): wanted[.staleDataset] = staleAgainstPreferred(names)
    case .conflict(let names): wanted[.datasetConflict] = conflictWithPreferred(names)
    }
    switch router.credential {
    case .stored: break
    // Its record has no credentials.
    case .missing where router.source == .mdns: break
    case .missing: wanted[.credentialsMissing] = missing
    case .stale where wanted[.staleDataset] == nil: wanted[.staleDataset] = staleReport
    case .conflict where wanted[.datasetConflict] == nil:
      wanted[.datasetConflict] = conflictingReport
    case .stale, .conflict: break
    }
    if !router.isOnline, !isVisitor { wanted[.borderRouterOffline] = offline }
    if router.isOnline, !router.beats, router.isRecordGone {
      wanted[.borderRouterOffline] = recordGone
    }
    if router.isOnline, router.threadState == .detached { wanted[.routerDetached] = detached }
    if dataset?.networkKey?.isWellKnown == true { wanted[.wellKnownNetworkKey] = wellKnownKey }
    wanted[.adoptionFailed] = adoptionFailed
    if !router.isKnown, check == .match || check == .stale([]) { wanted[.unknownRouter] = unknown }
    return wanted
  }

  /// Names come from others: quoted and cut.
  var name: String { router.shownName }
  /// The network that its dataset is for.
  var configuredNetwork: String { router.networkName.flatMap(ShownName.quoted) ?? "its network" }
  /// The network that it is on.
  var network: String {
    guard router.isElsewhere, let current = router.currentNetwork else { return configuredNetwork }
    return currentName.flatMap(ShownName.quoted).map { "\($0) (\(current))" }
      ?? "network \(current)"
  }
  var preferredName: String { preferred?.shownName ?? "the preferred network" }

  func facts(_ summary: String, _ remedy: String, differs: [DatasetParameter]? = nil)
    -> AlertFacts
  {
    var facts = AlertFacts(summary: summary, remedy: remedy)
    facts.router = router.agent.description
    facts.routerName = router.name
    facts.networkName = router.networkName
    facts.extendedPANID = router.network?.description
    facts.preferredNetworkName = preferred?.networkName
    facts.preferredExtendedPANID = preferred?.extendedPANID?.description
    facts.differs = differs?.map(\.rawValue)
    facts.trigger = trigger
    return facts
  }

  private var otherCredentials: String {
    "\(name) has other credentials for the preferred network \(preferredName)"
  }

  private var otherNetwork: String {
    "\(name) is on \(network), not on the preferred network \(preferredName)"
  }

  private func mismatch(_ names: [DatasetParameter]) -> AlertFacts {
    if router.isElsewhere { return elsewhere(names) }
    if names.isEmpty { return notAttached }
    if isNeverMember { return neverMember }
    let isSameNetwork = dataset?.extendedPANID == preferred?.extendedPANID
    if let adoptionRemedy {
      return facts(
        isSameNetwork ? otherCredentials : otherNetwork, adoptionRemedy, differs: names)
    }
    return facts(
      isSameNetwork ? otherCredentials : otherNetwork,
      isSameNetwork
        ? "Give \(name) the current credentials of \(preferredName), or let a router that was on it "
          + "before bring the new ones."
        : "Give \(name) the credentials of \(preferredName) in its own app or page; if \(network) is "
          + "where it should be, move the other routers there instead.",
      differs: names)
  }

  private func staleAgainstPreferred(_ names: [DatasetParameter]) -> AlertFacts {
    facts(
      "\(name) still uses an older dataset of the preferred network \(preferredName)",
      "Wait for it to follow, or restart \(name); if it stays behind, give it the current dataset.",
      differs: names.isEmpty ? nil : names)
  }

  private func conflictWithPreferred(_ names: [DatasetParameter]) -> AlertFacts {
    facts(
      "\(name) and the preferred network \(preferredName) have datasets of the same age "
        + "that differ",
      "Set one of them with a later active timestamp, so that all routers take it.", differs: names)
  }

  private var staleReport: AlertFacts {
    facts(
      "\(name) reported an older dataset of \(configuredNetwork) than it had before",
      "Check whether \(name) was restored or reset; give it the current dataset of "
        + "\(configuredNetwork).")
  }

  private var conflictingReport: AlertFacts {
    facts(
      "\(name) reported a dataset of \(configuredNetwork) that is not taken: it differs from the "
        + "stored one of the same age, or its timestamp is more than a year ahead",
      "Set the right dataset on \(name) with a later active timestamp. If its timestamp is far ahead and "
        + "it is the right one, run `threadkeeper preferred set` with it.")
  }

  private var missing: AlertFacts {
    facts(
      "\(name) announced itself without a dataset, so its credentials are not kept",
      "Let its publisher send `dataset` with the active operational dataset.")
  }

  private var wellKnownKey: AlertFacts {
    facts(
      "\(configuredNetwork) uses a network key that is printed in public documentation",
      "Form a new network with a random key: with this one, anybody nearby can join and listen.")
  }
}
