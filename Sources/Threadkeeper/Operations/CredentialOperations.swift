import Bridge
import Broker
import Home
import HomeStore
import LocalAPI
import Logging
import Settings
import ThreadDataset
import ThreadRequests

/// The credentials of a border router.
struct ShowCredential: Operation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String
  /// With the dataset.
  var secret: Bool
  var access: VarlinkAccess { secret ? .owner : .reader }

  func perform(_ context: OperationContext) throws -> CredentialReport {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let (name, home) = try context.home(named: home)
    let dataset = secret ? try context.dataset(of: .router(agent), in: name) : nil
    guard let report = home.routers[agent].flatMap({ CredentialReport($0, in: name, dataset) }),
      !secret || dataset != nil
    else {
      guard !home.hasLostCredentials else {
        throw CommandFailure(
          .badInput, "records of the home are damaged, and one may have the credentials of \(agent)",
          remedy: "restore a backup, or let the router announce itself again")
      }
      throw CommandFailure(
        .noInput, "no credentials of \(agent) are stored",
        remedy: "`threadkeeper credentials list` shows what is stored")
    }
    return report
  }
}

/// Makes what a login shares of the preferred network its credentials.
struct AcceptCredentials: Operation {
  var home: String
  /// 16 hexadecimal digits; nil: the preferred network.
  var extPanId: String?

  /// Also what `networks accept-credentials --json` prints.
  struct Reply: Codable {
    var home: String
    var extPanId: String
    var networkName: String
    /// False: it had them already.
    var changed: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let network = try extPanId.map { hex throws(CommandFailure) in try ExtendedPANID(parameter: hex) }
    let home = try context.settings.home(named: home)
    let answer = try context.perform(.acceptCredentials(network, by: context.caller), in: home)
    if case .refused(let refusal) = answer {
      throw AnswerFailure(refusal, to: nil, home: context.settings.homes.count > 1 ? home : nil).commandFailure
    }
    guard case .preferredSet(let isChanged, _, _) = answer,
      let preferred = try context.home(named: home).home.preferred?.dataset
    else { throw CommandFailure(.software, "the home has decided nothing") }
    if isChanged {
      context.logger.notice(
        "shared credentials accepted",
        metadata: ["ext_pan_id": "\(preferred.network)", "home": "\(home)", "by": "\(context.actor)"])
    }
    return Reply(home: home, extPanId: preferred.network.description, networkName: preferred.name, changed: isChanged)
  }
}

/// One credential as commands print it.
struct CredentialReport: Codable {
  let home: String
  /// Nil of those that a login shares.
  let borderAgentId: String?
  let team: String
  let networkName: String?
  let extPanId: String?
  let panId: UInt16?
  let channel: UInt16?
  let activeTimestamp: UInt64?
  /// What the dataset lacks to be complete; nil: nothing.
  let lacks: [String]?
  /// The login that shares them, which is no border router.
  let sharedBy: String?
  /// The TLVs in hex; only where secrets were asked for.
  let dataset: String?

  /// - Parameter dataset: where it is to be shown.
  /// - Returns: nil for a router without credentials.
  init?(_ router: Router, in home: String, _ dataset: OperationalDataset? = nil) {
    guard let summary = router.dataset else { return nil }
    self.init(summary, of: router.agent.description, team: router.owner?.text ?? "", in: home, dataset)
  }

  init(_ one: SharedCredentials, team: ExactName, in home: String) {
    self.init(one.dataset, sharedBy: one.user.text, team: team.text, in: home)
  }

  private init(
    _ summary: DatasetSummary, of agent: String? = nil, sharedBy: String? = nil, team: String, in home: String,
    _ dataset: OperationalDataset? = nil
  ) {
    let parameters = summary.parameters
    self.home = home
    borderAgentId = agent
    self.team = team
    self.sharedBy = sharedBy
    networkName = summary.name
    extPanId = summary.network.description
    panId = parameters?.panID
    channel = parameters?.channelNumber
    activeTimestamp = summary.activeSeconds
    lacks = summary.lacks.isEmpty ? nil : summary.lacks.map(\.name)
    self.dataset = dataset?.hex
  }

  var text: String {
    var lines = [
      "border agent id  \(borderAgentId ?? "")", "home             \(home)", "team             \(team.printable)",
      "network          \((networkName ?? "").printable)", "ext pan id       \(extPanId ?? "")",
      "channel          \(channel.map { String($0) } ?? "")",
      "timestamp        \(activeTimestamp.map { String($0) } ?? "")",
    ]
    if let lacks { lines.append("lacks            \(lacks.listed)") }
    lines.append("dataset          \(dataset ?? "not shown; --show-secrets prints it")")
    return lines.map { $0 + "\n" }.joined()
  }
}

/// The preferred network of a home.
struct ShowPreferred: Operation {
  var home: String
  /// With the dataset.
  var secret: Bool
  var access: VarlinkAccess { secret ? .owner : .reader }

  func perform(_ context: OperationContext) throws -> PreferredReport {
    let (name, home) = try context.home(named: home)
    guard let preferred = home.preferred else { throw Self.none(in: home) }
    let (summary, parameters) = (preferred.dataset, preferred.dataset.parameters)
    let dataset = secret ? try context.dataset(of: .home, in: name) : nil
    guard !secret || dataset != nil else {
      throw CommandFailure(
        .noInput, "the network is preferred by its Extended PAN ID alone; its credentials are not here",
        remedy: "`threadkeeper preferred show` says how they come in")
    }
    return PreferredReport(
      home: name, networkName: summary.name, extPanId: summary.network.description, channel: parameters?.channelNumber,
      panId: parameters?.panID, activeTimestamp: summary.activeSeconds, changedAt: preferred.changedAt,
      credentials: summary.hasCredentials, reportedBy: home.unconfirmedReporters.map(\.description),
      sharedBy: home.network(summary.network)?.sharedBy.map(\.text) ?? [], dataset: dataset?.hex)
  }

  /// Why no network is preferred.
  private static func none(in home: Home) -> CommandFailure {
    if home.isPreferredForgotten {
      return CommandFailure(
        .noInput, "no network is preferred, because a person has forgotten the last one",
        remedy: "`threadkeeper preferred show --history` lists it, and `threadkeeper preferred set` chooses one")
    }
    guard !home.hasDamage else {
      return CommandFailure(
        .badInput, "records of the home are damaged, and one may be of the preferred network",
        remedy: "restore a backup, or choose a network with `threadkeeper preferred set`")
    }
    return CommandFailure(
      .noInput, "no network is preferred yet",
      remedy: "the first network that is stored becomes preferred, or `threadkeeper preferred set` chooses one")
  }
}

extension OperationContext {
  /// As it is on disk.
  ///
  /// - Returns: nil where the record has none.
  fileprivate func dataset(of key: RecordKey, in home: String) throws -> OperationalDataset? {
    try bridge.loop.homes.withDataset(of: key, in: home) { try OperationalDataset(bytes: Array($0)) }
  }
}

/// The preferred network of a home as commands print it.
struct PreferredReport: Codable {
  let home: String
  let networkName: String
  let extPanId: String
  let channel: UInt16?
  let panId: UInt16?
  let activeTimestamp: UInt64?
  let changedAt: WireTime
  /// Whether its dataset is here.
  let credentials: Bool
  /// Border agent ids of routers that report credentials which nobody has vouched for.
  let reportedBy: [String]
  /// Logins that are no border routers and share credentials of it.
  let sharedBy: [String]
  /// The TLVs in hex; only where secrets were asked for.
  let dataset: String?

  /// - Parameter homeOption: for commands: ` --home NAME`, or nothing.
  func text(homeOption: String) -> String {
    var lines = networkName.isEmpty ? [] : ["network     \(networkName.printable)"]
    lines.append("ext pan id  \(extPanId)")
    guard credentials else {
      lines += ["changed     \(changedAt)", "dataset     not here"]
      let command = "threadkeeper preferred set"
      lines += reportedBy.map {
        "            \($0) reports one; if it is right, run `\(command) \(extPanId) --router \($0)\(homeOption)`"
      }
      lines += sharedBy.map {
        "            \($0.printable) shares one; if it is right, run `threadkeeper networks "
          + "accept-credentials\(homeOption)`"
      }
      if reportedBy.isEmpty, sharedBy.isEmpty {
        lines.append("            bring it with `threadkeeper networks join CODE`, or `\(command) @FILE\(homeOption)`")
      }
      return lines.map { $0 + "\n" }.joined()
    }
    lines += [
      "channel     \(channel.map { String($0) } ?? "")", "timestamp   \(activeTimestamp.map { String($0) } ?? "")",
      "changed     \(changedAt)", "dataset     \(dataset ?? "not shown; --show-secrets prints it")",
    ]
    return lines.map { $0 + "\n" }.joined()
  }
}
