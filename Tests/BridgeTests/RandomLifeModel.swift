// SPDX-License-Identifier: Apache-2.0

import TestKit

/// The rules of a home in their simplest form, to hold the bridge against: everything is a dictionary,
/// and nothing is remembered that the rules don't ask for.
struct RandomLifeModel {
  struct Dataset: Hashable {
    var network: SampleNetwork
    var seconds: UInt64

    static func == (a: Dataset, b: Dataset) -> Bool {
      a.seconds == b.seconds && a.saysTheSame(as: b)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(seconds) }

    func saysTheSame(as other: Dataset) -> Bool {
      network.extendedPANID == other.network.extendedPANID && network.name == other.network.name
        && network.networkKey == other.network.networkKey
        && network.channel == other.network.channel
    }

    func isOn(_ other: Dataset?) -> Bool {
      network.extendedPANID == other?.network.extendedPANID
    }
  }

  private(set) var owners: [String: String] = [:]
  private(set) var stored: [String: Dataset] = [:]
  private(set) var present: Set<String> = []
  private(set) var members: Set<String> = []
  private(set) var preferred: Dataset?
  let follows: Bool

  init(followsAny: Bool) {
    follows = followsAny
  }

  /// - Returns: whether the bridge must take it.
  mutating func announce(_ agent: String, _ dataset: Dataset?, team: String) -> Bool {
    if let owner = owners[agent], owner != team { return false }
    present.insert(agent)
    guard let dataset else { return true }
    let before = stored[agent]
    if let before, dataset.isOn(before) {
      // An older or equally old one is not stored, whatever it says.
      guard dataset.seconds > before.seconds else { return true }
    }
    owners[agent] = team
    stored[agent] = dataset
    let isUpdate = before.map { dataset.isOn($0) } ?? false
    let wasMember = members.contains(agent)
    if let preferred {
      let isNewer = isUpdate && dataset.isOn(preferred) && dataset.seconds > preferred.seconds
      let isTaken = follows && before != nil && !isUpdate
      if wasMember, isNewer || isTaken { self.preferred = dataset }
    } else {
      preferred = dataset
    }
    if wasMember { members.remove(agent) }
    if let preferred, dataset.isOn(preferred), wasMember || dataset.saysTheSame(as: preferred) {
      members.insert(agent)
    }
    settleMembers()
    return true
  }

  mutating func leave(_ agent: String, team: String) -> Bool {
    if let owner = owners[agent], owner != team { return false }
    present.remove(agent)
    stored[agent] = nil
    members.remove(agent)
    return true
  }

  mutating func removeCredential(_ agent: String) {
    stored[agent] = nil
    members.remove(agent)
  }

  func hears(_ agent: String, team: String) -> Bool {
    present.contains(agent) && (owners[agent] ?? team) == team
  }

  /// What the walk does after the preferred network changed.
  mutating func settleMembers() {
    guard let preferred else { return }
    for (agent, dataset) in stored {
      if !dataset.isOn(preferred) {
        members.remove(agent)
      } else if dataset.saysTheSame(as: preferred) {
        members.insert(agent)
      }
    }
  }
}
