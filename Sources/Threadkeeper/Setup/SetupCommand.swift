import ArgumentParser
import Broker
import FoundationEssentials
import Settings
import ThreadkeeperSupport

/// `threadkeeper setup`
struct SetupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "setup", "Ask for the broker, try it, and write the settings.",
    """
    Offers brokers that answer in the network, tries the login, writes the settings, makes the store, prints what \
    the broker's files lack, and ends with what `threadkeeper doctor` finds. Changes only the keys that it asks \
    about, and restarts the service. Running it again is safe: an answer that is there is the default.

    Without a terminal all answers are options. The password comes from a file or from standard \
    input, never from the command line.

    Ends with 64 when an option is missing, 69 when the broker is not reached, 77 when it refuses \
    the login: nothing is written then. 69 is also where the service does not start: what was written is \
    printed all the same. 75: threadkeeper runs with another broker or login, or the \
    file was changed meanwhile; 78: the file cannot be changed here.

    Where the broker is a Mosquitto on this machine, it can make its login and the access list there: it shows \
    each difference and asks once, keeps copies, restarts the broker and tries the login. --undo puts the copies \
    back where nothing else was changed since, and names the lines where it was.

    Where Home Assistant or an OpenThread Border Router answers on this machine, it can set up the agent for it: \
    login, keys, enrolment, options and service. --undo takes that away, too.

    Examples:
      sudo threadkeeper setup
      threadkeeper setup --broker embedded
      threadkeeper setup --broker 127.0.0.1 --login tk --password-file - <secret
      threadkeeper setup --broker 192.0.2.7 --login tk --password-file f --dry-run
      sudo threadkeeper setup --yes --broker 127.0.0.1 --login threadkeeper --make-login --refuse-unknown-logins
      sudo threadkeeper setup --agent home-assistant --home-assistant-token-file token
      sudo threadkeeper setup --undo
    """)

  @OptionGroup var flags: SetupFlags

  @Flag(name: .shortAndLong, help: "Ask nothing, as without a terminal.") var yes = false

  @Flag(help: "Write nothing, and say what would be written.") var dryRun = false

  @Flag(help: "Put back what setup has changed at the broker of this machine, and take its agents away.") var undo =
    false

  @OptionGroup var options: CommandOptions

  func run() async throws {
    guard !undo else { return try await takeBack() }
    let place = try SetupPlace.find(options.settings)
    let current = try SetupDraft.load(place.text ?? "", place, stateDirectory: options.settings.stateDirectory).usable {
      $0.severity == .error
    }
    // Before signals are caught: reading here is ended by them as everywhere.
    let given = try flags.passwordFile.map { SecretText(try Password.fromFile($0)) }
    let token = try flags.homeAssistantTokenFile.map { SecretText(try SecretInput.line($0, of: "access token")) }
    let system = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    let prompt = PersonAtTerminal()
    let progress = SetupProgress()
    let service = flags.noStart || dryRun ? nil : SystemdService.daemon(place)
    let restart = BrokerRestart.find(flags.restartBroker, isDebian: flags.mosquittoConfig == nil)
    let isFirst = !OpenStore.exists(current) || place.isAsPackaged(system)
    let questions = SetupQuestions(
      flags: flags, current: current, isFirst: isFirst, prompt: prompt, isAsking: !yes && prompt.isPossible,
      given: given, known: { await SetupStore.password(for: $0, current) },
      checkDaemon: { [dryRun] mqtt in
        // The service is stopped for a moment.
        guard !dryRun, service == nil else { return }
        var settings = current
        settings.mqtt = mqtt
        try await SetupStore(settings: settings, isService: place.isService).checkDaemon()
      }, greet: { await $0.refusal() },
      makingLogin: { [file = flags.mosquittoConfig] mqtt in
        guard case .named(let host) = mqtt.host, let login = mqtt.username else { return nil }
        return HouseBroker(host: host, port: mqtt.port, file: file)?.makingLogin(login)
      },
      offered: {
        let line = WaitingLine()
        line.show("Looking for brokers")
        defer { line.end() }
        return await BrokerSearch.run()
      },
      maker: { [file = flags.mosquittoConfig] mqtt in
        var settings = current
        settings.mqtt = mqtt
        return LoginMaker(settings, file: file, restart: restart)
      })
    let session = SetupSession(
      questions: questions,
      agents: AgentSetup(
        questions: questions, system: system, token: token,
        options: place.path == system.configuration ? options.settings.words() : ["--config", place.path.quoted]),
      options: options.settings, place: place, isDryRun: dryRun, service: service, restart: restart, progress: progress)
    let report: SetupReport
    let failure: CommandFailure?
    do { (report, failure) = try await Interruptible.run { try await session.run() } } catch
      where error is CancellationError || error is DaemonClient.LeftOpen
    {
      try StandardStream.error.write("Stopped. \(progress.words)\n")
      throw ThreadkeeperCommand.stopped
    }
    try options.output.show(report, text: report.text)
    if let failure { throw failure }
  }

  /// `--undo`
  private func takeBack() async throws {
    let root = ProcessInfo.processInfo.environment[SystemPlaces.rootVariable] ?? ""
    let directory =
      flags.mosquittoConfig.map { FilePath.directory(of: SetupFlags.absolute($0)) }
      ?? "\(root == "/" ? "" : root)/etc/mosquitto"
    let place = BrokerUndo.Place(directory: directory)
    let record = try place.load()
    let steps = record.plan()
    let system = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    var agents = UndoneAgent.all(system)
    let restart = BrokerRestart.find(flags.restartBroker, isDebian: flags.mosquittoConfig == nil)
    let prompt = PersonAtTerminal()
    let changes = steps.contains { $0.action != .left }
    var report = UndoReport(files: steps, agents: agents, dryRun: dryRun)
    if changes || !agents.isEmpty, !dryRun {
      if !yes, prompt.isPossible {
        prompt.say(UndoReport(files: steps, agents: agents, dryRun: true).text)
        let answer = try await prompt.ask("Do it? [yes]: ", isHidden: false)
        guard let answer, answer.isEmpty || answer.lowercased().hasPrefix("y") else {
          throw ThreadkeeperCommand.stopped
        }
      }
      let settings = try? SetupDraft.load(
        SetupPlace.find(options.settings).text ?? "", SetupPlace.find(options.settings),
        stateDirectory: options.settings.stateDirectory
      ).settings
      for index in agents.indices { try await agents[index].take(settings, system) }
      report.agents = agents
      report.next = agents.filter { !$0.revoked }.compactMap(\.login).map {
        "threadkeeper clients revoke \($0.quoted) --forget"
      }
      if changes {
        try record.apply(steps, place)
        try restart?.run()
        report.restarted = restart != nil
        report.next +=
          (restart == nil ? ["sudo systemctl restart mosquitto"] : []) + [
            "sudo threadkeeper setup --broker embedded" + options.settings.words().map { " \($0)" }.joined()
          ]
      }
    }
    try options.output.show(report, text: report.text)
  }
}

/// The answers that can be given as options.
struct SetupFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp("The broker: a host name, an address, or `embedded` for a private one.", valueName: "host"))
  var broker: String?

  @Option(help: "Its port. Without it 1883, with TLS 8883.") var port: UInt16?

  @Flag(help: "Use TLS, with the authorities that this machine knows.") var tls = false

  @Option(help: ArgumentHelp("Use TLS; who may have signed the broker's certificate, as PEM.", valueName: "file"))
  var caFile: String?

  @Option(help: ArgumentHelp("threadkeeper's login at the broker.", valueName: "name")) var login: String?

  @Flag(help: "The broker takes clients without a login.") var noLogin = false

  @Option(
    help: ArgumentHelp(
      "The password: the first line of a file that others cannot read, or of standard input with `-`.",
      valueName: "file")) var passwordFile: String?

  @Flag(inversion: .prefixedNo, help: "Announce devices to Home Assistant.") var homeAssistant: Bool?

  @Option(help: ArgumentHelp("Home Assistant's login at the broker, for the access list.", valueName: "login"))
  var homeAssistantLogin: String?

  @Flag(inversion: .prefixedNo, help: "Serve the status page, on this machine unless it is open already.") var page:
    Bool?

  @Flag(inversion: .prefixedNo, help: "Serve it to the network of the home, by a link with a token, which is printed.")
  var openPage: Bool?

  @Option(
    help: ArgumentHelp(
      """
      A login of something else that uses the broker. The access list lets it do what it did, but \
      not speak for routers. Repeatable. Without it: all that this machine's Mosquitto knows.
      """, valueName: "login")) var keep: [String] = []

  @Option(help: ArgumentHelp("A login of a border router, which is not kept. Repeatable.", valueName: "login"))
  var router: [String] = []

  @Flag(
    inversion: .prefixedNo,
    help:
      "Make threadkeeper's login, with a random password, and the access list, in the files of this machine's Mosquitto."
  ) var makeLogin: Bool?

  @Flag(
    help:
      "Where the broker has no password file: have it refuse clients with a name that is not in the one that is made.")
  var refuseUnknownLogins = false

  @Option(
    help: ArgumentHelp(
      "Where kept logins publish that see threadkeeper's states, such as `zigbee2mqtt/#`. Repeatable.",
      valueName: "filter")) var writes: [String] = []

  @Option(
    help: ArgumentHelp(
      "How the broker is restarted, where that is not `systemctl restart mosquitto`.", valueName: "command"))
  var restartBroker: String?

  @Option(help: ArgumentHelp("What all topics lie below.", valueName: "topic")) var baseTopic: String?

  @Option(
    help: ArgumentHelp("Mosquitto's configuration, if it is not /etc/mosquitto/mosquitto.conf.", valueName: "file"))
  var mosquittoConfig: String?

  @Option(
    help: ArgumentHelp(
      "Set up the agent for what answers on this machine. Repeatable. Without a terminal no other one is.",
      valueName: MachineAgent.allCases.map(\.rawValue).joined(separator: "|"))) var agent: [MachineAgent] = []

  @Flag(help: "Set up no agent.") var noAgents = false

  @Option(help: ArgumentHelp("Where Home Assistant is, if it is not http://127.0.0.1:8123.", valueName: "url"))
  var homeAssistantURL: String?

  @Option(
    help: ArgumentHelp(
      "Its access token for its agent: the first line of a file that others cannot read, or of standard input with `-`.",
      valueName: "file")) var homeAssistantTokenFile: String?

  @Flag(help: "Send the token without TLS to Home Assistant on another machine, where nobody is asked.")
  var allowPlaintext = false

  @Option(help: ArgumentHelp("The user that Home Assistant runs as here, where that is not root.", valueName: "user"))
  var homeAssistantUser: String?

  @Option(
    help: ArgumentHelp("The REST interface of the OpenThread router, if not http://127.0.0.1:8081.", valueName: "url"))
  var openthreadURL: String?

  @Option(help: ArgumentHelp("The user that otbr-agent runs as, where that is not root.", valueName: "user"))
  var routerUser: String?

  @Flag(help: "Write the settings without asking the broker.") var noValidate = false

  @Flag(help: "Do not start or restart the service.") var noStart = false

  func validate() throws {
    if noLogin, login != nil || passwordFile != nil {
      throw ValidationError("--no-login and --login or --password-file exclude each other.")
    }
    if makeLogin == true, noLogin || noValidate { throw ValidationError("--make-login is for a login that is tried.") }
    if openPage == true, page == false { throw ValidationError("--open-page and --no-page exclude each other.") }
    if port == 0 { throw ValidationError("--port is from 1 to 65535.") }
    if noAgents, !wanted.isEmpty { throw ValidationError("--no-agents and --agent exclude each other.") }
    if passwordFile == "-", homeAssistantTokenFile == "-" {
      throw ValidationError("Standard input has one of --password-file and --home-assistant-token-file.")
    }
    if broker == "embedded", port != nil || tls || caFile != nil || login != nil {
      throw ValidationError("The private broker makes its own port and login.")
    }
  }

  /// Agents that options name.
  var wanted: Set<MachineAgent> { Set(agent + (homeAssistantTokenFile == nil ? [] : [.homeAssistant])) }

  /// Who is to reach the page; nil where no option says so.
  func reach(_ current: Settings.HTTP) -> PageReach? {
    if let openPage { return openPage ? .home : .yes }
    return page.map { !$0 ? .no : PageReach(current) == .no ? .yes : PageReach(current) }
  }

  /// Where TLS is asked for: an absolute path.
  var authority: String? { caFile.map(Self.absolute) ?? (tls ? Self.systemAuthorities : nil) }

  /// What a person names is relative to where that person is, and not to the settings.
  static func absolute(_ path: String) -> String {
    FilePath.absolute(path, in: SettingsLoader.currentDirectory(), home: ProcessInfo.processInfo.environment["HOME"])
      ?? path
  }

  static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

  static func missing(_ flag: String) -> CommandFailure {
    CommandFailure(
      .usage, "\(flag) is missing, and there is no terminal to ask on", remedy: "give it, or run this at a terminal")
  }
}

/// What `setup` answers.
struct SetupReport: Encodable {
  struct Broker: Encodable {
    /// Whether the broker's list allows what it has to and no more; unknown without its files.
    enum Access: String, Encodable { case complete, incomplete, unknown }

    /// `broker.local:1883`, or `embedded`.
    let address: String
    var username: String?
    /// Why it is not reached, or refuses the login.
    var problem: String?
    let access: Access
    /// Why the access list is not as it has to be, or what is not known of it.
    var reasons: [String] = []
    var steps: [BrokerAdvice.Step] = []
    /// What the steps add; nil where no lines are to be added.
    var accessList: String?
    /// What setup itself changes, or has changed.
    var files: [File] = []

    struct File: Encodable {
      let path: String
      /// Lines that go (`-`) and come (`+`).
      let difference: [String]
    }

    /// Of files as they were before.
    var copies: [String] = []
  }

  /// One of this machine that is set up, is to be, or could be.
  struct Agent: Encodable {
    let agent: MachineAgent
    let unit: String
    /// At the broker.
    var login: String?
    /// Written, or to be.
    var files: [String] = []
    /// Whether its login was enrolled.
    var enrolled = false
    var started = false
    /// What it has logged first.
    var log: String?
    /// Why it is not set up.
    var problem: String?
    var next: [String] = []
  }

  let settings: String
  let changes: [SetupDraft.Change]
  /// Whether the file was written: not when it says all that already, and not for `--dry-run`.
  let written: Bool
  let dryRun: Bool
  let store: String
  let storeMade: Bool
  /// The key of a store that was made.
  let keyFile: String
  let passwordStored: Bool
  /// A file of systemd's that was written or removed, because the store lies elsewhere than the service expects.
  let dropIn: String?
  let broker: Broker
  let agents: [Agent]
  /// Where the page is open to the network.
  let page: PageLink?
  /// Whether the service was started, or restarted.
  let serviceStarted: Bool
  let next: [String]
  /// What is found with these settings; nil where nothing was written, or the broker is not to be asked.
  let doctor: DoctorReport?

  var text: String {
    var lines: [String] = []
    if changes.isEmpty {
      lines.append("\(settings): nothing to change.")
    } else {
      lines.append("\(settings): \(dryRun ? "would be changed" : "written").")
      lines += changes.map { "  \($0.line)" }
    }
    if passwordStored { lines.append("The password is kept in the encrypted store.") }
    if storeMade {
      lines.append("The store is in \(store).")
      lines.append("Back up its key, without which nobody can read it: \(keyFile)")
    }
    if let dropIn { lines.append("\(dropIn): changed, so that the service waits for the store's disk.") }
    if serviceStarted { lines.append("The service runs with these settings, now and after each boot.") }
    lines +=
      [""] + brokerLines + agents.flatMap { [""] + $0.lines(dryRun: dryRun) } + ["", "Next:"] + next.map { "  \($0)" }
    let text = lines.joined(separator: "\n") + "\n" + (page.map { "\n" + $0.text() } ?? "")
    guard let doctor else { return text }
    return text + "\nthreadkeeper doctor, now:\n" + doctor.text(onlyProblems: true)
  }

  private var brokerLines: [String] {
    var lines: [String] = []
    if let problem = broker.problem { lines += ["warning: \(problem.printable)", ""] }
    guard broker.address != "embedded" else {
      return ["The private broker has its logins and its access list: nothing to add."]
    }
    for file in broker.files {
      lines += ["\(file.path): \(dryRun ? "would be changed" : "written")."]
      if dryRun { lines += file.difference.map { "  \($0.printable)" } }
    }
    if !broker.files.isEmpty, !dryRun {
      lines += broker.copies.map { "As it was: \($0)" }
      lines += ["To put the broker's files back: `threadkeeper setup --undo`", ""]
    }
    guard !broker.steps.isEmpty || broker.access != .complete else {
      return lines + ["The broker \(broker.address) allows what is needed: nothing to add."]
    }
    switch broker.access {
    case .complete: lines.append("The access list is as it has to be.")
    case .incomplete: lines.append("What the broker \(broker.address) allows has to change:")
    case .unknown: lines.append("Not all is known of what the broker \(broker.address) allows:")
    }
    lines += broker.reasons.map { "  - \($0.printable)" }
    for (number, step) in broker.steps.enumerated() {
      lines += ["", "\(number + 1). \(step.what):"] + step.lines.map { "     \($0)" }
    }
    if let list = broker.accessList {
      let rows = list.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      lines += ["", "These are the lines of the access list:"] + rows.map { "     \($0)" }
    }
    return lines
  }
}

extension SetupReport.Agent {
  init(_ work: AgentSetup.Work) {
    self.init(agent: work.plan.agent, unit: work.plan.agent.unit, login: work.plan.login, files: work.files)
  }

  func lines(dryRun: Bool) -> [String] {
    let name = "The agent for \(agent.title)"
    var lines: [String] = []
    if let problem {
      lines = ["Not set up: \(problem.printable)"]
    } else if dryRun, !files.isEmpty {
      lines = ["\(name): would be set up with the login \(login ?? "")."]
    } else if files.isEmpty, !enrolled, !started {
      lines = ["\(name): nothing to change."]
    } else {
      lines = ["\(name): \(started ? "runs, now and after each boot" : "set up"), with the login \(login ?? "")."]
    }
    lines += files.map { "  \($0)" }
    if let log { lines.append("  its log: \(log)") }
    return lines + next.map { "  then: \($0)" }
  }
}
