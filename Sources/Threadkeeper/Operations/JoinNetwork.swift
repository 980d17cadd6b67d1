import Bridge
import Glibc
import Home
import HomeStore
import KeychainCore
import Logging
import MeshCoP
import Settings
import ThreadDataset
import ThreadRequests

/// Reads the border router that shows a code, by that code. The network that comes is in the home when this returns: as
/// the credentials of the preferred one, where that had none; else stored for the router.
struct JoinNetwork: OneTimeOperation {
  /// Nine digits, with spaces and hyphens. Secret as long as the router takes it.
  var code: String
  /// Of the router that shows it: 16 or 32 hexadecimal digits. Absent: only one does.
  var borderAgentId: String?
  /// Also a code whose check digit is wrong.
  var anyway = false

  /// What the network is for the home.
  enum Result: String, Codable {
    /// The preferred one, whose credentials were known.
    case preferred
    /// The preferred one, whose credentials these are now.
    case completed
    /// The preferred one, with other keys: nothing has changed.
    case disputed
    /// One that can be preferred: none is.
    case undecided
    /// Another one is preferred.
    case other
  }

  /// Without a secret. Also what `networks join --json` prints, with `changed`.
  struct Reply: Codable {
    var home: String
    var borderAgentId: String
    /// Of the router; absent where it has none.
    var name: String?
    var extPanId: String
    var networkName: String
    var channel: UInt16?
    /// That are on it here.
    var borderRouters: Int
    var result: Result
    /// Of `disputed`: from the preferred network.
    var differs: [String]?
  }

  func perform(_ context: OperationContext) throws -> Reply {
    do { return try join(context) } catch let obstacle as CodeReader.Obstacle {
      throw CommandFailure(obstacle, in: context.homes.first?.home)
    }
  }

  /// - Throws: `CodeReader.Obstacle`, among others.
  func join(_ context: OperationContext) throws -> Reply {
    guard let code = RouterCode(code) else { throw Self.noCode }
    guard code.isChecked || anyway else { throw Self.mistyped }
    let agent = try borderAgentId.map { text throws(CommandFailure) in try BorderAgentID(parameter: text) }
    let reader = try reader(context)
    // The router takes the code once: not for what cannot be stored.
    try context.store.checkWritable()
    let joined = try reader.read(with: code, from: agent, for: context.actor, checkCaller: context.checkCaller)
    var reply = Reply(joined, in: try context.home(named: joined.home).home)
    switch joined.network {
    case .preferred: break
    case .disputed(let differences): (reply.result, reply.differs) = (.disputed, differences.parameters.map(\.rawValue))
    case .choice: reply.result = .undecided
    case .other: reply.result = .other
    case .preferredByID:
      var request = ThreadRequest(.setPreferred)
      (request.home, request.network, request.agent) = (joined.home, joined.dataset.network, joined.agent)
      let answer = try context.answer(to: request)
      if let failure = answer.error { throw failure.commandFailure }
      reply.result = .completed
    case .notStored(let owner?):
      throw CommandFailure(
        .notPermitted,
        "the border router \(reply.router) belongs to the team \(owner.text.printable), whose reports of it count",
        remedy:
          "see `threadkeeper routers`; `threadkeeper routers remove \(joined.agent)` takes the router from that team")
    case .notStored(nil):
      throw CommandFailure(
        .temporary,
        "the credentials of \(reply.network) are not stored: the record of the border router \(reply.router) names "
          + "another network, or their timestamp is too far ahead",
        remedy: "wait a minute, and try again with a new code; `threadkeeper alerts` lists such a timestamp")
    }
    context.logger.notice(
      "network joined by a code",
      metadata: [
        "border_agent_id": "\(joined.agent)", "ext_pan_id": "\(joined.dataset.network)", "home": "\(joined.home)",
        "by": "\(context.actor)",
      ])
    return reply
  }

  private func reader(_ context: OperationContext) throws(CommandFailure) -> CodeReader {
    guard context.settings.store.url == nil else {
      throw CommandFailure(
        .unavailable, "the daemon of a fleet is not on the local network of a home, where a code opens a border router",
        remedy: "store the dataset: `threadkeeper preferred set --help` says how")
    }
    guard let discovery = context.bridge.discovery, let codes = discovery.codes else {
      throw CommandFailure(
        .unavailable, "border routers are not looked for on the local network",
        remedy: "set `discovery.mdns: auto`, and restart the daemon")
    }
    let state = discovery.current
    guard state.state != .unavailable else {
      let problem = state.problem ?? "border routers cannot be found"
      throw CommandFailure(
        .unavailable, problem.hasSuffix(".") ? String(problem.dropLast()) : problem, remedy: state.remedy)
    }
    return codes
  }

  static let noCode = CommandFailure(
    .usage, "a code has nine digits", remedy: "type it as the app of the border router shows it")
  static let mistyped = CommandFailure(
    .usage, "the last digit of the code does not fit the others, so it is probably mistyped",
    remedy: "look at it again; `--anyway` tries it as it is, for a router that makes other codes")
}

extension JoinNetwork.Reply {
  fileprivate init(_ joined: CodeReader.Joined, in home: Home) {
    self.init(
      home: joined.home, borderAgentId: joined.agent.description, name: home.routers[joined.agent]?.name,
      extPanId: joined.dataset.network.description, networkName: joined.dataset.name,
      channel: joined.dataset.parameters?.channelNumber,
      borderRouters: home.network(joined.dataset.network)?.routers ?? 0, result: .preferred)
  }

  fileprivate var router: String { name?.printable ?? borderAgentId }
  fileprivate var network: String { "\(networkName.printable) (\(extPanId))" }

  /// What came: `MyHome (1111111122222222): channel 15, 3 border routers here.`
  var came: String {
    let routers = "\(borderRouters) border router\(borderRouters == 1 ? "" : "s") here"
    return "\(network): " + ((channel.map { ["channel \($0)"] } ?? []) + [routers]).joined(separator: ", ") + "."
  }

  /// What that means, and what to do.
  ///
  /// - Parameter isOnlyHome: else commands name it.
  func meaning(isOnlyHome: Bool) -> String {
    let option = isOnlyHome ? "" : " --home \(home)"
    let prefer = "`threadkeeper preferred set \(extPanId) --router \(borderAgentId)\(option)`"
    return switch result {
    case .preferred: "It is the preferred network, and these credentials are known."
    case .completed: "It is the preferred network, and has its credentials now."
    case .disputed:
      "It is the preferred network, which has other keys here (\((differs ?? []).joined(separator: ", "))). To keep the "
        + "current keys, run `threadkeeper preferred set \(PreferredNetwork.currentID)\(option)`. Only if the keys of "
        + "\(router) are right, run \(prefer)."
    case .undecided: "No network is preferred. To prefer it, run \(prefer)."
    case .other: "Its credentials are stored. Another network is preferred; to prefer this one, run \(prefer)."
    }
  }
}

extension CommandFailure {
  init(_ obstacle: CodeReader.Obstacle, in home: Home?) {
    func named(_ agent: BorderAgentID) -> String {
      home?.routers[agent]?.name.map { "\($0.printable) (\(agent))" } ?? "\(agent)"
    }
    switch obstacle {
    case .noWindow:
      self.init(
        .noInput, "no border router shows a code",
        remedy:
          "have it show one, and type that within a few minutes. Google: a Google TV Streamer shows codes. Apple: "
          + "from iOS and tvOS 27, apps do. Samsung: its routers do. OpenThread: `ot-ctl ba "
          + "ephemeralkey start CODE`, or `threadkeeper networks share`")
    case .notOpen:
      self.init(
        .noInput, "that border router shows no code",
        remedy: "have it show one, or leave out `--router`; `threadkeeper routers` shows the ids")
    case .noRouter(let host):
      self.init(
        .noInput, "\(host.printable) shows a code, and no border router of that host is listed",
        remedy: "`threadkeeper status` names records that are not listed, and why")
    case .several(let agents):
      self.init(
        .usage, "\(agents.count) border routers show a code: \(agents.map(named).joined(separator: ", "))",
        remedy: "name the one whose code it is: `--router ID`")
    case .busy: self.init(.temporary, "another code is tried", remedy: "try again in a minute")
    case .tooOften: self.init(.temporary, "too many codes were tried", remedy: "try again in ten minutes")
    case .wrongCode(0):
      self.init(
        .notPermitted, "the code is wrong, for the tenth time: the border router closes now",
        remedy: "have it show a new code")
    case .wrongCode(let left):
      self.init(
        .notPermitted, "the code is wrong",
        remedy:
          "look at it again: the border router takes \(left) more tr\(left == 1 ? "y" : "ies") at most, and fewer "
          + "where others have tried")
    case .windowClosed:
      self.init(
        .temporary, "the border router takes no code any more: its time was over, or the code was used",
        remedy: "have it show a new code")
    case .failed(.noAnswer):
      self.init(
        .unavailable, "the border router shows a code, and does not answer",
        remedy: "look for a firewall between it and this machine, or try again")
    case .failed(let error):
      self.init(.unavailable, error.clause, remedy: "try again; where that fails, have it show a new code")
    case .incomplete: self.init(.unavailable, "the border router has no complete dataset: it is on no Thread network")
    }
  }
}

extension OperationContext {
  /// Fulfils a request of a person, as the daemon's own user does.
  func answer(to request: ThreadRequest) throws(CommandFailure) -> ThreadAnswer {
    guard let team = settings.team(ofUID: geteuid()) else {
      throw CommandFailure(.configuration, "the daemon's user speaks for no team")
    }
    var local = LocalRequest(request, user: geteuid(), team: ExactName(team))
    local.isAdministrator = true
    local.administrator = actor
    let outcome = bridge.requests.answer(local, by: bridge.loop, isOwnUser: true, at: SystemClock().now())
    guard case .answer(let answer) = outcome else {
      throw CommandFailure(.software, "a person would have to agree first")
    }
    return answer
  }
}
