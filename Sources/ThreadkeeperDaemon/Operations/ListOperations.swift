// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import KeychainCore
import LocalAPI
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// The rows of a list, which the command prints with `--json`. Those of alerts, routers and networks are what is
/// published on the broker.
package struct Rows<Row: Codable & Sendable>: Codable, Sendable, VarlinkFieldNames {
  package var rows: [Row]
  /// Why there are none.
  package var note: String?
  /// How many more there are that cannot be read, and those among them that have a name.
  package var unreadable: Int?
  package var damaged: [String]?
}

/// A list that may be longer than a message: its rows come in as many replies as they need. The last reply also has the
/// rest of `Rows`.
package protocol ListOperation: StreamOperation where Reply == Rows<Row> {
  associatedtype Row: Codable & Sendable

  /// All of it. May wait for the disk.
  func list(_ context: OperationContext) throws -> Rows<Row>
}

extension ListOperation {
  package func perform(
    _ context: OperationContext, _ replies: VarlinkReplies<Rows<Row>>
  ) throws -> Rows<Row> {
    try context.read { try list(context) }.sent(by: replies)
  }
}

extension Rows {
  /// A row has a few hundred bytes, 8 KiB at most, and a message has at most 512 KiB.
  private static var inReply: Int { 50 }

  /// - Returns: the last reply.
  fileprivate func sent(by replies: VarlinkReplies<Rows>) throws -> Rows {
    var last = self
    var rest = rows[...]
    while rest.count > Self.inReply {
      try replies.send(Rows(rows: Array(rest.prefix(Self.inReply))))
      rest = rest.dropFirst(Self.inReply)
    }
    last.rows = Array(rest)
    return last
  }
}

/// Alerts that are firing.
package struct ListAlerts: ListOperation {
  /// Also those that were resolved within the last day.
  package var all: Bool
  package var access: VarlinkAccess { .reader }

  package init(all: Bool) { self.all = all }

  package func list(_ context: OperationContext) throws -> Rows<AlertState> {
    Rows(
      rows: try context.registry.list { registry, home in
        try registry.alerts(in: home, all: all).map { $0.state(home: home.name) }
      })
  }
}

/// Border routers; `note` says why there are none.
package struct ListRouters: ListOperation {
  package var access: VarlinkAccess { .reader }

  package init() {}

  package func list(_ context: OperationContext) throws -> Rows<RouterState> {
    let registry = context.registry
    let routers = try registry.list { registry, home in
      try registry.routers(in: home).map { $0.state(home: home.name) }
    }
    return Rows(rows: routers, note: routers.isEmpty ? try whyNone(registry) : nil)
  }

  private func whyNone(_ registry: Registry) throws -> String {
    var (credentials, haveLeft) = (0, false)
    for home in try registry.registry.homes() {
      try registry.keychain.database.read { tx in
        credentials += try registry.credentials.count(in: home.name, tx)
        haveLeft = try haveLeft || registry.credentials.hasFormerOwners(in: home.name, tx)
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

/// Thread networks.
package struct ListNetworks: ListOperation {
  package var access: VarlinkAccess { .reader }

  package init() {}

  package func list(_ context: OperationContext) throws -> Rows<NetworkState> {
    Rows(
      rows: try context.registry.list { registry, home in
        let accepted = try registry.acceptedNetworks(in: home)
        return try registry.networks(in: home).map {
          $0.state(in: home, isAccepted: accepted.contains($0.network))
        }
      })
  }
}

/// Whose credentials are stored.
package struct ListCredentials: ListOperation {
  package var access: VarlinkAccess { .reader }

  package init() {}

  package func list(_ context: OperationContext) throws -> Rows<CredentialReport> {
    var damaged: [String] = []
    let registry = context.registry
    let readable = try registry.list { _, home in
      try registry.keychain.database.read { tx in
        let all = try registry.credentials.all(in: home.name, tx)
        damaged += all.damaged.map(\.description)
        return all.readable.map { CredentialReport($0, showingSecrets: false) }
      }
    }
    return Rows(
      rows: readable, unreadable: registry.keychain.quarantine.count, damaged: damaged)
  }
}

/// The networks that were preferred before, the newest first.
package struct ListFormerNetworks: ListOperation {
  package var home: String
  package var access: VarlinkAccess { .reader }

  package init(home: String) { self.home = home }

  package func list(_ context: OperationContext) throws -> Rows<FormerNetworkRecord> {
    let home = try context.settings.home(named: home)
    let registry = context.registry
    return Rows(
      rows: try registry.keychain.database.read {
        try registry.credentials.formerNetworks(of: home, $0)
      }
      .map(FormerNetworkRecord.init))
  }
}

/// The credentials of a border router.
package struct ShowCredential: Operation {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String
  /// With the dataset.
  package var secret: Bool
  package var access: VarlinkAccess { secret ? .owner : .reader }

  package init(home: String, borderAgentId: String, secret: Bool) {
    self.home = home
    self.borderAgentId = borderAgentId
    self.secret = secret
  }

  package func perform(_ context: OperationContext) throws -> CredentialReport {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    let registry = context.registry
    guard
      let credential = try registry.keychain.database.read({
        try registry.credentials.credential(of: agent, in: home, $0)
      })
    else {
      throw CommandFailure(
        .noInput, "no credentials of \(agent) are stored",
        remedy: "`threadkeeper credentials list` shows what is stored")
    }
    return CredentialReport(credential, showingSecrets: secret)
  }
}

/// One credential as commands print it.
package struct CredentialReport: Codable, Sendable, VarlinkFieldNames {
  package let home: String
  package let borderAgentID: String
  package let team: String
  package let networkName: String?
  package let extendedPANID: String?
  package let panID: UInt16?
  package let channel: UInt16?
  package let activeTimestamp: UInt64?
  /// The TLVs in hex; only where secrets were asked for.
  package let dataset: String?

  init(_ credential: ThreadCredential, showingSecrets: Bool) {
    let dataset = credential.dataset
    home = credential.home
    borderAgentID = credential.agent.description
    team = credential.team
    networkName = dataset.networkName
    extendedPANID = dataset.extendedPANID?.description
    panID = dataset.panID
    channel = dataset.channel?.number
    activeTimestamp = dataset.activeTimestamp?.seconds
    self.dataset = showingSecrets ? dataset.hex : nil
  }

  enum CodingKeys: String, CodingKey {
    case home
    case borderAgentID = "border_agent_id"
    case team
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case panID = "pan_id"
    case channel
    case activeTimestamp = "active_timestamp"
    case dataset
  }

  package var text: String {
    var lines = [
      "border agent id  \(borderAgentID)", "home             \(home)",
      "team             \(team.printable)", "network          \((networkName ?? "").printable)",
      "ext pan id       \(extendedPANID ?? "")",
      "channel          \(channel.map { String($0) } ?? "")",
      "timestamp        \(activeTimestamp.map { String($0) } ?? "")",
    ]
    lines.append("dataset          \(dataset ?? "not shown; --show-secrets prints it")")
    return lines.map { $0 + "\n" }.joined()
  }
}

/// The preferred network of a home.
package struct ShowPreferred: Operation {
  package var home: String
  /// With the dataset.
  package var secret: Bool
  package var access: VarlinkAccess { secret ? .owner : .reader }

  package init(home: String, secret: Bool) {
    self.home = home
    self.secret = secret
  }

  package func perform(_ context: OperationContext) throws -> PreferredReport {
    let home = try context.settings.home(named: home)
    let (registry, store) = (context.registry, context.registry.credentials)
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
    guard !secret || dataset.hasCredentials else {
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
      dataset: secret ? dataset.hex : nil)
  }
}

/// The preferred network of a home as commands print it.
package struct PreferredReport: Codable, Sendable, VarlinkFieldNames {
  package let home: String
  package let networkName: String
  package let extendedPANID: String
  package let channel: UInt16?
  package let panID: UInt16?
  package let activeTimestamp: UInt64?
  package let changedAt: WireTime
  /// Whether its dataset is here.
  package let credentials: Bool
  /// Border agent ids of routers that report credentials which nobody has vouched for.
  package let reportedBy: [String]
  /// The TLVs in hex; only where secrets were asked for.
  package let dataset: String?

  enum CodingKeys: String, CodingKey {
    case home
    case networkName = "network_name"
    case extendedPANID = "ext_pan_id"
    case channel
    case panID = "pan_id"
    case activeTimestamp = "active_timestamp"
    case changedAt = "changed_at"
    case credentials
    case reportedBy = "reported_by"
    case dataset
  }

  /// - Parameter homeOption: for commands: ` --home NAME`, or nothing.
  package func text(homeOption: String) -> String {
    var lines = ["network     \(networkName.printable)", "ext pan id  \(extendedPANID)"]
    guard credentials else {
      lines += ["changed     \(changedAt)", "dataset     not here"]
      let command = "threadkeeper preferred set"
      lines += reportedBy.map {
        "            \($0) reports one; if it is right, run `\(command) \(extendedPANID) "
          + "--router \($0)\(homeOption)`"
      }
      if reportedBy.isEmpty {
        lines.append("            bring it with `\(command) @FILE\(homeOption)`")
      }
      return lines.map { $0 + "\n" }.joined()
    }
    lines += [
      "channel     \(channel.map { String($0) } ?? "")",
      "timestamp   \(activeTimestamp.map { String($0) } ?? "")",
      "changed     \(changedAt)",
      "dataset     \(dataset ?? "not shown; --show-secrets prints it")",
    ]
    return lines.map { $0 + "\n" }.joined()
  }
}
