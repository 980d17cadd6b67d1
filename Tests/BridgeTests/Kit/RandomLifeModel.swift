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

    func hasKey(of other: Dataset?) -> Bool { network.networkKey == other?.network.networkKey }

    func isOn(_ other: Dataset?) -> Bool {
      network.extendedPANID == other?.network.extendedPANID
    }
  }

  private(set) var owners: [String: String] = [:]
  private(set) var stored: [String: Dataset] = [:]
  /// What routers had that have left; nothing of it is old enough to be forgotten.
  private var departed: [String: Dataset] = [:]
  private(set) var present: Set<String> = []
  private(set) var members: Set<String> = []
  private(set) var preferred: Dataset?
  /// - Returns: whether the bridge must take it.
  mutating func announce(_ agent: String, _ dataset: Dataset?, team: String) -> Bool {
    if let owner = owners[agent], owner != team { return false }
    present.insert(agent)
    guard let dataset else { return true }
    let before = stored[agent]
    if let before, dataset.isOn(before), dataset.seconds <= before.seconds {
      // An older or equally old one is stored only by a router that comes back to the preferred network.
      let returns = preferred.map {
        dataset.saysTheSame(as: $0) && !before.saysTheSame(as: $0)
      }
      if returns != true {
        if dataset == before { claim(agent, isUpdate: false) }
        return true
      }
    }
    owners[agent] = team
    stored[agent] = dataset
    let wasMember = members.contains(agent)
    let leads = !isLeftBehind(before) || preferred.map { dataset.saysTheSame(as: $0) } ?? true
    let stays = leads || dataset.hasKey(of: preferred)
    if preferred == nil {
      preferred = dataset
    } else if wasMember, leads {
      claim(agent, isUpdate: before.map { dataset.isOn($0) } ?? false)
    }
    if let preferred, dataset.isOn(preferred),
      wasMember && stays || dataset.hasKey(of: preferred)
    {
      members.insert(agent)
    } else {
      members.remove(agent)
    }
    settleMembers()
    settleClaims()
    return true
  }

  /// Whether a stored dataset has the preferred keys and is newer than the preferred one, which differs.
  private func isLeftBehind(_ dataset: Dataset?) -> Bool {
    guard let dataset, let preferred else { return false }
    return dataset.isOn(preferred) && dataset.hasKey(of: preferred)
      && dataset.seconds > preferred.seconds && !dataset.saysTheSame(as: preferred)
  }

  /// What a member says of the preferred network.
  private mutating func claim(_ agent: String, isUpdate: Bool) {
    guard members.contains(agent), let preferred, let dataset = stored[agent],
      dataset.isOn(preferred), dataset.seconds > preferred.seconds
    else { return }
    guard !dataset.hasKey(of: preferred) else {
      if isUpdate { self.preferred = dataset }
      return
    }
    let others = members.filter { $0 != agent }
    let gone = departed.keys.filter {
      $0 != agent && stored[$0] == nil && departed[$0]?.isOn(preferred) == true
        && departed[$0]?.hasKey(of: preferred) == true
    }
    let isOneTeam = others.union(gone).allSatisfy { owners[$0] == owners[agent] }
    let isConfirmed = others.contains {
      guard let other = stored[$0] else { return false }
      return other.seconds > preferred.seconds && other.saysTheSame(as: dataset)
        && (isOneTeam || owners[$0] != owners[agent])
    }
    guard others.isEmpty && gone.isEmpty || isConfirmed else { return }
    self.preferred = dataset
    members = members.filter { stored[$0]?.hasKey(of: dataset) == true }
  }

  /// Claims that are the home's own word now, because the other side has gone.
  mutating func settleClaims() {
    let claimants = members.filter { agent in
      guard let dataset = stored[agent], let preferred else { return false }
      return dataset.seconds > preferred.seconds && !dataset.hasKey(of: preferred)
    }
    let inOrder = claimants.sorted {
      let (a, b) = (stored[$0]?.seconds ?? 0, stored[$1]?.seconds ?? 0)
      return a == b ? $0 < $1 : a > b
    }
    for agent in inOrder {
      let before = preferred
      claim(agent, isUpdate: false)
      if preferred != before {
        settleMembers()
        return settleClaims()
      }
    }
  }

  mutating func leave(_ agent: String, team: String) -> Bool {
    if let owner = owners[agent], owner != team { return false }
    present.remove(agent)
    removeCredential(agent)
    settleClaims()
    return true
  }

  mutating func removeCredential(_ agent: String) {
    if let dataset = stored[agent] { departed[agent] = dataset }
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
      } else if dataset.hasKey(of: preferred) {
        members.insert(agent)
      }
    }
  }
}
