import BorderRouterAgent
import Broker
import FoundationEssentials
import Glibc
import Settings
import SodiumCrypto
import ThreadkeeperSupport

/// What one agent is to be.
struct AgentPlan {
  let place: AgentPlace
  /// Where what it is for answers.
  let url: String
  /// The user that this runs as, where it is not root.
  let user: String?
  /// Home Assistant's.
  let token: SecretText?
  /// At the broker, with its password.
  let login: String
  let password: SecretText

  var agent: MachineAgent { place.agent }

  /// - Parameters:
  ///   - daemon: its line; nil before the enrolment: so it does not start.
  ///   - made: as of `AgentPlace.made`.
  func options(_ mqtt: Settings.MQTT, daemon: String?, made: [String]? = nil) -> String {
    guard case .named(let host) = mqtt.host else { return "" }
    var words = ["--host", host, "--port", "\(mqtt.port)"]
    if let tls = mqtt.tls { words += ["--cafile", tls.caFile] }
    if mqtt.baseTopic != Settings.MQTT().baseTopic { words += ["--base-topic", mqtt.baseTopic] }
    words += ["--username", login, "--password-file", place.password]
    if let daemon { words += ["--daemon", daemon] }
    words += ["--key", place.key]
    guard agent == .homeAssistant else {
      return place.text((user.map { ["--router-user", $0] } ?? []) + words, url: url, made: made)
    }
    return place.text(
      ["--url", url, "--token-file", place.token] + (user.map { ["--home-assistant-user", $0] } ?? []) + words,
      url: nil, made: made)
  }
}

/// Finds what answers on this machine, asks whether it gets an agent, and makes that: login, keys, enrolment, options,
/// unit.
struct AgentSetup {
  /// What differs from a plan.
  struct Work {
    let plan: AgentPlan
    var files: [String] = []
    /// The daemon's line, where it is known.
    var daemon: String?
    var enrols = false
    var starts = false

    var isNothing: Bool { files.isEmpty && !enrols && !starts }
  }

  let questions: SetupQuestions
  let system: SystemPlaces
  /// From `--home-assistant-token-file`.
  let token: SecretText?
  /// Options that name the settings.
  var options: [String] = []

  private var flags: SetupFlags { questions.flags }

  /// Where it is root's, with systemd.
  private func service(_ agent: MachineAgent) -> SystemdService? {
    SystemdService.isHere && !flags.noStart ? SystemdService(agent.unit) : nil
  }

  // MARK: Questions

  /// - Parameter logins: that the broker of this machine has.
  /// - Returns: what is to be set up, and what could be elsewhere than here.
  func plans(_ settings: Settings, logins: [String]) async throws -> (plans: [AgentPlan], reports: [SetupReport.Agent])
  {
    var plans: [AgentPlan] = []
    var reports: [SetupReport.Agent] = []
    guard !flags.noAgents, questions.isAsking || !flags.wanted.isEmpty else { return ([], []) }
    let known = await known(settings)
    let taken = Set(logins + (known?.clients.map(\.user) ?? []) + (known?.revoked ?? []) + named(settings))
    for agent in MachineAgent.allCases {
      let isNamed = flags.wanted.contains(agent)
      let place = AgentPlace(agent, system)
      guard isNamed || questions.isAsking, isNamed || place.text == nil || place.isOfSetup else { continue }
      guard place.text == nil || place.isOfSetup else {
        throw CommandFailure(
          .cannotCreate, "\(place.options) is there, and setup has not made it",
          remedy: "nothing was written; move it away, or leave out --agent \(agent.rawValue)")
      }
      let url = try url(agent)
      let user =
        (agent == .homeAssistant ? flags.homeAssistantUser : flags.routerUser) ?? place.value(of: agent.userOption)
      if let problem = try await trouble(agent, url, user, nil) {
        guard !isNamed else { throw problem }
        // Something else may well answer on that port.
        if problem.status == .notPermitted { questions.warn("\(problem.message): \(problem.remedy ?? "").") }
        continue
      }
      let unsafe = place.foreign
      if let obstacle = unsafe ?? obstacle(agent, settings) {
        guard !isNamed else { throw obstacle }
        // Who may not look cannot know whether it is there.
        guard unsafe != nil || place.text == nil && (access(place.directory, X_OK) == 0 || errno == ENOENT) else {
          continue
        }
        reports.append(.init(agent: agent, unit: agent.unit, problem: obstacle.message, next: [obstacle.remedy ?? ""]))
        continue
      }
      let isThere = place.isOfSetup
      let why =
        agent == .homeAssistant
        ? "Home Assistant answers at \(url). Its agent brings what phones have put into its Thread store: sealed, by a"
          + " login of its own."
        : "An OpenThread Border Router answers at \(url). Its agent publishes its network and what happens to it: sealed,"
          + " by a login of its own."
      guard
        try await questions.decide(
          isNamed || isThere ? true : nil, why: why, "An agent for \(agent.title) here", usual: true)
      else { continue }
      let token = agent == .homeAssistant ? try await token(place, url, user) : nil
      guard agent != .homeAssistant || token != nil else { continue }
      plans.append(
        AgentPlan(
          place: place, url: url, user: user, token: token, login: login(place, taken),
          password: place.secret(place.password) ?? SecretText(EmbeddedBroker.randomPassword())))
    }
    return (plans, reports)
  }

  private func url(_ agent: MachineAgent) throws(CommandFailure) -> String {
    switch agent {
    case .homeAssistant:
      let text = flags.homeAssistantURL ?? AgentPlace(agent, system).value(of: "--url") ?? "http://127.0.0.1:8123"
      guard let address = HomeAssistantAddress(text) else {
        throw CommandFailure(.usage, "--home-assistant-url is http://HOST[:PORT] or https://HOST[:PORT]")
      }
      if address.isPlaintextElsewhere {
        guard questions.isAsking || flags.allowPlaintext else {
          throw CommandFailure(
            .usage, "the token would go to \(address) without TLS: whoever is on the way can read it",
            remedy: "nothing was written; use https://, or add --allow-plaintext")
        }
        questions.warn("The token goes to \(address) without TLS: whoever is on the way can read it.")
      }
      return "\(address)"
    case .openThread:
      let text = flags.openthreadURL ?? AgentPlace(agent, system).router ?? "http://127.0.0.1:8081"
      guard let address = HTTPAddress(text), address.isLoopback else {
        throw CommandFailure(
          .usage, "--openthread-url is http://127.0.0.1:PORT: the agent runs on the router's own machine")
      }
      return "\(address)"
    }
  }

  /// The login that the options have, or a name that nobody has yet.
  private func login(_ place: AgentPlace, _ taken: Set<String>) -> String {
    if let login = place.value(of: "--username") { return login }
    var (name, number) = (place.agent.rawValue, 1)
    while taken.contains(name) {
      name = "\(place.agent.rawValue)-agent\(number == 1 ? "" : "\(number)")"
      number += 1
    }
    return name
  }

  /// Logins of others that settings and options name.
  private func named(_ settings: Settings) -> [String] {
    settings.consent.approvers + flags.keep + flags.router
      + [settings.mqtt.username, settings.homeAssistant.login, flags.homeAssistantLogin].compactMap { $0 }
  }

  /// One that Home Assistant takes; nil where Home Assistant itself is not as it has to be.
  private func token(_ place: AgentPlace, _ url: String, _ user: String?) async throws -> SecretText? {
    var token = token ?? place.secret(place.token)
    while true {
      if let token {
        guard let problem = try await trouble(.homeAssistant, url, user, token) else { return token }
        guard questions.isAsking, self.token == nil else { throw problem }
        questions.prompt.say("\(problem.message.printable)\n")
        guard problem.status == .notPermitted else { return nil }
      }
      guard questions.isAsking else { throw SetupFlags.missing("--home-assistant-token-file") }
      questions.prompt.say(
        "\nMake a token as an administrator of Home Assistant: your name, bottom left, Security, Long-lived access"
          + " tokens, Create token.\n")
      guard let answer = try await questions.prompt.ask("Token: ", isHidden: true) else { throw CancellationError() }
      token = answer.isEmpty ? nil : SecretText(answer)
    }
  }

  /// Why an agent could not do its work there; nil where it could.
  private func trouble(_ agent: MachineAgent, _ url: String, _ user: String?, _ token: SecretText?) async throws
    -> CommandFailure?
  {
    if let obstacle = HTTPTransfer.obstacle { return CommandFailure(.unavailable, obstacle) }
    let users: Set<UInt32>
    do { users = try AgentOptions.users(user) } catch { return CommandFailure(.usage, "\(error)") }
    let nothing = "nothing was written"
    switch agent {
    case .homeAssistant:
      let bytes = token.map { SecretBytes(copying: $0.revealed.utf8) }
      if let bytes, !AgentHomeAssistantCommand.isToken(bytes) {
        return CommandFailure(.notPermitted, "that is no access token of Home Assistant", remedy: nothing)
      }
      guard let address = HomeAssistantAddress(url) else { return nil }
      let trouble = try await SystemThread.result { AgentProbe.homeAssistant(at: address, of: users, token: bytes) }
      guard let trouble else { return nil }
      switch trouble {
      case .wrongToken, .notAdministrator:
        return CommandFailure(.notPermitted, "\(address): \(trouble)", remedy: nothing)
      case .untrusted(let words):
        return CommandFailure(
          .notPermitted, "Home Assistant at \(address) is not asked: \(words)",
          remedy: "if that is Home Assistant's user, name it with --home-assistant-user")
      default: return CommandFailure(.unavailable, "\(address): \(trouble)", remedy: nothing)
      }
    case .openThread:
      guard let address = HTTPAddress(url) else { return nil }
      let silence = try await SystemThread.result { AgentProbe.openThread(at: address, of: users) }
      switch silence {
      case nil: return nil
      case .untrusted(let words):
        return CommandFailure(
          .notPermitted, "the router at \(address) is not asked: \(words)",
          remedy: "if that is otbr-agent's user, name it with --router-user")
      case .some(let silence):
        return CommandFailure(
          .unavailable, "\(address): \(silence.description)",
          remedy: "\(nothing); see `systemctl status otbr-agent`, or name its REST interface with --openthread-url")
      }
    }
  }

  /// Why none can be set up here, with what to do; nil where it can.
  private func obstacle(_ agent: MachineAgent, _ settings: Settings) -> CommandFailure? {
    let what = "the agent for \(agent.title)"
    let command = command(agent)
    if system.isRunning, !StoreOwner.isRoot {
      return CommandFailure(
        .notPermitted,
        "\(what) gets a login, keys, options in \(system.agentDirectory) and the service \(agent.unit), which root makes",
        remedy: "sudo \(command)")
    }
    guard AgentPlace.account(system) != nil else {
      return CommandFailure(
        .unavailable, "\(what) runs as the user \(StoreOwner.agents), which is not there",
        remedy: "sudo systemd-sysusers && sudo \(command)")
    }
    guard settings.mqtt.host != .embedded, settings.mqtt.username != nil else {
      return CommandFailure(
        .unavailable,
        "\(what) needs a login at the broker, "
          + (settings.mqtt.host == .embedded
            ? "and the private one has none for it" : "and threadkeeper has none itself"),
        remedy: "\(command) --broker HOST --login threadkeeper")
    }
    guard settings.homes.count == 1 else {
      return CommandFailure(.unavailable, "\(what) is set up by hand where there is more than one home")
    }
    let values = [settings.mqtt.baseTopic, settings.mqtt.tls?.caFile ?? ""]
    guard values.allSatisfy({ $0.allSatisfy { !" \t\"'\\$%".contains($0) } }) else {
      return CommandFailure(
        .unavailable, "\(what): a unit cannot have the options `\(values.joined(separator: "` and `"))`")
    }
    return nil
  }

  private func command(_ agent: MachineAgent) -> String {
    (["threadkeeper", "setup", "--agent", agent.rawValue] + options).joined(separator: " ")
  }

  // MARK: What differs

  /// What the daemon knows; nil where none runs.
  private func known(_ settings: Settings) async -> ListClients.Reply? {
    try? await StoreOwner.run(settings) {
      try await DaemonClient(settings: settings).performIfThere(ListClients(home: settings.home(named: nil)))
    }
  }

  /// Whether root's own systemd has it running, and starts it.
  private func isUp(_ agent: MachineAgent) -> Bool {
    guard let service = service(agent) else { return true }
    return service.isActive && access("\(system.enabledUnits)/\(agent.unit).service", F_OK) == 0
  }

  func work(_ plan: AgentPlan, _ settings: Settings) async throws -> Work {
    let place = plan.place
    var work = Work(plan: plan)
    if place.secret(place.password) != plan.password { work.files.append(place.password) }
    if let token = plan.token, place.secret(place.token) != token { work.files.append(place.token) }
    let own = try place.line(system)
    if own == nil { work.files.append(place.key) }
    // Without a daemon, what the options have counts.
    let known = await known(settings)
    let daemon = known.map { $0.daemon?.line } ?? place.value(of: "--daemon")
    work.daemon = daemon
    let client = known.map { $0.clients.first { $0.user == plan.login }?.line } ?? (daemon == nil ? nil : own)
    work.enrols = own == nil || client != own || daemon == nil
    let isSame = place.text == plan.options(settings.mqtt, daemon: daemon)
    if work.enrols || !isSame { work.files.append(place.options) }
    work.starts = !isUp(plan.agent) || service(plan.agent) != nil && (work.enrols || !work.files.isEmpty)
    return work
  }

  // MARK: Writing

  /// Everything but the daemon's line, so that no password that the broker has is lost.
  func prepare(_ work: Work, _ settings: Settings) throws {
    let (plan, place) = (work.plan, work.plan.place)
    guard !work.files.isEmpty, let account = AgentPlace.account(system) else { return }
    try place.makeDirectory(account)
    // First, so that --undo knows of each.
    let made = (place.made + work.files.filter { access($0, F_OK) != 0 }).filter { $0 != place.options }.uniqued
    if place.text == nil || made != place.made {
      let daemon = place.value(of: "--daemon")
      try place.write(options: plan.options(settings.mqtt, daemon: daemon, made: made), account)
    }
    if work.files.contains(place.password) { try place.write(secret: plan.password, to: place.password, account) }
    if let token = plan.token, work.files.contains(place.token) {
      try place.write(secret: token, to: place.token, account)
    }
    if work.files.contains(place.key) {
      let identity: Identity
      do throws(SodiumError) { identity = try Identity() } catch { throw CommandFailure(.system, error.description) }
      try ClientKeyFile(path: place.key).create(identity, owner: (account.user, account.group))
    }
  }

  /// Enrols it at the daemon that runs now, writes its options, and starts it.
  func finish(_ work: Work, _ settings: Settings) async throws -> SetupReport.Agent {
    let (plan, place) = (work.plan, work.plan.place)
    var report = SetupReport.Agent(work)
    guard !work.isNothing, let account = AgentPlace.account(system), let line = try place.line(system) else {
      return report
    }
    var daemon = work.daemon
    if work.enrols {
      do { daemon = try await enrol(plan, line, settings) } catch let failure as CommandFailure {
        report.problem = "the agent for \(plan.agent.title) is not enrolled: \(failure.message)"
        report.next = [failure.remedy, (StoreOwner.isRoot ? "sudo " : "") + command(plan.agent)].compactMap { $0 }
        return report
      }
      report.enrolled = true
    }
    let text = plan.options(settings.mqtt, daemon: daemon)
    if place.text != text { try place.write(options: text, account) }
    guard let service = service(plan.agent) else {
      report.next =
        system.hasSystemd
        ? ["sudo systemctl enable --now \(plan.agent.unit)"]
        : [
          "run as the user \(StoreOwner.agents): threadkeeper agent \(plan.agent.name), with the options in \(place.options)"
        ]
      return report
    }
    let start = Int(Date().timeIntervalSince1970)
    do throws(CommandFailure) { try service.start(isUnitChanged: false) } catch {
      report.problem = error.message
      report.next = ["journalctl -u \(plan.agent.unit) -n 20"]
      return report
    }
    report.started = true
    report.log = try await service.firstLine(since: start)
    if !service.isActive {
      report.problem = "\(plan.agent.unit) has ended again"
      report.next = ["journalctl -u \(plan.agent.unit) -n 20"]
    }
    return report
  }

  /// - Returns: the daemon's line.
  private func enrol(_ plan: AgentPlan, _ line: String, _ settings: Settings) async throws -> String {
    let (login, agent) = (plan.login, plan.agent)
    // Without a daemon before, nobody knew.
    if await known(settings)?.isOthers(login, agent, line) == true {
      throw CommandFailure(
        .notPermitted, "the login \(login) is enrolled with another key, or revoked",
        remedy: "write a login of its own behind --username in \(plan.place.options)")
    }
    return try await StoreOwner.run(settings) {
      let home = try settings.home(named: nil)
      let enrolment = EnrollClient(home: home, user: login, line: line, trust: .signed, label: agent.label)
      return try await DaemonClient(settings: settings).perform(enrolment).daemon.line
    }
  }
}

extension MachineAgent {
  fileprivate var userOption: String { self == .homeAssistant ? "--home-assistant-user" : "--router-user" }

  /// What `clients list` says of its login.
  var label: String { "setup: \(title)" }
}

extension ListClients.Reply {
  /// Whether it is not for setup to enrol or revoke a login.
  ///
  /// - Parameter line: of the agent's key; another one counts where setup has enrolled it.
  func isOthers(_ login: String, _ agent: MachineAgent, _ line: String?) -> Bool {
    if revoked?.contains(login) == true { return true }
    guard let client = clients.first(where: { $0.user == login }) else { return false }
    return client.line != line && client.label != agent.label
  }
}
