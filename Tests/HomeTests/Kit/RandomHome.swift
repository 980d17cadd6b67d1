import ThreadDataset

@testable import Home

/// Random inputs for a home, from a seed: a few routers, networks, keys and logins, so that they meet often.
struct RandomHome: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  static let users: [ExactName] = ["otbr", "hub", "wifi", "guest"]

  private mutating func user() -> ExactName { pick(Self.users) }

  private mutating func agent() -> BorderAgentID { .number(UInt64.random(in: 1...6, using: &self)) }

  private mutating func network() -> ExtendedPANID { .number(UInt64.random(in: 1...3, using: &self)) }

  private mutating func dataset() -> DatasetSummary {
    .of(
      UInt64.random(in: 1...3, using: &self), key: UInt64.random(in: 1...2, using: &self),
      at: UInt64.random(in: 1...4, using: &self), channel: pick([15, 20]))
  }

  /// Seconds until the next input.
  mutating func pause() -> Int { pick([0, 0, 0, 1, 5, 31, 130, 400, 90_000]) }

  mutating func input(for home: Home, at now: WireTime) -> HomeInput {
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<45: return .message(message(), from: user())
    case 45..<65:
      let since = chance(90) ? now.adding(seconds: -pick([5, 1_000])) : nil
      return .tick(Link(connection: pick([1, 1, 2, nil]), listeningSince: since))
    case 65..<75: return .request(request(), context())
    case 75..<82: return decision(for: home)
    case 82..<86: return .sightings(sightings())
    case 86, 87: return .reading(reading())
    case 88: return chance(20) ? .discoveryEnded : chance(50) ? .started : .sightings(sightings())
    case 89: return .remove(agent())
    case 90:
      return chance(50)
        ? .acceptRouter(agent()) : .acceptCredentials(chance(50) ? network() : nil, by: .commandLine(user: 0))
    case 91 where chance(40): return .renameRouter(agent(), pick([nil, "Hall", "Attic", "Given"]))
    case 91: return .acceptNetwork(network(), isAccepted: chance(60))
    case 92..<95:
      let user = user()
      return .enroll(
        EnrolledClient(
          line: "line", fingerprint: pick(["one", "two"]), trust: chance(20) ? .signed : .broker, at: now, by: "test"),
        user, by: .commandLine(user: 0))
    case 95: return .revoke(user(), forgets: chance(50), by: .commandLine(user: 0))
    case 96: return .clockJumped(by: pick([-86_400_000, -3_000, 5_000, 86_400_000]))
    case 97:
      return chance(50) ? .deliveriesAreDue : .unwatched(since: now.adding(seconds: -pick([60, 7_200, 9_000_000])))
    case 98 where chance(30): return chance(50) ? .confirmAlerts(chance(70)) : .recoveryCode(chance(70))
    case 98:
      let facts = chance(50) ? AlertFacts(.daemon) : nil
      return .condition(pick([.sessionLost, .messagesDropped, .storeDamaged, .testAlert]), facts)
    default:
      let waiting = home.routers.compactMap { $0.adoption?.terms?.message }.first
      return .delivered(message: waiting ?? 1)
    }
  }

  private mutating func message() -> RouterMessage {
    let kind = pick([
      RouterMessage.Kind.announce, .announce, .dataset, .heartbeat, .heartbeat, .offline, .leave, .ssid, .credentials,
      .sightings,
    ])
    let shared = dataset()
    let subject: RouterMessage.Subject =
      switch kind {
      case .credentials: .network(shared.network)
      case .sightings: .agent("store")
      case .ssid where chance(50): .accessPoint("ap")
      default: .router(agent())
      }
    var message = RouterMessage(kind, subject)
    if kind == .credentials {
      message.dataset = shared
      message.isPreferred = chance(30)
      message.borderAgent = chance(50) ? agent() : nil
    }
    if chance(20) { message.order = .number(UInt64.random(in: 1...50, using: &self)) }
    if chance(20) {
      message.signature = .init(issuer: Hash128(low: 1), number: UInt64.random(in: 1...500, using: &self))
    }
    if chance(70), kind == .announce || kind == .dataset { message.dataset = dataset() }
    if chance(30) { message.name = pick(["Hall", "Attic"]) }
    if chance(30) { message.accessPoint = "ap" }
    if chance(20) { message.extendedAddress = pick([1, 2]) }
    if kind == .ssid { message.ssid = pick(["home", "guest"]) }
    if kind == .offline { message.offlineReason = pick([nil, .stopped, .unreachable, .noNetwork]) }
    if chance(40) {
      message.thread = ThreadReport(
        state: pick([nil, .leader, .router, .detached, .disabled]), network: chance(50) ? network() : nil)
    }
    if chance(10) { message.adoptionFailure = pick([.pendingChange, .refused]) }
    if chance(10), let whole = message.dataset {
      let partial = DatasetSummary.partial(
        whole.network.number, key: pick([1, 2]), at: pick([nil, 1, 4]), channel: pick([15, 20]))
      (message.dataset, message.lacks) = (partial, partial.lacks)
    }
    return message
  }

  private mutating func context() -> RequestContext {
    var requester = chance(60) ? Requester(.login(user()), team: user()) : Requester(.systemUser(1_000), team: user())
    requester.fingerprint = chance(60) ? "one" : nil
    var context = RequestContext(
      requester, reply: chance(50) ? .caller : .topic("t", correlation: [1], transaction: "1"), actor: "somebody")
    context.isAdministrator = chance(30)
    context.isApprover = chance(20)
    context.isSigned = chance(50)
    return context
  }

  private mutating func request() -> HomeRequest {
    switch Int.random(in: 0..<13, using: &self) {
    case 0, 1: .storeCredentials(agent(), dataset())
    case 2: .deleteCredentials(agent())
    case 3: .getCredentials(agent())
    case 4: .listCredentials(onlyActive: chance(50))
    case 5: .setPreferred(.dataset(dataset()))
    case 6: .setPreferred(.network(network(), router: chance(30) ? agent() : nil))
    case 7: .setPreferred(.name("net-2"))
    case 8: .forgetPreferred
    case 9: .forgetNetwork(.network(network()))
    case 10: .getPreferred
    case 11: .getNetwork(network())
    default: .nearbyNetworks
    }
  }

  private mutating func decision(for home: Home) -> HomeInput {
    let question = home.questions.randomElement(using: &self)?.id ?? ConsentID(7)
    let what: ConsentDecision.What =
      switch Int.random(in: 0..<6, using: &self) {
      case 0, 1: .approve(question, chance(50) ? .once : .always)
      case 2: .deny(question)
      case 3: .revoke(grant: home.grants.randomElement(using: &self)?.id ?? ConsentID(8))
      default: .askAgain(agent())
      }
    let approver: ConsentApprover = chance(70) ? .commandLine(user: 0) : .login(user(), team: user())
    var decision = ConsentDecision(what, by: approver)
    if chance(20) { decision.extent = chance(50) ? .adoptions : .all }
    return .decision(decision)
  }

  private mutating func reading() -> ReadingResult {
    let dataset = dataset()
    var record = Advertisement.of(UInt64.random(in: 1...6, using: &self), on: dataset.network.number)
    if chance(20) { record.extendedAddress = pick([1, 2]) }
    let pskc = Hash128(high: 2, low: UInt64.random(in: 1...2, using: &self))
    var active = dataset
    if chance(80) { active.parameters?.pskc = pskc }
    let pending = chance(30) ? ReadingResult.Pending(self.dataset(), delay: pick([0, 58_000, 58_900, 4_000_000])) : nil
    let outcome: ReadingResult.Outcome =
      chance(60) ? .datasets(active, pending: pending) : chance(70) ? .refused : .failed(pick([.noAnswer, .invalid]))
    return ReadingResult(record, of: dataset.network, pskc: pskc, outcome)
  }

  private mutating func sightings() -> Sightings {
    let list = (0..<Int.random(in: 0...4, using: &self)).compactMap { _ in
      var found = Advertisement(chance(20) ? [agent(), agent()] : [agent()])
      found?.network = chance(90) ? network() : nil
      found?.networkName = "seen"
      found?.partition = pick([nil, 1, 2])
      found?.activeSeconds = pick([nil, 1, 3])
      found?.isThreadActive = chance(90)
      if chance(20) { found?.extendedAddress = pick([1, 2]) }
      if chance(30) { found?.reporter = user() }
      return found
    }
    var sightings = Sightings(list, isComplete: chance(80))
    sightings.reporters = Set(list.compactMap(\.reporter))
    sightings.awaited = pick([nil, [], [user()]])
    return sightings
  }
}
