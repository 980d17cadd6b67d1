// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Which dataset `preferred/set` means.
extension CredentialService {
  /// - Throws: `AnswerFailure` with `not_found`, or with `invalid_payload` when several networks, or several
  ///   keys of one network, are meant; it lists them.
  func chosen(
    by request: ThreadRequest, current: OperationalDataset?
  ) throws -> OperationalDataset {
    if let dataset = request.dataset { return dataset }
    if let id = request.id { return try former(id) }
    if let name = request.networkName {
      return try newest(on: network(named: name, current: current), current: current)
    }
    guard let network = request.network else { throw notStored() }
    guard let agent = request.agent else { return try newest(on: network, current: current) }
    guard let found = try visible(on: network).first(where: { $0.agent == agent }) else {
      throw AnswerFailure(
        .notFound, field: "border_agent_id",
        "no credentials of this border router are stored for this network",
        help: "`threadkeeper credentials list` shows what is stored")
    }
    return found.dataset
  }

  private func former(_ id: String) throws -> OperationalDataset {
    let former =
      context.choosesPreferred
      ? try store.formerNetworks(of: home, tx).first { $0.id == id } : nil
    guard let former else {
      throw AnswerFailure(
        .notFound, field: "id", "no network is kept under this id",
        help: "`threadkeeper preferred show --history` lists what is kept")
    }
    guard let dataset = former.dataset else {
      throw AnswerFailure(
        .damagedCredentials, field: "id", "what is kept under this id is damaged; restore a backup")
    }
    return dataset
  }

  /// Byte by byte: names that only look the same are two.
  private func network(
    named name: String, current: OperationalDataset?
  ) throws -> ExtendedPANID {
    var datasets = try store.all(
      in: home, of: context.choosesPreferred ? nil : context.team, limit: nil, tx
    )
    .readable.map(\.dataset)
    if context.choosesPreferred {
      datasets += try store.formerNetworks(of: home, tx).compactMap(\.dataset)
      if let current { datasets.append(current) }
    }
    let named = Set(
      datasets.filter { ($0.networkName ?? "").utf8.elementsEqual(name.utf8) }
        .compactMap(\.extendedPANID))
    guard named.count < 2 else {
      let list = named.map(\.description).sorted().joined(separator: ", ")
      throw AnswerFailure(
        .invalidPayload, field: "network_name",
        "\(named.count) networks have this name: \(list)", help: "name one by its Extended PAN ID")
    }
    guard let network = named.first else {
      throw AnswerFailure(
        .notFound, field: "network_name", "no network of this name is stored",
        help:
          "`threadkeeper preferred show --history` lists the names; name a network that was only seen "
          + "by its Extended PAN ID, which `threadkeeper networks` lists")
    }
    return network
  }

  /// Any login can store a dataset that names an Extended PAN ID. So of the preferred network only what its
  /// members report counts, and of any other one, or one that has no credentials yet, a single pair of keys must be
  /// known.
  private func newest(
    on network: ExtendedPANID, current preferred: OperationalDataset?
  ) throws -> OperationalDataset {
    let current = preferred.flatMap { $0.hasCredentials ? $0 : nil }
    var known: [(whose: String, dataset: OperationalDataset)] = []
    for credential in try visible(on: network) {
      if let current, current.extendedPANID == network {
        guard credential.isMember(of: current), credential.dataset.relation(to: current) == .newer
        else { continue }
      }
      known.append((credential.agent.description, credential.dataset))
    }
    if let current, current.extendedPANID == network {
      let claims = known.filter { !$0.dataset.hasKeys(of: current) }
      known = claims.isEmpty ? known + [("", current)] : claims
    } else if context.choosesPreferred {
      // Of the history the keys that were preferred last; earlier ones are named by their ids.
      let former = try store.formerNetworks(of: home, tx).first {
        $0.network == network && $0.dataset?.hasCredentials != false
      }
      if let former, let dataset = former.dataset { known.append((former.id, dataset)) }
    }
    guard var best = known.first else { return try seen(network, current: preferred) }
    guard known.allSatisfy({ $0.dataset.hasKeys(of: best.dataset) }) else {
      let list = known.prefix(8).map {
        "\($0.whose) (timestamp \($0.dataset.activeTimestamp?.seconds ?? 0))"
      }
      throw AnswerFailure(
        .invalidPayload, field: "ext_pan_id",
        "different keys of this network are known, from \(list.joined(separator: ", "))",
        help: "add `--router` with one of these ids, or name one that begins with p- instead")
    }
    for one in known {
      guard let age = one.dataset.activeTimestamp, let newest = best.dataset.activeTimestamp,
        age > newest
      else { continue }
      best = one
    }
    return best.dataset
  }

  /// A network of which no credentials are here: only a person chooses it, by its Extended PAN ID alone.
  private func seen(
    _ network: ExtendedPANID, current: OperationalDataset?
  ) throws -> OperationalDataset {
    if let current, current.extendedPANID == network { return current }
    guard context.choosesPreferred, let name = try registry.seenName(of: network, in: home) else {
      throw notStored()
    }
    return try .naming(network, name)
  }

  private func visible(on network: ExtendedPANID) throws -> [ThreadCredential] {
    try store.all(in: home, on: network, tx).readable.filter {
      context.choosesPreferred || isOwn($0.team)
    }
  }

  private func notStored() -> AnswerFailure {
    AnswerFailure(
      .notFound, field: "ext_pan_id",
      "no credentials of this network are stored, and no listed border router is on it",
      help: "`threadkeeper networks` shows the networks of border routers, `threadkeeper "
        + "credentials list` and `threadkeeper preferred show --history` what is stored")
  }
}
