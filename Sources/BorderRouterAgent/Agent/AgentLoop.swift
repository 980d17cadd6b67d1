// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Glibc
import Logging
import MosquittoClient
import SealedEnvelope
import ThreadDataset

/// The thread of one router's agent: it asks the router and the link, and does what the machines decide.
struct AgentLoop {
  /// How it ended.
  struct End {
    /// What is published last.
    var last: [Publication] = []
    var error: MosquittoError?
  }

  /// Events whose answers are waited for.
  private static let answerLimit = 64
  /// How long a router is put back for after a stop: less than what systemd waits for.
  private static let stopLimit = Duration.seconds(20)
  /// Between two looks at a router that is on its way to another network.
  private static let adoptionPoll = Duration.seconds(1)

  let configuration: AgentConfiguration
  private let link: BrokerLink
  let logger: Logger
  private let stop: StopSignal
  let client: OTBRClient
  private let start = ContinuousClock.now
  private var reader = RouterReader()
  var machine: RouterMachine
  private var writer: EventWriter
  var adoption = AdoptionMachine()
  var orders = OrderBook()
  /// Another agent of this process publishes for the same router.
  private var standsStill = false
  /// The clock is behind the numbers that threadkeeper knows.
  private var saidOutOfOrder = false
  /// Events without an answer: each is answered once.
  private var unanswered: Set<UInt64> = []
  private var wantsCode: Bool
  private var error: MosquittoError?

  init(_ configuration: AgentConfiguration, link: BrokerLink, logger: Logger, stop: StopSignal) {
    self.configuration = configuration
    self.link = link
    self.logger = logger
    self.stop = stop
    client = OTBRClient(configuration.address, timeout: configuration.requestTimeout, signal: stop)
    machine = RouterMachine(configuration.rhythm)
    writer = configuration.writer
    wantsCode = configuration.showCode != nil
  }

  mutating func run() -> End {
    var next = now
    while !stop.isRaised, error == nil {
      if now >= next {
        look()
        next = now + (adoption.isBusy ? Self.adoptionPoll : configuration.poll)
      }
      readNews()
      if adoption.isBusy { next = min(next, now + Self.adoptionPoll) }
      guard !stop.isRaised, error == nil else { break }
      StopSignal.wait(for: [stop, link.wake], within: next - now)
    }
    finishChange()
    let effects = machine.handle(.stopping, at: now)
    return End(last: effects.compactMap { publication(of: $0) }, error: error)
  }

  /// A router that is being put back when the agent stops is put back. One that has its new dataset, with Thread
  /// enabled, is left so.
  private mutating func finishChange() {
    let limit = now + Self.stopLimit
    while adoption.isChanging, now < limit {
      look()
      if adoption.isChanging { StopSignal.wait(for: [], within: Self.adoptionPoll) }
    }
    if adoption.isChanging {
      logger.warning("the agent stops before the router is as it was: enable Thread by hand")
    }
  }

  var now: Duration { start.duration(to: .now) }

  // MARK: The router

  /// - Returns: nil when the agent stops.
  @discardableResult
  mutating func look() -> RouterLook? {
    // While the router is changed it is looked at also when the agent stops.
    let isFinished = adoption.isChanging
    let found = try? reader.look { [client] request throws(HTTPFailure) in
      try client.perform(request, isFinished: isFinished)
    }
    guard let found, isOwn(found) else { return nil }
    perform(machine.handle(.looked(found), at: now))
    perform(adoption.handle(.looked(found), at: now))
    if case .report(let report) = found {
      if wantsCode { shareCredentials(of: report) }
      if !stop.isRaised { adopt(report) }
    }
    return found
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
      logger.warning("\(report.agent): it is published from \(owner); nothing is from here")
    }
    return false
  }

  private mutating func shareCredentials(of report: RouterReport) {
    guard report.state.isAttached else { return }
    wantsCode = false
    let outcome: CredentialSharing.Outcome
    do throws(HTTPFailure) {
      outcome = try CredentialSharing.activate { [client] request throws(HTTPFailure) in
        try client.perform(request)
      }
    } catch {
      outcome = .none(RouterSilence(error).description)
    }
    configuration.showCode?(report.agent, outcome)
  }

  // MARK: The broker

  private mutating func readNews() {
    for news in link.takeNews() {
      switch news {
      case .connected:
        logger.info("connected to the broker")
        perform(machine.handle(.connected, at: now))
      case .disconnected(let event):
        logger.warning("\(configuration.brokerMessage(event.error))")
        perform(machine.handle(.disconnected, at: now))
      case .refused(let publication, let refusal):
        logger.warning(
          "the broker refuses \(publication.topic): \(configuration.brokerMessage(refusal))")
        if let kind = publication.topic.split(separator: "/").last.flatMap({
          InboundEventKind(rawValue: String($0))
        }) {
          perform(machine.handle(.rejected(kind, code: "refused", field: nil), at: now))
        }
      case .notSubscribed(let refusal):
        logger.warning(
          "the broker refuses \(refusal.filter): \(configuration.brokerMessage(refusal.error))")
      case .message(let message): read(message)
      case .failed(let failure): error = failure
      }
    }
  }

  private mutating func read(_ message: IncomingMessage) {
    if configuration.adopts, message.topic == configuration.orderTopic {
      return take(message)
    }
    guard !message.isRetained, let outcome = EventOutcome(message),
      unanswered.remove(outcome.token) != nil, let code = outcome.code
    else { return }
    logRejection(outcome, code)
    perform(machine.handle(.rejected(outcome.kind, code: code, field: outcome.field), at: now))
  }

  private mutating func logRejection(_ outcome: EventOutcome, _ code: String) {
    guard code == Rejection.Code.outOfOrder.rawValue else {
      saidOutOfOrder = false
      logger.warning(
        "threadkeeper has rejected \(outcome.kind.rawValue) (\(code)): \(outcome.message ?? "")")
      return
    }
    // Until the clock has caught up every event is rejected so.
    guard !saidOutOfOrder else { return }
    saidOutOfOrder = true
    logger.warning(
      """
      threadkeeper has seen later numbers of this router: the clock was set back. Its events are rejected until the \
      clock is past the time of its latest one; set the clock
      """)
  }

  // MARK: Effects

  mutating func perform(_ effects: [RouterMachine.Effect]) {
    for effect in effects {
      switch effect {
      case .connect(let agent): link.connect(configuration.connection(for: agent))
      case .log(let note): log(note)
      case .publish: if let publication = publication(of: effect) { link.publish(publication) }
      }
    }
  }

  private mutating func publication(of effect: RouterMachine.Effect) -> Publication? {
    guard case .publish(let event) = effect else { return nil }
    do throws(SealingError) {
      let publication = try writer.publication(of: event, now: nanosecondsSince1970())
      if unanswered.count >= Self.answerLimit, let oldest = unanswered.min() {
        unanswered.remove(oldest)
      }
      unanswered.insert(publication.token)
      return publication
    } catch {
      logger.error("\(event.kind.rawValue) can't be sealed: \(error.message)")
      return nil
    }
  }

  func log(_ note: RouterNote) {
    switch note.level {
    case .info: logger.info("\(note.text)")
    case .warning: logger.warning("\(note.text)")
    }
  }
}
