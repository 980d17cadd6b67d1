import Broker
import FoundationEssentials
import KeychainCore
import Settings
import Synchronization
import ThreadkeeperSupport

/// The steps of `threadkeeper setup`: ask, try, look, write, store, say what is left to do.
struct SetupSession {
  let questions: SetupQuestions
  let agents: AgentSetup
  let options: SettingsOptions
  let place: SetupPlace
  let isDryRun: Bool
  /// That of the daemon, where setup starts it.
  let service: SystemdService?
  let restart: BrokerRestart?
  let progress: SetupProgress

  private var isAsking: Bool { questions.isAsking }

  /// - Returns: what was done, and why the service does not run with it: nil where it does, or is not to be started.
  func run() async throws -> (SetupReport, CommandFailure?) {
    let outcome = try await questions.run()
    var doctor: DoctorReport?
    let draft = try SetupDraft(outcome.settings, for: place, questions.current, stateDirectory: options.stateDirectory)
    let logins = house(draft.settings)?.logins ?? []
    var (plans, agentReports) = try await agents.plans(draft.settings, logins: logins)
    var (broker, advice) = try await look(outcome, draft.settings, plans)
    let makesLogins = outcome.makesLogin || outcome.makesAgentLogins && !plans.isEmpty
    let change = try makesLogins ? change(advice) { login in "\(login):" } : nil
    var works: [AgentSetup.Work] = []
    for plan in plans { works.append(try await agents.work(plan, draft.settings)) }
    broker.files = (change?.files ?? []).map { .init(path: $0.path, difference: $0.difference) }
    let isWritten = draft.text != place.text
    var result = SetupStore.Result()
    var dropIn: String?
    var isStarted = false
    var page: PageLink?
    var failure: CommandFailure?
    if !isDryRun {
      if !isAsking { try change?.checkUnasked(questions.flags) }
      try await confirm(draft, change, works)
      // Before the broker gets their passwords: what fails after that leaves them for the next run.
      for work in works {
        progress.note("Files of agents may be made, and nothing else.")
        try agents.prepare(work, draft.settings)
      }
      if change?.files.isEmpty == false {
        var mqtt = draft.settings.mqtt
        mqtt.password = mqtt.password ?? outcome.password
        let passwords = Dictionary(plans.map { ($0.login, $0.password) }) { $1 }
        let copies = try await makeLogin(advice, mqtt, passwords, shown: change)
        var (made, remaining) = try await look(outcome, draft.settings, plans, given: advice.list)
        remaining.isMade = true
        remaining.isPasswordFileNew = change?.newPasswordFile != nil
        do { (made.steps, made.accessList) = try remaining.steps() } catch { throw CommandFailure(.usage, "\(error)") }
        (made.files, made.copies) = (broker.files, copies)
        broker = made
      }
      let store = SetupStore(settings: draft.settings, isService: place.isService)
      let password = draft.settings.mqtt.password == nil ? outcome.password : nil
      // First the password: settings that name a login without one would stop a daemon that runs.
      let isBrokerChanged = change?.files.isEmpty == false
      progress.note(
        "The settings were not written; the store may be. Run it again."
          + (isBrokerChanged ? " Or: \(Self.undoing)." : ""))
      let wasActive = service?.isActive == true
      var isStopped = false
      var isFilled = false
      // It keeps the password of its own login alone.
      if wasActive, draft.settings.mqtt.host != .embedded, (try? await store.checkDaemon()) == nil {
        try service?.stop()
        isStopped = true
      }
      do {
        result = try await store.fill(username: draft.settings.mqtt.username, password: password)
        isFilled = true
        // Before the settings: those that open the page without a token would stop the daemon.
        page = try await openPage(draft.settings)
        if isWritten { try write(draft, result) }
        let unit = StoreDropIn(draft.settings, SystemPlaces(environment: ProcessInfo.processInfo.environment))
        if place.isService, try unit.write() { dropIn = unit.path }
      } catch {
        // With the settings that are there now.
        if isStopped { try? service?.start(isUnitChanged: false) }
        // A password that setup made is then known to nobody.
        guard isBrokerChanged, !isFilled, let failure = error as? CommandFailure else { throw error }
        throw CommandFailure(
          failure.status, failure.message, remedy: (failure.remedy.map { "\($0); " } ?? "") + Self.undoing)
      }
      if let service, !wasActive || isWritten || isStopped || result.storedPassword || dropIn != nil {
        do {
          try service.start(isUnitChanged: dropIn != nil)
          isStarted = true
        } catch { failure = error }
      }
      if failure == nil {
        progress.note("All but agents is set up. Run it again.")
        for work in works { agentReports.append(try await agents.finish(work, draft.settings)) }
        if !questions.flags.noValidate { doctor = await check() }
        if page != nil { page?.code = await store.pageCode() }
      }
    }
    if isDryRun { agentReports += works.map { SetupReport.Agent($0) } }
    let report = SetupReport(
      settings: place.path, changes: draft.changes, written: isWritten && !isDryRun, dryRun: isDryRun,
      store: draft.settings.store.path, storeMade: result.madeStore, keyFile: draft.settings.store.keyFile,
      passwordStored: result.storedPassword, dropIn: dropIn, broker: broker, agents: agentReports, page: page,
      serviceStarted: isStarted,
      next: (dropIn == nil || isStarted ? [] : ["sudo systemctl daemon-reload"])
        + next(draft.settings, isRunning: result.isRunning, isToStart: service == nil || failure != nil), doctor: doctor
    )
    return (report, failure)
  }

  /// Makes the token of a page that is open to the network.
  private func openPage(_ settings: Settings) async throws -> PageLink? {
    guard PageReach(settings.http) == .home, settings.http.trustedProxy == nil else { return nil }
    let token = try await StoreOwner.run(settings) { try PageToken.findOrMake(settings, replacing: false).text }
    return PageLink(settings.http, token: token)
  }

  /// What `threadkeeper doctor` finds now; nil where it does not come to an end: what setup has done is reported anyway.
  private func check() async -> DoctorReport? {
    var options = options
    options.config = place.path
    if isAsking { questions.prompt.say("\nChecking all of it…\n") }
    do {
      return DoctorReport(try await Doctor(options: options, loaded: options.read(), other: nil) { _ in }.findings())
    } catch {
      questions.warn("All is written, and `threadkeeper doctor` was not run to its end\(Self.reason(error)).")
      return nil
    }
  }

  private static func reason(_ error: any Error) -> String {
    error is CancellationError ? "" : ": \((error as? CommandFailure)?.message ?? "\(error)")"
  }

  private func write(_ draft: SetupDraft, _ result: SetupStore.Result) throws {
    do throws(CommandFailure) { try place.write(draft.text) } catch {
      let stored = result.storedPassword ? "the password is stored; " : ""
      throw CommandFailure(
        error.status, error.message, remedy: stored + (error.remedy ?? "the settings are as they were; run it again"))
    }
    progress.note("The settings and the store are written.")
  }

  // MARK: The broker

  /// - Parameter given: what was asked for already.
  private func look(
    _ outcome: SetupQuestions.Outcome, _ settings: Settings, _ plans: [AgentPlan], given: AccessList? = nil
  ) async throws -> (SetupReport.Broker, BrokerAdvice) {
    let mqtt = settings.mqtt
    guard mqtt.host != .embedded else {
      return (SetupReport.Broker(address: "embedded", access: .complete), BrokerAdvice(list: AccessList(settings)))
    }
    let house = house(settings)
    var advice = BrokerAdvice(
      list: AccessList(settings), files: house?.isComplete == true ? house : nil, options: options.words(),
      isRoot: StoreOwner.isRoot, isLoginRefused: outcome.problem != nil, isAnonymous: mqtt.username == nil)
    advice.agents = plans.map { ($0.login, $0.place.password) }
    if let given { return try report(settings, house, advice, outcome, given) }
    // Lines that setup itself has added are written again whole, unless they are right.
    if outcome.makesLogin, let files = advice.files, try hasGaps(files, settings) {
      advice.files = files.withoutOwnLines
    }
    let files = advice.files
    // What was chosen for threadkeeper's own list stays.
    let isOwn = files?.accessList.map { advice.list.takeRoles(ofOwn: $0) } ?? false
    advice.list.addHomeAssistant(settings)
    let readers = Set(advice.list.monitors + advice.list.approvers).subtracting(advice.list.kept)
    func look() throws(AccessListError) { advice.gaps = try files?.gaps(advice.list) ?? [] }
    do {
      try look()
      if mqtt.username != nil {
        if settings.homeAssistant.discovery == .on, let reader = try await homeAssistant(advice) {
          advice.list.add(reader, to: \.monitors)
          try look()
        }
        advice.list.kept = try await kept(advice, but: readers)
        // Other approvers decide by what every login may do, unless the list has lines of theirs.
        for login in advice.list.kept + advice.list.monitors where settings.consent.isApprover(login) {
          advice.list.add(login, to: \.approvers)
        }
        try look()
      }
      advice.list.isAddition = files?.accessList != nil && !isOwn
      if files?.accessList == nil {
        advice.list.keepsAnonymous = files?.options.allowsAnonymous ?? outcome.admitsAnonymous
      }
      if outcome.makesLogin { advice.list.keptWrites = try await writes(advice) }
      return try report(settings, house, advice, outcome, advice.list)
    } catch let error as AccessListError { throw CommandFailure(.usage, "\(error)") }
  }

  /// This machine's, where it is that.
  private func house(_ settings: Settings) -> HouseBroker? {
    guard case .named(let host) = settings.mqtt.host else { return nil }
    return HouseBroker(host: host, port: settings.mqtt.port, file: questions.flags.mosquittoConfig)
  }

  private func hasGaps(_ files: HouseBroker, _ settings: Settings) throws -> Bool {
    var list = AccessList(settings)
    list.addHomeAssistant(settings)
    do { return try !files.gaps(list).isEmpty } catch { throw CommandFailure(.usage, "\(error)") }
  }

  private func report(
    _ settings: Settings, _ house: HouseBroker?, _ looked: BrokerAdvice, _ outcome: SetupQuestions.Outcome,
    _ wanted: AccessList
  ) throws -> (SetupReport.Broker, BrokerAdvice) {
    var advice = looked
    advice.list = wanted
    let mqtt = settings.mqtt
    guard case .named(let host) = mqtt.host else { throw CommandFailure(.software, "the private broker has no list") }
    let files = advice.files
    let (steps, list): ([BrokerAdvice.Step], String?)
    do {
      advice.gaps = try files?.gaps(wanted) ?? []
      (steps, list) = try advice.steps()
    } catch { throw CommandFailure(.usage, "\(error)") }
    let report = SetupReport.Broker(
      address: "\(BrokerAddress(host: host, port: mqtt.port, isEncrypted: false))", username: mqtt.username,
      problem: outcome.problem?.message,
      access: files == nil ? .unknown : advice.gaps.isEmpty ? .complete : .incomplete,
      reasons: reasons(house) + AccessGap.words(advice.gaps), steps: steps, accessList: list)
    return (report, advice)
  }

  // MARK: What setup does at the broker

  private func change(_ advice: BrokerAdvice, passwordLine: (String) throws -> String) throws -> BrokerChange? {
    guard let restart, let files = advice.files else { return nil }
    let changes = try advice.changes(passwordLine: passwordLine)
    return BrokerChange(files: changes, undo: BrokerUndo.Place(directory: files.directory), restart: restart)
  }

  /// - Parameters:
  ///   - mqtt: with the password.
  ///   - agents: passwords by login.
  ///   - shown: what a person has agreed to.
  /// - Returns: copies of the files as they were.
  private func makeLogin(
    _ advice: BrokerAdvice, _ mqtt: Settings.MQTT, _ agents: [String: SecretText], shown: BrokerChange?
  ) async throws -> [String] {
    let password = mqtt.password ?? SecretText("")
    let change = try change(advice) { try BrokerChange.passwordLine($0, agents[$0] ?? password) }
    for file in change?.files ?? [] {
      let isShown = shown?.files.contains { $0.path == file.path && $0.before == file.before } == true
      guard isShown else { throw BrokerChange.changed(file.path) }
    }
    progress.note("The broker's files may be changed: `threadkeeper setup --undo` puts them back.")
    return try await change?.apply {
      let end = ContinuousClock.now + Self.restartLimit
      while let refusal = await questions.greet(mqtt) {
        guard ContinuousClock.now < end else {
          throw CommandFailure(refusal.isRefusal ? .notPermitted : .unavailable, refusal.message)
        }
        try await Task.sleep(for: .milliseconds(250))
      }
    } ?? []
  }

  private static let undoing = "the broker's files are changed, and `threadkeeper setup --undo` puts them back"

  /// A broker on a small machine takes its time to start.
  private static let restartLimit = Duration.seconds(20)

  /// Where kept logins publish that see threadkeeper's topics: a new list lets them write there alone.
  private func writes(_ advice: BrokerAdvice) async throws -> [String] {
    let list = advice.list
    guard questions.flags.writes.isEmpty else { return questions.flags.writes }
    let readers = advice.unknownWriters
    // Without a person, lines of others stay as they are, and the report has them.
    guard !readers.isEmpty, isAsking || !list.isAddition else { return list.keptWrites }
    let usual = "\(list.discoveryPrefix)/#"
    let words = try await questions.answer(
      nil, usual: usual,
      why: "Where does \(readers.map(\.printable).listed) publish? The list lets it write there alone: name all, with"
        + " spaces between, such as \(usual) zigbee2mqtt/#", "Topics")
    if !isAsking { questions.warn("\(readers.listed) may publish to \(usual) alone. Name other places with --writes.") }
    return words.split { $0 == " " || $0 == "," }.map(String.init)
  }

  private func reasons(_ house: HouseBroker?) -> [String] {
    guard let house else {
      return [
        "no configuration of a Mosquitto on this machine was found for this broker: all that it needs is listed, whether"
          + " it is there or not. Run setup where the broker is, or name its file with --mosquitto-config"
      ]
    }
    if house.isComplete { return house.accessList == nil ? ["it has no access list"] : [] }
    return house.unreadable.map { "\($0) could not be read: run it with sudo" }
      + (house.options.isPartial ? ["a plugin or files of each listener decide: all that it needs is listed"] : [])
  }

  private func homeAssistant(_ advice: BrokerAdvice) async throws -> String? {
    if let login = questions.flags.homeAssistantLogin { return login }
    // It is known by the settings or the list.
    guard advice.list.monitors.isEmpty, advice.files == nil || !advice.gaps.isEmpty else { return nil }
    let usual = "homeassistant"
    guard isAsking else { return advice.files?.logins?.contains(usual) != false ? usual : nil }
    let login = try await questions.answer(
      nil, usual: usual, why: "The access list has to let Home Assistant see threadkeeper. `none` to leave it out.",
      "Home Assistant's login at the broker")
    return login == "none" ? nil : login
  }

  /// Logins that the list keeps: those that are named; else those that this machine's broker knows, but for routers'.
  ///
  /// - Parameter readers: logins that threadkeeper's own list lets see or decide, and nothing else.
  private func kept(_ advice: BrokerAdvice, but readers: Set<String>) async throws -> [String] {
    let (list, flags) = (advice.list, questions.flags)
    var kept = flags.keep
    if kept.isEmpty, let files = advice.files, !advice.gaps.isEmpty {
      let hasList = files.accessList != nil
      kept = hasList ? advice.gaps.filter(\.isExcess).compactMap(\.who.login) : files.logins ?? []
      kept = Set(kept).subtracting(list.daemons + list.kept + flags.router + advice.agents.map(\.login)).sorted()
      let others = kept.filter { !(list.monitors + list.deciders).contains($0) }.map(\.printable).listed
      if flags.router.isEmpty, !others.isEmpty, !isAsking {
        questions.warn(
          "The access list denies threadkeeper's topics to \(others). Name border routers' logins with --router.")
      } else if flags.router.isEmpty, !others.isEmpty {
        let routers = try await names(
          (hasList
            ? "These logins can use all topics of threadkeeper: \(others)."
            : "The broker knows these logins: \(others).")
            + " They keep what they do, but get none of these topics, not even their own."
            + " Which are border routers' logins, with spaces between?", "Logins of border routers")
        kept.removeAll { routers.contains($0) }
      }
    } else if kept.isEmpty, advice.files == nil, isAsking {
      kept = try await names(
        "An access list rules the whole broker. Which other logins use it, such as zigbee2mqtt, with spaces between?"
          + " They keep what they do. Leave out border routers' own.", "Other logins")
    }
    let further = (list.monitors + list.approvers).filter { !readers.contains($0) }
    return (list.kept.filter { !flags.router.contains($0) } + kept + further).uniqued
  }

  private func names(_ why: String, _ question: String) async throws -> [String] {
    let words = try await questions.answer(nil, usual: "none", why: why, question)
    return words == "none" ? [] : words.split { $0 == " " || $0 == "," }.map(String.init)
  }

  // MARK: The rest

  /// The last question: nothing is written before it.
  private func confirm(_ draft: SetupDraft, _ change: BrokerChange?, _ works: [AgentSetup.Work]) async throws {
    let (files, works) = (change?.files ?? [], works.filter { !$0.isNothing })
    guard isAsking, !draft.changes.isEmpty || !files.isEmpty || !works.isEmpty else { return }
    var parts = files.map { file in
      ([file.before == nil ? "\(file.path) is made:" : "\(file.path) is changed:"]
        + file.difference.map { "  \($0.printable)" }).joined(separator: "\n")
    }
    if let new = change?.newPasswordFile {
      parts.append("From then on the broker refuses clients with a name that is not in \(new.path).")
    }
    if let change, !files.isEmpty { parts.append("Then: `\(change.restart.command.joined(separator: " "))`") }
    if !draft.changes.isEmpty {
      parts.append((["\(place.path) gets:"] + draft.changes.map { "  \($0.line)" }).joined(separator: "\n"))
    }
    parts += works.map { work in
      (["For \(work.plan.agent.title) the agent gets the login \(work.plan.login), enrolled as signed, and:"]
        + (work.files + [work.plan.agent.unit]).map { "  \($0)" }).joined(separator: "\n")
    }
    let isWanted = try await questions.decide(nil, why: parts.joined(separator: "\n\n"), "Write it", usual: true)
    guard isWanted else { throw CancellationError() }
  }

  private func next(_ settings: Settings, isRunning: Bool, isToStart: Bool) -> [String] {
    let isService = place.isService
    let named = options.words().map { " \($0)" }.joined()
    let start =
      isService
      ? "sudo systemctl \(isRunning ? "restart" : "enable --now") threadkeeper"
      : isRunning ? "restart threadkeeper" : "threadkeeper run\(named)"
    let sudo = isService ? "sudo " : ""
    return (isToStart ? [start] : []) + ["\(sudo)threadkeeper doctor\(named)"]
      + (PageReach(settings.http) == .yes ? ["\(sudo)threadkeeper page token\(named)"] : [])
  }
}

/// How far it came, for whoever stops it.
final class SetupProgress: Sendable {
  private let state = Mutex("Nothing was written.")

  var words: String { state.withLock { $0 } }
  func note(_ words: String) { state.withLock { $0 = words } }
}
