import Bridge
import Broker
import Home
import HomeStore
import Logging
import MeshCoP
import Settings
import ThreadDataset
import ThreadkeeperSupport

/// Removes a router that is gone, with all that is stored of it. The next team that announces its id owns it.
/// A second removal finds nothing.
struct RemoveRouter: OneTimeOperation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  /// Also what `routers remove --json` prints.
  struct Reply: Codable {
    var home: String
    var borderAgentId: String
    /// Absent where nobody owned the id.
    var previousTeam: String?
    /// Whether credentials were stored under the id.
    var credentials: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    guard case .removed(let team, let hadCredentials) = try context.perform(.remove(agent), in: home) else {
      throw CommandFailure(
        .noInput, "nothing is stored or listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` and `threadkeeper credentials list` show the ids")
    }
    var metadata: Logger.Metadata = ["border_agent_id": "\(agent)", "home": "\(home)"]
    metadata["from"] = team.map { "\($0.text)" }
    context.logger.notice("border router removed", metadata: metadata)
    return Reply(home: home, borderAgentId: agent.description, previousTeam: team?.text, credentials: hadCredentials)
  }
}

/// Ends the alert `UnknownRouter` of a router.
struct AcceptRouter: Operation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  /// Also what `routers accept --json` prints.
  struct Reply: Codable {
    var home: String
    var borderAgentId: String
    var changed: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    guard case .accepted(let isChange, _) = try context.perform(.acceptRouter(agent), in: home) else {
      throw CommandFailure.notListed(agent)
    }
    if isChange {
      context.logger.notice(
        "border router accepted",
        metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(context.actor)"])
    }
    return Reply(home: home, borderAgentId: agent.description, changed: isChange)
  }
}

/// Names a router, wherever it is shown.
struct RenameRouter: Operation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String
  /// Empty: as it calls itself. White space at its ends does not count.
  var name: String

  /// Also what `routers rename --json` prints.
  struct Reply: Codable {
    var home: String
    var borderAgentId: String
    /// What it is called now; absent where it has no name.
    var name: String?
    var changed: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    let isEmpty = name.isEmpty
    var rest = name.drop(while: \.isWhitespace)
    while rest.last?.isWhitespace == true { rest.removeLast() }
    let name = String(rest)
    // What no router may call itself.
    guard name.unicodeScalars.count <= InboundLimits.textCharacters else {
      throw CommandFailure(.usage, "a name has at most \(InboundLimits.textCharacters) characters")
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw CommandFailure(.usage, "the name has control characters")
    }
    guard isEmpty || ShownName.quoted(name) != nil else {
      throw CommandFailure(.usage, "nothing of the name can be seen")
    }
    let answer = try context.perform(.renameRouter(agent, name.isEmpty ? nil : name), in: home)
    guard case .accepted(let isChange, _) = answer else { throw CommandFailure.notListed(agent) }
    if isChange {
      context.logger.notice(
        name.isEmpty ? "border router has its own name again" : "border router renamed",
        metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(context.actor)"])
    }
    return try Reply(
      home: home, borderAgentId: agent.description, name: context.home(named: home).home.routers[agent]?.name,
      changed: isChange)
  }
}

extension CommandFailure {
  static func notListed(_ agent: BorderAgentID) -> CommandFailure {
    CommandFailure(
      .noInput, "no border router is listed under the border agent id \(agent)",
      remedy: "`threadkeeper routers` shows the ids")
  }
}

/// Reads a router by the PSKc of its network, now. What comes of it is in the home when this returns.
struct ReadRouter: Operation {
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  /// What the router says of itself, without a secret. Also what `routers read --json` prints.
  struct Reply: Codable {
    var borderAgentId: String
    var extPanId: String
    var networkName: String
    var channel: UInt16?
    var panId: UInt16?
    var activeTimestamp: UInt64?
    /// From the preferred network; absent where that is another one.
    var differs: [String]?
    var pending: Pending?
  }

  /// What its network changes to.
  struct Pending: Codable {
    var seconds: UInt32
    var differs: [String]
    var channel: UInt16?
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    guard let reader = context.bridge.discovery?.reader else {
      throw CommandFailure(
        .unavailable, "border routers are not read",
        remedy: "set `discovery.mdns: auto` and `discovery.read: auto`, and restart the daemon")
    }
    let answer: RouterReader.Answer
    do throws(RouterReader.Obstacle) { answer = try reader.read(agent) } catch { throw CommandFailure(error, agent) }
    let outcome: ReadingResult.Outcome
    do throws(BorderAgentError) { outcome = try answer.get() } catch { throw CommandFailure(error) }
    guard case .datasets(let active, let pending) = outcome else {
      throw CommandFailure(.unavailable, "the border router has no dataset that is complete")
    }
    let preferred = context.homes.first?.home.preferred?.dataset
    let reference = preferred?.network == active.network && preferred?.hasCredentials == true ? preferred : nil
    return Reply(
      borderAgentId: agent.description, extPanId: active.network.description, networkName: active.name,
      channel: active.parameters?.channelNumber, panId: active.parameters?.panID, activeTimestamp: active.activeSeconds,
      differs: reference.map { active.differences(from: $0).words }, pending: pending.map { Pending($0, from: active) })
  }
}

extension ReadRouter.Pending {
  fileprivate init(_ pending: ReadingResult.Pending, from active: DatasetSummary) {
    let differs = pending.dataset.differences(from: active)
    self.init(
      seconds: pending.delay / 1_000, differs: differs.words,
      channel: differs.contains(.channel) ? pending.dataset.parameters?.channelNumber : nil)
  }
}

extension DatasetDifferences { fileprivate var words: [String] { parameters.map(\.rawValue) } }

extension CommandFailure {
  init(_ obstacle: RouterReader.Obstacle, _ agent: BorderAgentID) {
    switch obstacle {
    case .notOnLocalNetwork:
      self.init(
        .noInput, "no border router \(agent) is on the local network",
        remedy: "`threadkeeper routers` shows the ids, `threadkeeper status` whether border routers are found")
    case .takesNoPSKc:
      self.init(.unavailable, "the border router \(agent) takes no session by the credentials of its network")
    case .noCredentials(let network):
      let name = network.map { " \($0)" } ?? ""
      self.init(
        .noInput, "the credentials of its network\(name) are not here",
        remedy: "have one of its border routers show a code, and run `threadkeeper networks join CODE`, or store the "
          + "dataset: `threadkeeper preferred set --help` says how")
    case .busy: self.init(.temporary, "other border routers are read", remedy: "try again in a minute")
    }
  }

  fileprivate init(_ error: BorderAgentError) {
    self.init(error == .refused ? .notPermitted : .unavailable, error.clause)
  }
}

extension BorderAgentError {
  /// Without a full stop.
  var clause: String { "\(description.prefix(1).lowercased())\(description.dropFirst().dropLast())" }
}

/// Ends the alerts about routers on a network that is not the preferred one and never was theirs.
struct AcceptNetwork: Operation {
  var home: String
  /// 16 hexadecimal digits.
  var extPanId: String
  /// False takes it back.
  var accepted: Bool

  /// Also what `networks accept --json` prints.
  struct Reply: Codable {
    var home: String
    var extPanId: String
    var changed: Bool
    /// Whether it is listed.
    var known: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let id = try ExtendedPANID(parameter: extPanId)
    let home = try context.settings.home(named: home)
    let answer = try context.perform(.acceptNetwork(id, isAccepted: accepted), in: home)
    guard case .accepted(let isChange, let isKnown) = answer else {
      throw CommandFailure(.software, "the home has decided nothing")
    }
    if isChange {
      context.logger.notice(
        accepted ? "network accepted" : "network not accepted any more",
        metadata: ["ext_pan_id": "\(id)", "home": "\(home)", "by": "\(context.actor)"])
    }
    return Reply(home: home, extPanId: id.description, changed: isChange, known: isKnown)
  }
}

extension ExtendedPANID {
  init(parameter: String) throws(CommandFailure) {
    guard let id = ExtendedPANID(hex: parameter) else {
      throw CommandFailure(.usage, "an Extended PAN ID has 16 hex digits")
    }
    self = id
  }
}

extension BorderAgentID {
  init(parameter: String) throws(CommandFailure) {
    guard let id = BorderAgentID(hex: parameter) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    self = id
  }
}
