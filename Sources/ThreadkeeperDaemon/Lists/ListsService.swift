// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import CredentialService
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Reads what `ListsMethods` answer from an open store: in the daemon, or in the command.
package struct ListsService {
  package typealias Rows = ListsMethods.Rows

  let registry: Registry
  private let store: ThreadCredentialStore

  package init(_ registry: Registry) {
    self.registry = registry
    store = ThreadCredentialStore(registry.keychain)
  }

  package func alerts(_ request: ListsMethods.Alerts) throws -> Rows<AlertState> {
    Rows(
      try registry.list { registry, home in
        try registry.alerts(in: home, all: request.all).map { $0.state(home: home.name) }
      })
  }

  package func routers() throws -> Rows<RouterState> {
    let routers = try registry.list { registry, home in
      try registry.routers(in: home).map { $0.state(home: home.name) }
    }
    return Rows(routers, note: routers.isEmpty ? try whyNoRouter() : nil)
  }

  package func networks() throws -> Rows<NetworkState> {
    Rows(
      try registry.list { registry, home in
        let accepted = try registry.acceptedNetworks(in: home)
        return try registry.networks(in: home).map {
          $0.state(in: home, isAccepted: accepted.contains($0.network))
        }
      })
  }

  package func credentials() throws -> Rows<CredentialReport> {
    var damaged: [String] = []
    let readable = try registry.list { _, home in
      try registry.keychain.database.read { tx in
        let all = try store.all(in: home.name, tx)
        damaged += all.damaged.map(\.description)
        return all.readable.map { CredentialReport($0, showingSecrets: false) }
      }
    }
    return Rows(readable, unreadable: registry.keychain.quarantine.count, damaged: damaged)
  }

  package func former(_ request: ListsMethods.HomeSelection) throws -> Rows<FormerNetworkRecord> {
    let home = try registry.settings.home(named: request.home)
    return Rows(
      try registry.keychain.database.read { try store.formerNetworks(of: home, $0) }
        .map(FormerNetworkRecord.init))
  }

  /// - Throws: `CommandFailure`, among others: 66 where none is stored.
  package func credential(
    _ router: RouterSelection, showingSecrets: Bool
  ) throws -> CredentialReport {
    guard let agent = BorderAgentID(hex: router.borderAgentId) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    let home = try registry.settings.home(named: router.home)
    guard
      let credential = try registry.keychain.database.read({
        try store.credential(of: agent, in: home, $0)
      })
    else {
      throw CommandFailure(
        .noInput, "no credentials of \(agent) are stored",
        remedy: "`threadkeeper credentials list` shows what is stored")
    }
    return CredentialReport(credential, showingSecrets: showingSecrets)
  }

  /// - Throws: `CommandFailure`, among others: 66 where no network is preferred.
  package func preferred(
    _ request: ListsMethods.HomeSelection, showingSecrets: Bool
  ) throws -> PreferredReport {
    let home = try registry.settings.home(named: request.home)
    let (dataset, dates, isForgotten, reports) = try registry.keychain.database.read { tx in
      let dataset = try store.preferredNetwork(of: home, tx)
      let network = dataset?.hasCredentials == false ? dataset?.extendedPANID : nil
      return (
        dataset, try store.preferredDates(of: home, tx),
        try store.isPreferredForgotten(in: home, tx),
        try network.map { try store.all(in: home, on: $0, tx).readable.map(\.agent) } ?? []
      )
    }
    guard let dataset, let dates else {
      if isForgotten {
        throw CommandFailure(
          .noInput, "no network is preferred, because a person has forgotten the last one",
          remedy:
            "`threadkeeper preferred show --history` lists it, and `threadkeeper preferred set` "
            + "chooses one")
      }
      throw CommandFailure(
        .noInput, "no network is preferred yet",
        remedy: "the first network that is stored becomes preferred, "
          + "or `threadkeeper preferred set` chooses one")
    }
    guard !showingSecrets || dataset.hasCredentials else {
      throw CommandFailure(
        .noInput,
        "the network is preferred by its Extended PAN ID alone; its credentials are not here",
        remedy: "`threadkeeper preferred show` says how they come in")
    }
    return PreferredReport(
      home: home, networkName: dataset.networkName ?? "",
      extendedPANID: dataset.extendedPANID?.description ?? "", channel: dataset.channel?.number,
      panID: dataset.panID, activeTimestamp: dataset.activeTimestamp?.seconds,
      changedAt: WireTime(milliseconds: dates.modified / 1_000),
      credentials: dataset.hasCredentials, reportedBy: reports.map(\.description),
      dataset: showingSecrets ? dataset.hex : nil)
  }

  private func whyNoRouter() throws -> String {
    var (credentials, haveLeft) = (0, false)
    for home in try registry.registry.homes() {
      try registry.keychain.database.read { tx in
        credentials += try store.count(in: home.name, tx)
        haveLeft = try haveLeft || store.hasFormerOwners(in: home.name, tx)
      }
      haveLeft = try haveLeft || registry.registry.hasDepartedRouters(in: home)
    }
    if credentials > 0 {
      let whose = credentials == 1 ? "one border router" : "\(credentials) border routers"
      return "No border router has announced itself yet. Credentials of \(whose) are stored: "
        + "`threadkeeper credentials list`."
    }
    guard haveLeft else {
      return
        "No border router is listed. Each appears when it announces itself by MQTT, or when it is seen on "
        + "the local network."
    }
    return "No border router is there now: all that announced themselves have left."
  }
}
