import Synchronization
import Testing
import ThreadDataset

@testable import Home

/// A home with its rules and a clock that a test turns. Nothing in it waits.
struct HomeScene {
  var home: Home
  var rules: HomeRules
  var now = WireTime(milliseconds: 1_700_000_000_000)
  /// What followed from the last input.
  var output = HomeOutput()
  /// The one that publishes, as ticks say it.
  var connection: Int64? = 1
  /// Seconds for which everything that routers publish has been received; nil while it is not.
  var listening: Int? = 3_600
  /// All that routers were ever sent.
  private(set) var sent: [AdoptionOrder] = []
  /// By which consents something was given to routers.
  private(set) var givenBy: [ConsentID] = []

  init(_ change: (inout HomeRules) -> Void = { _ in }) {
    let last = Mutex<UInt64>(0)
    rules = HomeRules(random: {
      last.withLock {
        $0 += 1
        return $0
      }
    })
    (rules.settings.routersPerTeam, rules.settings.routersPerHome) = (10_000, 10_000)
    change(&rules)
    home = Home(rules: rules)
  }

  @discardableResult mutating func handle(_ input: HomeInput) -> HomeOutput {
    output = home.handle(input, at: now, rules: rules)
    return output
  }

  /// Another process continues with what was written down.
  mutating func restart() {
    var read = Home(rules: rules)
    for key in home.takeChanges().records {
      guard let record = home.record(key) else { continue }
      #expect(throws: Never.self) { _ = try read.load(record) }
    }
    read.finishLoading()
    home = read
    handle(.started)
  }

  // MARK: Time

  mutating func wait(seconds: Int) { now = now.adding(seconds: seconds) }

  /// A second passes.
  @discardableResult mutating func tick() -> HomeOutput {
    wait(seconds: 1)
    listening = listening.map { $0 + 1 }
    let since = listening.map { now.adding(seconds: -$0) }
    handle(.tick(Link(connection: connection, listeningSince: since)))
    sent += output.orders
    for case .given(_, _, by: let consent) in output.audit { givenBy.append(consent) }
    return output
  }

  /// Time passes, and a tick comes at its end.
  @discardableResult mutating func pass(seconds: Int) -> HomeOutput {
    wait(seconds: seconds - 1)
    return tick()
  }

  /// Second by second.
  mutating func live(_ seconds: Int) { for _ in 0..<seconds { tick() } }

  /// When something is due by the clock, in seconds from now; on a connection that listens for so long.
  func due(listening seconds: Int? = 3_600) -> Double? {
    let link = Link(connection: 1, listeningSince: seconds.map { now.adding(seconds: -$0) })
    return home.nextDue(link, rules: rules).map { Double($0.milliseconds - now.milliseconds) / 1_000 }
  }

  // MARK: Routers

  /// Number n is the border agent id of n.
  @discardableResult mutating func announce(
    _ agent: UInt64, _ dataset: DatasetSummary? = nil, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    publish(.announce, agent, from: user) {
      $0.dataset = dataset
      change(&$0)
    }
  }

  mutating func announce(
    _ agents: ClosedRange<UInt64>, _ dataset: DatasetSummary? = nil, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) { for agent in agents { announce(agent, dataset, from: user, change) } }

  @discardableResult mutating func publish(
    _ kind: RouterMessage.Kind, _ agent: UInt64, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(kind, .router(.number(agent)))
    change(&message)
    return handle(.message(message, from: user))
  }

  /// A login that is no border router has credentials.
  @discardableResult mutating func share(
    _ dataset: DatasetSummary, isPreferred: Bool = false, from user: ExactName = "ha",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(.credentials, .network(dataset.network))
    message.dataset = dataset
    message.isPreferred = isPreferred
    message.name = "Home Assistant"
    change(&message)
    return handle(.message(message, from: user))
  }

  func router(_ agent: UInt64) -> Router? { home.routers[.number(agent)] }

  func verdict(of agent: UInt64) -> PreferredCheck? { router(agent).map(home.verdict(of:)) }

  var preferred: DatasetSummary? { home.preferred?.dataset }

  // MARK: Alerts

  /// Those that fire, by name and router.
  var firing: Set<AlertKey> { Set(home.alerts.filter { $0.value.phase == .firing }.map(\.key)) }

  /// The alerts that fire, but for those about how datasets were sent.
  var alarms: Set<AlertKey> { firing.filter { $0.name != .plaintextCredentials } }

  /// What the alert that the preferred network has changed says.
  var preferredChange: PreferredChange? {
    guard case .preferredChanged(let change, _) = alert(.preferredNetworkChanged)?.facts.message else { return nil }
    return change
  }

  func alert(_ name: AlertName, _ agent: UInt64? = nil) -> Alert? {
    home.alerts[AlertKey(name, agent.map { .router(.number($0)) } ?? .home)]
  }

  // MARK: Discovery

  /// What is on the local network now, all of it.
  @discardableResult mutating func see(_ list: Advertisement..., isComplete: Bool = true) -> HomeOutput {
    handle(.sightings(Sightings(list, isComplete: isComplete)))
  }

  /// Router n was read by the PSKc of its network.
  ///
  /// - Parameter key: whose PSKc that is.
  @discardableResult mutating func read(
    _ agent: UInt64, on network: UInt64 = 1, key: UInt64 = 1, _ outcome: ReadingResult.Outcome
  ) -> HomeOutput {
    handle(.reading(.init(.of(agent, on: network), of: .number(network), pskc: Hash128(high: 2, low: key), outcome)))
  }

  @discardableResult mutating func read(_ agent: UInt64, _ dataset: DatasetSummary) -> HomeOutput {
    read(agent, on: dataset.network.number, .datasets(dataset, pending: nil))
  }

  /// By the code that it shows.
  mutating func join(_ agent: UInt64, on network: UInt64, _ dataset: DatasetSummary) -> JoinedNetwork? {
    guard let result = ReadingResult(.of(agent, on: network), byCode: dataset, pending: nil),
      case .joined(let joined) = handle(.reading(result)).answer
    else { return nil }
    return joined
  }

  /// Why records are not listed.
  var refusals: [RefusedSighting.Reason] { home.refusedSightings.map(\.reason) }

  var looks: [Int] { [home.listedSightings, home.refusedSightings.count] }

  // MARK: Requests

  @discardableResult mutating func ask(
    _ request: HomeRequest, by requester: Requester = .login("phone"),
    _ change: (inout RequestContext) -> Void = { _ in }
  ) -> HomeAnswer? {
    var context = RequestContext(requester, reply: .caller, actor: "somebody")
    context.isSigned = true
    change(&context)
    return handle(.request(request, context)).answer
  }

  /// As the daemon's own user.
  @discardableResult mutating func command(_ request: HomeRequest) -> HomeAnswer? {
    ask(request, by: Requester(.systemUser(0), team: "root")) { $0.isAdministrator = true }
  }

  @discardableResult mutating func prefer(_ dataset: DatasetSummary) -> HomeAnswer? {
    command(.setPreferred(.dataset(dataset)))
  }

  @discardableResult mutating func prefer(network: ExtendedPANID) -> HomeAnswer? {
    command(.setPreferred(.network(network, router: nil)))
  }

  /// What is shared of the preferred network, or of another one.
  @discardableResult mutating func accept(
    _ network: ExtendedPANID? = nil, by approver: ConsentApprover = .commandLine(user: 0)
  ) -> HomeAnswer? { handle(.acceptCredentials(network, by: approver)).answer }

  /// Questions that a person is asked now.
  var waiting: [ConsentQuestion] { home.questions.filter { !$0.isDenied && !$0.isOver(at: now) } }

  @discardableResult mutating func decide(
    _ what: ConsentDecision.What, by approver: ConsentApprover = .commandLine(user: 0)
  ) -> HomeAnswer? { handle(.decision(ConsentDecision(what, by: approver))).answer }

  /// The first question that waits.
  @discardableResult mutating func approve(_ scope: ConsentScope = .once) -> HomeAnswer? {
    waiting.first.flatMap { decide(.approve($0.id, scope)) }
  }

  @discardableResult mutating func deny() -> HomeAnswer? { waiting.first.flatMap { decide(.deny($0.id)) } }

  /// What somebody who waits is given once a person has agreed to it; nil where nobody is asked.
  mutating func agreed(_ request: HomeRequest, by requester: Requester = .program(of: "phone")) -> HomeAnswer? {
    rules.isAwaited = { _ in true }
    guard case .waiting? = ask(request, by: requester) else { return nil }
    approve()
    return output.settled.first?.answer
  }

  @discardableResult mutating func revoke(_ user: ExactName, forgets: Bool = false) -> HomeAnswer? {
    handle(.revoke(user, forgets: forgets, by: .commandLine(user: 0))).answer
  }

  mutating func enroll(_ user: ExactName, fingerprint: String? = nil, trust: EnrolledClient.Trust = .broker) {
    handle(
      .enroll(
        EnrolledClient(
          line: "line of \(user.text)", fingerprint: fingerprint ?? "key of \(user.text)", trust: trust, at: now,
          by: "test"), user, by: .commandLine(user: 7)))
  }
}

extension Requester {
  /// A login of the broker with an enrolled key.
  static func login(_ name: ExactName, team: ExactName? = nil, key: String? = nil) -> Requester {
    var requester = Requester(.login(name), team: team ?? name)
    requester.fingerprint = key ?? "key of \(name.text)"
    return requester
  }

  /// A program of this machine.
  static func program(of team: ExactName) -> Requester { Requester(.systemUser(1_000), team: team) }
}

extension HomeOutput {
  /// What has become of alerts, by name.
  var alerts: [AlertName: Alert.News] {
    events.reduce(into: [:]) {
      if case .alert(let key, _, let news, _) = $1, key.name != .plaintextCredentials { $0[key.name] = news }
    }
  }

  /// What happened to routers.
  var routerEvents: [RouterEvent] { events.compactMap { if case .router(let event) = $0 { event } else { nil } } }

  /// All of it.
  var types: RouterEvent.Types { routerEvents.reduce(into: []) { $0.formUnion($1.types) } }

  func types(of agent: BorderAgentID) -> RouterEvent.Types {
    routerEvents.reduce(into: []) { if $1.router == agent { $0.formUnion($1.types) } }
  }
}

extension BorderAgentID: ExpressibleByIntegerLiteral {
  static func number(_ value: UInt64) -> BorderAgentID { BorderAgentID(high: value, low: 0) }

  /// As `number`.
  public init(integerLiteral value: UInt64) { self = .number(value) }
}

extension ExtendedPANID: ExpressibleByIntegerLiteral {
  static func number(_ value: UInt64) -> ExtendedPANID { ExtendedPANID(number: value) }

  /// As `number`.
  public init(integerLiteral value: UInt64) { self = .number(value) }
}

extension DatasetSummary {
  /// A dataset of a network: equal numbers stand for equal values.
  static func of(
    _ network: UInt64, key: UInt64 = 1, at seconds: UInt64 = 1, channel: UInt32 = 15, name: String? = nil,
    isWellKnown: Bool = false, other: UInt64 = 0
  ) -> DatasetSummary {
    let name = name ?? "net-\(network)"
    guard let timestamp = Timestamp(seconds: seconds) else { preconditionFailure("48 bits") }
    var hasher = Hasher()
    for value in [network, key, seconds, UInt64(channel), other] { hasher.combine(value) }
    hasher.combine(name)
    return DatasetSummary(
      network: .number(network), name: name,
      parameters: Parameters(
        whole: Hash128(high: UInt64(bitPattern: Int64(hasher.finalize())), low: network),
        networkKey: Hash128(high: 1, low: key), pskc: Hash128(high: 2, low: key), activeTimestamp: timestamp,
        channel: channel, panID: 0x1234, meshLocalPrefix: 0xFD << 56, securityPolicy: 0x1_02A0_F7F8, domainName: nil,
        isKeyWellKnown: isWellKnown))
  }

  /// With what a Matter device needs, and a name.
  ///
  /// - Parameter seconds: nil: without an Active Timestamp.
  static func partial(_ network: UInt64, key: UInt64 = 1, at seconds: UInt64? = nil, channel: UInt32 = 15)
    -> DatasetSummary
  {
    var one = DatasetSummary.of(network, key: key, at: seconds ?? 0, channel: channel, other: 1)
    if seconds == nil { one.parameters?.activeTimestamp = nil }
    one.parameters?.hasChannelMask = false
    one.parameters?.meshLocalPrefix = nil
    one.parameters?.pskc = nil
    one.parameters?.securityPolicy = nil
    return one
  }
}

extension AlertKey {
  static func of(_ name: AlertName, _ agent: UInt64) -> AlertKey { AlertKey(name, .router(.number(agent))) }

  static func of(_ name: AlertName) -> AlertKey { AlertKey(name) }

  static func split(_ network: UInt64) -> AlertKey { AlertKey(.networkSplit, .network(.number(network))) }
}

extension Advertisement {
  static func of(
    _ agents: UInt64..., on network: UInt64? = 1, at seconds: UInt64? = 1, partition: UInt32? = 7,
    _ change: (inout Advertisement) -> Void = { _ in }
  ) -> Advertisement {
    guard var one = Advertisement(agents.map(BorderAgentID.number)) else { preconditionFailure("an id") }
    one.name = "seen \(agents[0])"
    one.vendor = "Acme"
    one.network = network.map(ExtendedPANID.number)
    one.networkName = network.map { "net-\($0)" }
    one.activeSeconds = seconds
    one.partition = partition
    one.threadVersion = "1.4.0"
    change(&one)
    return one
  }
}
