// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import Logging
import ThreadDataset
import ThreadkeeperSupport

/// Publishes for one OpenThread Border Router: looks at it, publishes what changes, and gives it what its daemon sends.
///
/// ```
///  router's REST ◀── OTBRClient ──▶ RouterReader ──▶ RouterMachine ──▶ EventWriter ──▶ broker
///        ▲                                                                               │
///        └────────── AdoptionMachine ◀── AdoptionOrder (opened, signed by the daemon) ◀──┘
/// ```
struct RouterTask: AgentTask {
  /// How long a router is put back for after a stop: less than what systemd waits for.
  private static let stopLimit = Duration.seconds(20)
  /// Between two looks at a router that is on its way to another network.
  private static let adoptionPoll = Duration.seconds(1)

  let configuration: RouterConfiguration
  let context: AgentContext
  let client: OTBRClient
  private var reader = RouterReader()
  var machine: RouterMachine
  private var writer: EventWriter
  var adoption = AdoptionMachine()
  var orders = OrderBook()
  /// The order whose wait for the end of another change was logged.
  var heldOrder: String?
  /// It has been connected to report a trouble, without the id of a router.
  private var isConnecting = false
  /// Another agent of this process publishes for the same router.
  private var standsStill = false
  /// It was logged that an earlier run has left Thread disabled.
  private var hasLoggedDeath = false
  private var hasLoggedRefusal = false
  /// The clock is behind the numbers that threadkeeper knows.
  private var loggedOutOfOrder = false

  init(_ configuration: RouterConfiguration, _ context: AgentContext) {
    self.configuration = configuration
    self.context = context
    client = OTBRClient(
      configuration.address, of: configuration.users, timeout: configuration.requestTimeout,
      signal: context.stop)
    machine = RouterMachine(configuration.rhythm, whenEmpty: configuration.whenEmpty)
    writer = configuration.writer
  }

  var standing: AgentStanding? { machine.standing(at: now) }

  var pause: Duration { adoption.isBusy ? Self.adoptionPoll : configuration.poll }

  /// It connects once the router's id is known, which its last will names, or once it has a trouble to report.
  func start() {}

  /// A router that is being put back when the agent stops is put back. One that has its new dataset, with Thread
  /// enabled, is left so.
  mutating func finish() -> [Publication] {
    let limit = now + Self.stopLimit
    while adoption.isChanging, now < limit {
      look()
      if adoption.isChanging { WakeSignal.wait(for: [], within: Self.adoptionPoll) }
    }
    if adoption.isChanging {
      let isNoted =
        orders.current.map { configuration.notes?.contains($0.agent) == true } ?? false
      context.logger.warning(
        """
        the agent stops before the router is as it was\(isNoted ? ": its next run enables Thread" : ""); by hand: \
        \(AdoptionMachine.byHand)
        """)
    }
    return machine.handle(.stopping, at: now).compactMap { publication(of: $0) }
  }

  var now: Duration { context.now }

  // MARK: The router

  mutating func look() {
    // While the router is changed it is looked at also when the agent stops.
    let isFinished = adoption.isChanging
    guard let found = try? client.look(&reader, isFinished: isFinished), isOwn(found) else {
      return
    }
    perform(machine.handle(.looked(found), at: now))
    if !isConnecting, machine.identity == nil, standing != nil {
      isConnecting = true
      context.connect(configuration.connection(for: nil))
    }
    perform(adoption.handle(.looked(found), at: now))
    if case .report(let report) = found, !context.stop.isRaised, !enableAfterDeath(report) {
      adopt(report)
    }
  }

  /// Whether another agent of this process publishes for this router.
  private mutating func isOwn(_ look: RouterLook) -> Bool {
    guard case .report(let report) = look, !adoption.isBusy else { return true }
    let (census, address) = (configuration.census, configuration.address)
    let owner = census.owner(of: report.agent, seenAt: address)
    machine.elsewhere = census.seen(besides: address)
    guard owner != address else {
      standsStill = false
      return true
    }
    if !standsStill {
      standsStill = true
      context.logger.warning(
        "\(report.agent): it is published from \(owner); nothing is from here")
    }
    return false
  }

  // MARK: The broker

  mutating func handle(_ news: AgentNews) {
    switch news {
    case .connected: perform(machine.handle(.connected, at: now))
    case .disconnected: perform(machine.handle(.disconnected, at: now))
    case .refused(let publication, let message):
      context.logger.warning("the broker refuses \(publication.topic): \(message)")
      let kind = publication.topic.split(separator: "/").last.flatMap {
        InboundEventKind(rawValue: String($0))
      }
      if let kind {
        perform(machine.handle(.rejected(kind, code: "refused", field: nil), at: now))
      }
    case .answered(let outcome):
      guard let code = outcome.code else { return }
      logRejection(outcome, code)
      perform(machine.handle(.rejected(outcome.kind, code: code, field: outcome.field), at: now))
    case .message(let message):
      if configuration.adopts, message.topic == configuration.orderTopic { take(message) }
    }
  }

  private mutating func logRejection(_ outcome: EventOutcome, _ code: String) {
    guard code == Rejection.Code.outOfOrder.rawValue else {
      loggedOutOfOrder = false
      context.logger.warning(
        "threadkeeper has rejected \(outcome.kind.rawValue) (\(code)): \(outcome.message ?? "")")
      return
    }
    // Until the clock has caught up every event is rejected so.
    guard !loggedOutOfOrder else { return }
    loggedOutOfOrder = true
    context.logger.warning(
      """
      threadkeeper has seen later numbers of this router: the clock was set back, or another agent with this login \
      and key has a later clock. Its events are rejected until the clock is past the time of the latest one
      """)
  }

  // MARK: Effects

  mutating func perform(_ effects: [RouterMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .connect(let agent): context.connect(configuration.connection(for: agent))
      case .log(let note): context.log(note)
      case .publish: if let event = publication(of: effect) { context.publish(event) }
      }
    }
  }

  private mutating func publication(of effect: RouterMachine.Effect) -> Publication? {
    guard case .publish(let event) = effect else { return nil }
    return context.event(event.kind) { () throws(SealingError) in
      try writer.publication(of: event, now: nanosecondsSince1970())
    }
  }
}

extension RouterTask {
  private var time: Int64 { Int64(nanosecondsSince1970() / 1_000_000_000) }

  /// Seconds before an order's end at which it is given up, so that the report arrives before threadkeeper stops
  /// waiting.
  private static let margin: Int64 = 10

  mutating func take(_ message: IncomingMessage) {
    guard let keys = configuration.login.keys else { return }
    let order: AdoptionOrder
    do throws(AdoptionOrder.Refusal) {
      order = try AdoptionOrder(message, keys: keys, now: time)
    } catch {
      context.logger.warning("a message on \(message.topic) is not acted upon: \(error)")
      return
    }
    // One login may publish for several routers.
    guard order.agent == machine.identity else { return }
    switch orders.take(order, time: time, at: now) {
    case .isKnown: break
    case .isDone: perform(machine.handle(.reportWanted(nil), at: now))
    case .refused(let why):
      context.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .waits:
      machine.isAdopting = true
      if orders.current == nil {
        look()
      } else {
        context.logger.info("\(order.agent): an order waits until the one before it has ended")
      }
    }
  }

  /// Enables Thread where an earlier run of this agent has died before it did.
  ///
  /// - Returns: whether that was to be done: the next look shows what has come of it, and nothing is begun before.
  mutating func enableAfterDeath(_ report: RouterReport) -> Bool {
    guard !adoption.isBusy, let notes = configuration.notes, notes.contains(report.agent) else {
      return false
    }
    guard let request = AdoptionRestoration.step(afterDeath: report) else {
      notes.remove(report.agent)
      return false
    }
    // An order sets a dataset, and enables Thread itself.
    guard orders.next == nil else { return false }
    if !hasLoggedDeath {
      hasLoggedDeath = true
      context.logger.warning(
        "\(report.agent): an adoption was not finished, and Thread is disabled; it is enabled")
    }
    let status = (try? client.perform(request, isFinished: true))?.status
    if status != 200, !hasLoggedRefusal {
      hasLoggedRefusal = true
      context.logger.warning(
        """
        \(report.agent): Thread is not enabled (\(status.map(String.init) ?? "no answer")); by hand: \
        \(AdoptionMachine.byHand)
        """)
    }
    return true
  }

  /// While Thread is disabled for a moment, that is on the disk.
  private func note(_ agent: BorderAgentID) {
    let why = configuration.notes.map { $0.add(agent) } ?? "there is no state directory"
    guard let why else { return }
    context.logger.warning(
      "\(agent): if the agent dies now, Thread stays disabled, because that can't be written down: \(why)"
    )
  }

  /// Begins what was ordered, with a router that answers.
  mutating func adopt(_ report: RouterReport) {
    guard !adoption.isBusy else { return }
    if let order = orders.next, order.agent == report.agent,
      case .refused(let why) = AdoptionPlan(order.dataset, for: report)
    {
      return hold(order, why)
    }
    switch orders.next(time: time, at: now) {
    case .nothing: break
    case .dropped(let order, let why):
      machine.isAdopting = false
      context.logger.warning("\(order.agent): an order is not acted upon: \(why)")
    case .order(let order) where order.agent != report.agent:
      orders.end(isDone: false)
      machine.isAdopting = orders.next != nil
      context.logger.warning("\(order.agent): an order is not acted upon: it is for another router")
    case .order(let order): perform(adoption.handle(.ordered(order, report), at: now))
    }
  }

  /// An order that a person has agreed to waits for the end of what is in its way, for as long as it lives.
  private mutating func hold(_ order: AdoptionOrder, _ why: String) {
    guard order.expiresAt - time <= Self.margin else {
      if heldOrder != order.id { context.logger.warning("\(order.agent): an order waits: \(why)") }
      heldOrder = order.id
      return
    }
    orders.dropNext()
    context.logger.warning(
      "\(order.agent): an order is not acted upon: it has waited for too long: \(why)")
    report(.pendingChange)
  }

  /// Where the router is, after an order.
  private mutating func report(_ failure: AdoptionState?) {
    heldOrder = nil
    machine.isAdopting = orders.next != nil
    perform(machine.handle(.reportWanted(failure), at: now))
  }

  mutating func perform(_ effects: [AdoptionMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .log(let note): context.log(note)
      case .look: look()
      case .request(let request):
        let agent = orders.current?.agent
        if let agent, request == .setThread(enabled: false), adoption.enablesAgain { note(agent) }
        // What has begun to change the router is finished, also when the agent stops.
        let answer = try? client.perform(request, isFinished: true)
        if let agent, request == .setThread(enabled: true), answer?.status == 200 {
          configuration.notes?.remove(agent)
        }
        perform(adoption.handle(.answered(answer?.status), at: now))
      case .finished(let failure):
        if let agent = orders.current?.agent, !adoption.isStranded {
          configuration.notes?.remove(agent)
        }
        orders.end(isDone: failure == nil)
        report(failure)
      }
    }
  }
}

/// What one router's agent works with.
package struct RouterConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var address: HTTPAddress
  /// Whose programs may listen at the address, where that is on this machine: root's, and those of the router's user.
  package var users: Set<UInt32> = [0]
  /// For each request to the router.
  package var requestTimeout = OTBRClient.defaultTimeout
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

  package init(_ login: AgentLogin, address: HTTPAddress) {
    self.login = login
    self.address = address
  }

  package var label: (key: String, value: String) { ("otbr", "\(address)") }

  package var offersAgain: Bool { true }

  package func check() throws(MosquittoError) {
    guard let agent = BorderAgentID(bytes: [UInt8](repeating: 0, count: 8)) else { return }
    try connection(for: agent).check()
  }

  package func task(in context: AgentContext) -> any AgentTask { RouterTask(self, context) }

  /// Looks once, and publishes nothing.
  ///
  /// - Returns: what it would publish first, without keys; or why it would publish nothing.
  package func preview() async throws -> [String] {
    try await SystemThread.result {
      let client = OTBRClient(address, of: users, timeout: requestTimeout)
      var reader = RouterReader()
      var machine = RouterMachine(rhythm, whenEmpty: whenEmpty)
      let look = try client.look(&reader)
      var effects = machine.handle(.looked(look), at: .zero)
      effects += machine.handle(.connected, at: .zero)
      return effects.compactMap { effect in
        switch effect {
        case .publish(let event): writer.summary(of: event)
        case .log(let note) where note.level == .warning: "\(address): \(note.text)"
        default: nil
        }
      }
    }
  }

  var whenEmpty: RouterMachine.WhenEmpty { adopts ? .announce : leaves ? .leave : .publish }

  var writer: EventWriter {
    EventWriter(base: login.base, user: login.user, description: description, keys: login.keys)
  }

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
    result.lastWill = writer.lastWill(of: RouterEvent(.offline, of: agent))
    return result
  }
}
