// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore
import ThreadDataset

/// The text of the alert `PreferredKeyDisputed`: both sides, and both remedies.
struct DisputeNotice {
  let dispute: KeyDispute
  let preferred: OperationalDataset
  /// Names of the routers for a sentence, in the order of the dispute.
  let claimants: [String]
  /// The whole name of the first claimant, for the field.
  let claimantName: String?
  let others: [String]
  let damaged: [String]
  let departed: [String]
  /// For commands: ` --home NAME`, or nothing.
  let homeOption: String

  var facts: AlertFacts {
    var facts = AlertFacts(summary: summary, remedy: remedy)
    facts.networkName = preferred.networkName
    facts.extendedPANID = preferred.extendedPANID?.description
    facts.preferredNetworkName = preferred.networkName
    facts.preferredExtendedPANID = preferred.extendedPANID?.description
    facts.trigger = "dataset"
    if let first = dispute.claimants.first {
      facts.router = first.agent.description
      facts.routerName = claimantName
      facts.differs = first.dataset.essentialDifferences(from: preferred).map(\.rawValue)
    }
    return facts
  }

  private var network: String { preferred.shownName ?? "the preferred network" }

  private var summary: String {
    var summary = claim
    if !departed.isEmpty {
      summary += "; \(NameList(departed)) had the current ones and left less than 30 days ago"
    }
    if !damaged.isEmpty {
      summary +=
        "; the credentials stored for \(NameList(damaged)) are damaged, so their keys are not known"
    }
    return summary
  }

  private var claim: String {
    let said =
      "\(NameList(claimants)) \(claimants.count == 1 ? "reports" : "report") other keys of "
      + "\(network) (timestamp \(timestamp(dispute.claimants.first?.dataset))) than the preferred "
      + "network has (timestamp \(timestamp(preferred)))"
    guard !others.isEmpty else {
      return claimants.count > 1 ? said + ", and they do not agree" : said
    }
    return said + ", which \(NameList(others)) \(others.count == 1 ? "uses" : "use")"
  }

  private var remedy: String {
    guard let first = dispute.claimants.first, let network = preferred.extendedPANID else {
      return "Give all border routers the same dataset."
    }
    return "If the keys of \(NameList(claimants)) are right, run `threadkeeper preferred set "
      + "\(network) --router \(first.agent)\(homeOption)`. If not, give "
      + "\(NameList(claimants)) the current dataset of \(self.network)."
  }

  private func timestamp(_ dataset: OperationalDataset?) -> String {
    dataset?.activeTimestamp.map { String($0.seconds) } ?? "unknown"
  }
}

/// Names for a sentence: at most three, and how many more there are.
struct NameList: CustomStringConvertible {
  let names: [String]

  init(_ names: [String]) {
    self.names = names
  }

  var description: String {
    var shown = Array(names.prefix(3))
    if names.count > 3 { shown.append("\(names.count - 3) more") }
    guard let last = shown.popLast() else { return "nobody" }
    return shown.isEmpty ? last : "\(shown.joined(separator: ", ")) and \(last)"
  }
}
