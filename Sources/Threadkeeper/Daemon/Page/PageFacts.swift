import Bridge
import Broker
import Dispatch
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Logging
import ServiceDiscovery
import Settings
import SodiumCrypto
import StatusPage
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// Answers the HTTP server in the daemon.
struct PageFacts: PageSource {
  private let context: OperationContext
  private let changes: PageChanges
  /// In place of the daemon's own, for tests.
  var discovery: DiscoveryState?

  init(_ context: OperationContext) { (self.context, changes) = (context, PageChanges(context: context)) }

  private var status: DaemonStatus {
    var status = context.bridge.status
    if let discovery { status.discovery = discovery }
    return status
  }

  func metrics() async -> [Metric] {
    let status = status
    let daemon = DaemonMetrics(status, context.bridge.monitor.figures)
    return daemon.all + HomeMetrics(context.homes, now: status.seesRouters ? context.bridge.clock.now() : nil).all
  }

  func make(_ change: PageChange) async throws -> PageOutcome {
    try await SystemThread.result { [changes] in try changes.make(change) }
  }

  func state() async -> [UInt8]? {
    let status = status
    do {
      let state = try PageState(
        context.bridge.loop.homes.snapshot, context.settings,
        health: readiness(status).checks.map { PageState.Part($0) } + [PageState.Part(status.discovery)],
        recent: context.bridge.loop.homes.recent, discovery: status.discovery,
        machine: status.counts.routers.listed == 0 ? .read() : nil,
        backup: BackupNote.read(context.settings).map { WireTime(milliseconds: $0 * 1_000) },
        at: context.bridge.clock.now())
      return Array(try JSONText.line(state).utf8.dropLast())
    } catch {
      context.logger.error("the status page cannot be made", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  var readiness: Readiness { readiness(status) }

  private func readiness(_ status: DaemonStatus) -> Readiness {
    let known = status.monitor
    return Readiness([
      .init(
        "broker", ok: known.statusLink.isConnected && known.intakeLink.isConnected,
        reason: known.lastConnectionProblem ?? "the daemon connects to its broker"),
      .init("store", ok: status.isStoreWritable, reason: known.storeProblem?.reason ?? context.store.condition.words),
      .init("intake", ok: status.intake.state == .running, reason: status.intake.reason),
    ])
  }
}

extension ReadRouter.Reply {
  fileprivate var sentence: String {
    let network = "The border router is on \(networkName.printable)\(channel.map { ", channel \($0)" } ?? "")"
    switch differs {
    case nil: return "\(network)."
    case []?: return "\(network), with the dataset of the preferred network."
    case let differs?: return "\(network). It differs from the preferred network: \(differs.joined(separator: ", "))."
    }
  }
}

extension DaemonStatus {
  /// Whether it is known who is on the local network now: what is stored about it may be old otherwise.
  fileprivate var seesRouters: Bool { discovery.state == .running }
}

/// Makes the changes of the page, as the commands of the daemon's own user do.
struct PageChanges {
  let context: OperationContext
  /// That was shown last and is not confirmed yet: it opens nothing. Numbered, so that a time ends its own.
  private let shownCode = Locked<(code: RecoveryCode?, number: Int)>((nil, 0))
  /// Seconds after which it is dropped.
  private let codeTime: Double

  init(context: OperationContext, codeTime: Double = 600) { (self.context, self.codeTime) = (context, codeTime) }

  /// Writes the disk.
  ///
  /// - Throws: `PageRefusal`.
  func make(_ change: PageChange) throws -> PageOutcome {
    do { return try perform(change) } catch let refusal as PageRefusal { throw refusal } catch {
      let failure = CommandFailure(failing: error)
      throw PageRefusal(failure.message, remedy: failure.remedy)
    }
  }

  private func perform(_ change: PageChange) throws -> PageOutcome {
    switch change {
    case .acceptNetwork(let home, let network, let isAccepted):
      _ = try AcceptNetwork(home: home, extPanId: network, accepted: isAccepted).perform(context)
      guard isAccepted else { return "The network is not accepted any more." }
      return PageOutcome(
        "The network is accepted, and raises no alert. \"Not fine there any more\" in its details takes that back.")
    case .testAlert(let home):
      _ = try TestAlert(home: home).perform(context)
      return "A test alert is sent."
    case .confirmAlerts(let home):
      _ = try ConfirmAlerts(home: home, confirmed: true).perform(context)
      return "It is noted that alerts reach you."
    case .acceptRouter(let home, let router):
      _ = try AcceptRouter(home: home, borderAgentId: router).perform(context)
      return "The border router is accepted."
    case .forgetRouter(let home, let router):
      _ = try RemoveRouter(home: home, borderAgentId: router).perform(context)
      return "The border router is forgotten."
    case .renameRouter(let home, let router, let name):
      _ = try RenameRouter(home: home, borderAgentId: router, name: name).perform(context)
      return name.isEmpty ? "The border router has its own name again." : "The border router is renamed."
    case .join(let code, let router, let isAnyway):
      return try join(JoinNetwork(code: code, borderAgentId: router, anyway: isAnyway))
    case .readRouter(let router): return PageOutcome(try ReadRouter(borderAgentId: router).perform(context).sentence)
    case .prefer(let home, let network): return try prefer(network, in: home)
    case .keepKeys(let home, let since): return try keepKeys(in: home, since: since)
    case .forgetPreferred(let home, let network): return try forget(network, in: home)
    case .share(let home, let network):
      let reply = try ShareNetwork(home: home, extPanId: network).perform(context)
      return PageOutcome(
        "Type this code where the network is added. It is good for \(reply.duration), and once. Whoever has it gets the "
          + "network's credentials.", code: reply.shownCode, for: reply.minutes * 60)
    case .makeRecoveryCode: return try makeRecoveryCode()
    case .confirmRecoveryCode(let group): return try confirmRecoveryCode(group)
    case .approve(let id, let always):
      let decision = try ApproveConsent(id: id, scope: always ? .always : .once).perform(context)
      if decision.request.offersCredentials { return "The credentials are used from now on." }
      if decision.request.changesStore { return "It is changed there as soon as its agent listens." }
      return always ? "Approved, from now on." : "Approved, this once."
    case .askAgain(let home, let router):
      _ = try AskConsent(home: home, borderAgentId: router).perform(context)
      return "You are asked again, as soon as the router is online."
    case .deny(let id):
      _ = try DenyConsent(id: id).perform(context)
      return "Denied."
    }
  }

  /// Not where it could not be added afterwards: somebody would have written it down for nothing.
  private func makeRecoveryCode() throws -> PageOutcome {
    let keychain = try context.store.keychain(instead: "a fleet's key service opens it")
    try context.store.checkWritable()
    guard keychain.isUnlocked else {
      throw PageRefusal(
        "A recovery code opens all of the store, and parts of it are locked: that takes its passphrase.",
        remedy: "Stop the daemon, run `threadkeeper keys add --recovery-code`, which asks for it, and start the daemon "
          + "again.")
    }
    let code = RecoveryCode()
    let number = shownCode.withLock { shown in
      shown = (code, shown.number + 1)
      return shown.number
    }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + codeTime) { [weak shownCode] in
      shownCode?.withLock { if $0.number == number { $0.code = nil } }
    }
    return PageOutcome(
      "Write this recovery code down, and keep it apart from this machine. With a backup it opens everything. It is "
        + "shown this once, and opens nothing until you have typed its third group.", code: code.revealed(),
      for: Int(codeTime), confirmation: .recoveryCode)
  }

  private func confirmRecoveryCode(_ group: String) throws -> PageOutcome {
    // Held meanwhile: a second press adds no second slot.
    try shownCode.withLock { shown in
      guard let code = shown.code else {
        throw PageRefusal(
          "No recovery code waits for that: it opens the store already, was shown more than ten minutes ago, or the "
            + "daemon was restarted.")
      }
      guard code.hasThirdGroup(group.utf8) else {
        throw PageRefusal("That is not the third group of the code that was shown last.")
      }
      _ = try AddKeySlot(secret: StoreSecret(kind: .recoveryCode, value: code.revealed())).perform(context)
      shown.code = nil
    }
    return "The recovery code opens the store now."
  }

  private func join(_ join: JoinNetwork) throws -> PageOutcome {
    do {
      let reply = try join.join(context)
      let meaning: String =
        reply.result == .undecided
        ? "No network is preferred. Press \"Prefer\" at this one."
        : reply.meaning(isOnlyHome: context.settings.homes.count < 2)
      return "\(reply.came) \(meaning)"
    } catch let failure as CommandFailure where failure == JoinNetwork.mistyped {
      throw PageRefusal(
        "\(JoinNetwork.mistyped.message).", remedy: "Look at it again.",
        choices: [.init("Try it all the same", anyway: true)])
    } catch CodeReader.Obstacle.several(let agents) {
      let home = context.homes.first?.home
      throw PageRefusal(
        "\(agents.count) border routers show a code. Whose is it?",
        choices: agents.map { .init(home?.shownName($0).printable ?? "\($0)", router: "\($0)") })
    } catch let obstacle as CodeReader.Obstacle { throw CommandFailure(obstacle, in: context.homes.first?.home) }
  }

  private func prefer(_ hex: String, in home: String) throws -> PageOutcome {
    var request = ThreadRequest(.setPreferred)
    request.network = try network(hex)
    request.home = try context.settings.home(named: home)
    let data = try data(request)
    guard data.changed == true else { return "That is the preferred network already." }
    let keys = data.source.map { " Its keys are those of \($0.printable)." } ?? ""
    return data.available == false
      ? "The network is the preferred one now. Its credentials are not here."
      : "The network is the preferred one now.\(keys)"
  }

  /// Not where the dispute has ended meanwhile: the current keys can be others than the person has seen.
  private func keepKeys(in home: String, since: String) throws -> PageOutcome {
    var request = ThreadRequest(.setPreferred)
    request.id = PreferredNetwork.currentID
    request.home = try context.settings.home(named: home)
    guard try context.home(named: home).home.disputedKeys?.description == since else {
      throw PageRefusal("The dispute is another one, or has ended. Look at the page again.")
    }
    _ = try data(request)
    return "The preferred network keeps its keys."
  }

  private func forget(_ hex: String, in home: String) throws -> PageOutcome {
    let network = try network(hex)
    var request = ThreadRequest(.forgetPreferred)
    request.home = try context.settings.home(named: home)
    guard try context.home(named: home).home.preferred?.dataset.network == network else {
      throw PageRefusal("Another network is the preferred one by now.")
    }
    _ = try data(request)
    return "No network is preferred now. Prefer one when you know which."
  }

  private func network(_ hex: String) throws -> ExtendedPANID {
    guard let network = ExtendedPANID(hex: hex) else { throw PageRefusal("An Extended PAN ID has 16 hex digits.") }
    return network
  }

  private func data(_ request: ThreadRequest) throws -> AnswerData {
    let answer = try context.answer(to: request)
    if let failure = answer.error { throw PageRefusal(failure.message, remedy: failure.help) }
    return answer.data ?? AnswerData()
  }
}
