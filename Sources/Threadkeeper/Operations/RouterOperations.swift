import Broker
import Home
import HomeStore
import Logging
import Settings
import ThreadDataset

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
      throw CommandFailure(
        .noInput, "no border router is listed under the border agent id \(agent)",
        remedy: "`threadkeeper routers` shows the ids")
    }
    if isChange {
      context.logger.notice(
        "border router accepted",
        metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(context.actor)"])
    }
    return Reply(home: home, borderAgentId: agent.description, changed: isChange)
  }
}

/// A code of a router is no alert: somebody has asked for it here.
struct ExpectCredentialSharing: Operation {
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  struct Reply: Codable {
    /// Whether it is listed.
    var known: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    var isKnown = false
    for home in context.settings.homes {
      if case .accepted = try context.perform(.codeAsked(agent), in: home.name) { isKnown = true }
    }
    return Reply(known: isKnown)
  }
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
    guard let id = ExtendedPANID(hex: extPanId) else {
      throw CommandFailure(.usage, "an Extended PAN ID has 16 hex digits")
    }
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

extension BorderAgentID {
  init(parameter: String) throws(CommandFailure) {
    guard let id = BorderAgentID(hex: parameter) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    self = id
  }
}
