import Broker
import Home
import Logging
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Publishes for one OpenThread Border Router: looks at it, publishes what changes, and gives it what its daemon sends.
///
/// ```
///  router's REST ◀── OTBRClient ──▶ RouterReader ──▶ RouterMachine ──▶ AgentLoop ──▶ broker
///        ▲                                                                │
///        └── AdoptionMachine ◀── AdoptionOrder (signed by the daemon) ◀───┘
/// ```
struct RouterSource: AgentSource {
  /// How long a router is put back for after a stop: less than what systemd waits for.
  private static let stopLimit = Duration.seconds(20)
  /// Between two looks at a router that is on its way to another network.
  private static let adoptionPoll = Duration.seconds(1)

  private let configuration: RouterConfiguration
  private let agent: AgentLoop
  private let client: OTBRClient
  private var reader = RouterReader()
  private var machine: RouterMachine
  private var adoption = AdoptionMachine()
  private var orders = OrderBook()
  /// The order whose wait for the end of another change was logged.
  private var heldOrder: String?
  /// It has been connected to report a trouble, without the id of a router.
  private var isConnecting = false
  /// Another agent of this process publishes for the same router.
  private var standsStill = false
  /// It was logged that an earlier run has left Thread disabled.
  private var hasLoggedDeath = false
  private var hasLoggedRefusal = false
  /// The clock is behind the numbers that threadkeeper knows.
  private var loggedOutOfOrder = false

  /// It connects once the router's id is known, which its last will names, or once it has a trouble to report.
  init(_ configuration: RouterConfiguration, _ agent: AgentLoop) {
    (self.configuration, self.agent) = (configuration, agent)
    client = configuration.client(until: agent.stop)
    machine = configuration.machine
  }

  var standing: AgentStanding? { machine.standing(at: now) }

  var pause: Duration { adoption.isBusy ? Self.adoptionPoll : configuration.poll }

  /// A router that is being put back when the agent stops is put back. One that has its new dataset, with Thread
  /// enabled, is left so.
  mutating func finish() {
    let limit = now + Self.stopLimit
    while adoption.isChanging, now < limit {
      look()
      if adoption.isChanging { WakeSignal.wait(for: [], within: Self.adoptionPoll) }
    }
    if adoption.isChanging {
      let isNoted = orders.current.map { configuration.notes?.contains($0.agent) == true } ?? false
      agent.logger.warning(
        """
        the agent stops before the router is as it was\(isNoted ? ": its next run enables Thread" : ""); by hand: \
        \(AdoptionMachine.byHand)
        """)
    }
    decide(.stopping)
  }

  private var now: Duration { agent.now }

  // MARK: The router

  mutating func look() {
    // While the router is changed it is looked at also when the agent stops.
    let isFinished = adoption.isChanging
    guard let found = try? client.look(&reader, isFinished: isFinished), isOwn(found) else { return }
    decide(.looked(found))
    if !isConnecting, machine.identity == nil, standing != nil {
      isConnecting = true
      agent.connect(configuration.connection(for: nil))
    }
    move(.looked(found))
    if case .report(let report) = found, !agent.stop.isRaised, !enableAfterDeath(report) { adopt(report) }
  }

  /// Whether another agent of this process publishes for this router.
  private mutating func isOwn(_ look: RouterLook) -> Bool {
    guard case .report(let report) = look, !adoption.isBusy else { return true }
    let (census, address) = (configuration.census, configuration.address)
    let owner = census.owner(of: report.agent, seenAt: address)
    machine.elsewhere = census.seen(besides: address)
    defer { standsStill = owner != address }
    if owner != address, !standsStill {
      agent.logger.warning("\(report.agent): it is published from \(owner); nothing is from here")
    }
    return owner == address
  }

  // MARK: The broker

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected: decide(.connected)
    case .disconnected: decide(.disconnected)
    case .refused: break
    case .answered(let outcome):
      guard let code = outcome.code else { return }
      logRejection(outcome, code)
      decide(.rejected(outcome.kind, code: code, field: outcome.field))
    case .message(let message): if configuration.adopts, message.topic == configuration.orderTopic { take(message) }
    }
  }

  private mutating func logRejection(_ outcome: EventOutcome, _ code: String) {
    guard code != EventOutcome.refused else {
      let topic = configuration.login.writer.topic(outcome.kind)
      return agent.logger.warning("the broker refuses \(topic): \(outcome.message)")
    }
    let hasLogged = loggedOutOfOrder
    loggedOutOfOrder = code == Rejection.Code.outOfOrder.rawValue
    guard loggedOutOfOrder else {
      return agent.logger.warning("threadkeeper has rejected \(outcome.kind.word) (\(code)): \(outcome.message)")
    }
    // Until the clock has caught up every event is rejected so.
    guard !hasLogged else { return }
    agent.logger.warning(
      """
      threadkeeper has seen later numbers of this router: the clock was set back, or another agent with this login \
      and key has a later clock. Its events are rejected until the clock is past the time of the latest one
      """)
  }

  // MARK: Effects

  private mutating func decide(_ event: RouterMachine.Event) {
    for effect in machine.handle(event, at: now) {
      switch effect {
      case .connect(let router): agent.connect(configuration.connection(for: router))
      case .log(let note): agent.log(note)
      case .publish(let event): agent.publish(InboundEvent(event, configuration.description))
      }
    }
  }
}

extension RouterSource {
  /// Seconds before an order's end at which it is given up, so that the report arrives before threadkeeper stops
  /// waiting.
  private static let margin: Int64 = 10

  private mutating func take(_ message: IncomingMessage) {
    guard let keys = configuration.login.keys else { return }
    let order: AdoptionOrder
    do throws(AdoptionOrder.Refusal) { order = try AdoptionOrder(message, keys: keys, now: agent.time) } catch {
      agent.logger.warning("a message on \(message.topic) is not acted upon: \(error)")
      return
    }
    // One login may publish for several routers.
    guard order.agent == machine.identity else { return }
    switch orders.take(order, time: agent.time, at: now) {
    case .isKnown: break
    case .isDone: decide(.reportWanted(nil))
    case .refused(let why): agent.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .waits:
      machine.isAdopting = true
      if orders.current == nil {
        look()
      } else {
        agent.logger.info("\(order.agent): an order waits until the one before it has ended")
      }
    }
  }

  /// Enables Thread where an earlier run of this agent has died before it did.
  ///
  /// - Returns: whether that was to be done: the next look shows what has come of it, and nothing is begun before.
  private mutating func enableAfterDeath(_ report: RouterReport) -> Bool {
    guard !adoption.isBusy, let notes = configuration.notes, notes.contains(report.agent) else { return false }
    guard let request = AdoptionRestoration.step(afterDeath: report) else {
      notes.remove(report.agent)
      return false
    }
    // An order sets a dataset, and enables Thread itself.
    guard orders.next == nil else { return false }
    if !hasLoggedDeath {
      hasLoggedDeath = true
      agent.logger.warning("\(report.agent): an adoption was not finished, and Thread is disabled; it is enabled")
    }
    let status = (try? client.perform(request, isFinished: true))?.status
    if status != 200, !hasLoggedRefusal {
      hasLoggedRefusal = true
      agent.logger.warning(
        """
        \(report.agent): Thread is not enabled (\(status.map(String.init) ?? "no answer")); by hand: \
        \(AdoptionMachine.byHand)
        """)
    }
    return true
  }

  /// While Thread is disabled for a moment, that is on the disk.
  private func note(_ router: BorderAgentID) {
    let why = configuration.notes.map { $0.add(router) } ?? "there is no state directory"
    guard let why else { return }
    agent.logger.warning(
      "\(router): if the agent dies now, Thread stays disabled, because that can't be written down: \(why)")
  }

  /// Begins what was ordered, with a router that answers.
  private mutating func adopt(_ report: RouterReport) {
    guard !adoption.isBusy else { return }
    if let order = orders.next, order.agent == report.agent,
      case .refused(let why) = AdoptionPlan(order.dataset, for: report)
    {
      return hold(order, why)
    }
    switch orders.next(time: agent.time, at: now) {
    case .nothing: break
    case .dropped(let order, let why):
      machine.isAdopting = false
      agent.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .order(let order) where order.agent != report.agent:
      orders.end(isDone: false)
      machine.isAdopting = orders.next != nil
      agent.logger.warning("\(order.agent): an order is not acted upon: it is for another router")
    case .order(let order): move(.ordered(order, report))
    }
  }

  /// An order that a person has agreed to waits for the end of what is in its way, for as long as it lives.
  private mutating func hold(_ order: AdoptionOrder, _ why: String) {
    guard order.expiresAt - agent.time <= Self.margin else {
      if heldOrder != order.id { agent.logger.warning("\(order.agent): an order waits: \(why)") }
      heldOrder = order.id
      return
    }
    orders.dropNext()
    agent.logger.warning("\(order.agent): an order is not acted upon: it has waited for too long: \(why)")
    report(.pendingChange)
  }

  /// Where the router is, after an order.
  private mutating func report(_ failure: AdoptionState?) {
    heldOrder = nil
    machine.isAdopting = orders.next != nil
    decide(.reportWanted(failure))
  }

  private mutating func move(_ event: AdoptionMachine.Event) {
    for effect in adoption.handle(event, at: now) {
      switch effect {
      case .log(let note): agent.log(note)
      case .look: look()
      case .request(let request):
        let router = orders.current?.agent
        if let router, request == .setThread(enabled: false), adoption.enablesAgain { note(router) }
        // What has begun to change the router is finished, also when the agent stops.
        let answer = try? client.perform(request, isFinished: true)
        if let router, request == .setThread(enabled: true), answer?.status == 200 {
          configuration.notes?.remove(router)
        }
        move(.answered(answer?.status))
      case .finished(let failure):
        if let router = orders.current?.agent, !adoption.isStranded { configuration.notes?.remove(router) }
        orders.end(isDone: failure == nil)
        report(failure)
      }
    }
  }
}

/// What one router's agent works with.
package struct RouterConfiguration: AgentConfiguration {
  package var login: AgentLogin
  let address: HTTPAddress
  /// Whose programs may listen at the address, where that is on this machine: root's, and those of the router's user.
  package var users: Set<UInt32> = [0]
  /// For each request to the router.
  package var requestTimeout = Duration.seconds(5)
  /// Between two looks. The router is asked on loopback, and what changes is published at once.
  package var poll = Duration.seconds(5)
  package var rhythm = RouterMachine.Rhythm()
  package var description = RouterDescription()
  /// Whether it takes datasets from the daemon; needs keys.
  package var adopts = false
  /// Whether a router without a network has left, and what is stored of it goes. Not of one that takes datasets.
  package var leaves = false
  /// What the next run has to know; nil: none can be kept.
  package var notes: AdoptionNotes?
  /// Shared by all agents of the process.
  package var census = RouterCensus()

  package init(_ login: AgentLogin, address: HTTPAddress) { (self.login, self.address) = (login, address) }

  package var label: (key: String, value: String) { ("otbr", "\(address)") }

  /// That of some router.
  package var connection: MosquittoConfiguration {
    connection(for: BorderAgentID(bytes: [UInt8](repeating: 0, count: 8)))
  }

  package func source(for agent: AgentLoop) -> any AgentSource { RouterSource(self, agent) }

  package func preview() throws -> [String] {
    var reader = RouterReader()
    var machine = machine
    let look = try client(until: nil).look(&reader)
    var effects = machine.handle(.looked(look), at: .zero)
    effects += machine.handle(.connected, at: .zero)
    let lines: [String] = effects.compactMap { effect in
      switch effect {
      case .publish(let event): login.writer.summary(of: InboundEvent(event, description))
      case .log(let note) where note.level == .warning: "\(address): \(note.text)"
      default: nil
      }
    }
    return lines.isEmpty ? ["\(address): nothing to announce"] : lines
  }

  /// - Parameter signal: raised when the agent stops.
  func client(until signal: WakeSignal?) -> OTBRClient {
    OTBRClient(address, of: users, timeout: requestTimeout, signal: signal)
  }

  var machine: RouterMachine { RouterMachine(rhythm, whenEmpty: adopts ? .announce : leaves ? .leave : .publish) }

  var orderTopic: String { OutboundTopic(base: login.base).setDataset(of: login.user) }

  /// The connection of one router: one for each, because a connection has one last will.
  ///
  /// - Parameter agent: nil: the router has not answered yet.
  func connection(for agent: BorderAgentID?) -> MosquittoConfiguration {
    let name = agent?.description ?? "\(address)"
    var result = login.connection("otbr \(name)", answers: agent?.description ?? "otbr")
    guard let agent else { return result }
    if adopts {
      // What a person has agreed to waits on the broker for as long as its envelope lives.
      result.subscriptions.append(.init(orderTopic, isRequired: false))
      result.cleanStart = false
      result.sessionExpiry = 300
    }
    result.lastWill = login.writer.lastWill(of: InboundEvent(RouterEvent(.offline, of: agent)))
    return result
  }
}
