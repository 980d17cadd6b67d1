// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import ThreadkeeperSupport

/// Publishes for something that does not publish by itself, until it is stopped.
///
/// ```
///  what it looks at ◀── AgentTask ──▶ AgentContext ──▶ BrokerLink ──▶ broker
///                          ▲                               │
///                          └────────── AgentLoop ◀─────────┘
/// ```
/// All of it happens on one thread, which waits in system calls; the broker's connection has a thread of its own.
package final class Agent: Sendable {
  private let configuration: any AgentConfiguration
  private let logger: Logger
  private let stopSignal = WakeSignal()

  package init(_ configuration: any AgentConfiguration, logger: Logger) {
    self.configuration = configuration
    var logger = logger
    logger[metadataKey: configuration.label.key] = "\(configuration.label.value)"
    self.logger = logger
  }

  /// Until `stop` or cancellation; then it publishes what its task has left, and returns.
  ///
  /// - Throws: `MosquittoError` when the broker's configuration can't work.
  package func run() async throws {
    let link = BrokerLink(offersAgain: configuration.offersAgain)
    let end = try await withTaskCancellationHandler {
      try await SystemThread.result { [configuration, logger, stopSignal] in
        var loop = AgentLoop(configuration, link: link, logger: logger, stop: stopSignal)
        return loop.run()
      }
    } onCancel: {
      stop()
    }
    await link.end(end.last)
    if let error = end.error { throw error }
  }

  package func stop() { stopSignal.raise() }
}

/// What an agent works with, and what it does with it.
package protocol AgentConfiguration: Sendable {
  var login: AgentLogin { get }
  /// What its lines of the log are marked with.
  var label: (key: String, value: String) { get }
  /// Whether what the broker has not acknowledged is offered again on the next connection.
  var offersAgain: Bool { get }

  /// What can never work with the broker, before anything is looked at.
  ///
  /// - Throws: `MosquittoError`.
  func check() throws(MosquittoError)

  /// Its own part, for one run. Called on the agent's thread.
  func task(in context: AgentContext) -> any AgentTask
}

/// What an agent's task works with: the connection, the log, the time. For the agent's thread only.
package final class AgentContext {
  let logger: Logger
  /// Raised when the agent stops.
  let stop: WakeSignal
  private let link: BrokerLink
  private let start = ContinuousClock.now
  /// Events without an answer.
  private var unanswered = UnansweredTokens()

  init(link: BrokerLink, logger: Logger, stop: WakeSignal) {
    self.link = link
    self.logger = logger
    self.stop = stop
  }

  /// Since the agent's start; never falls.
  var now: Duration { start.duration(to: .now) }

  /// Connects, or connects again as another client.
  func connect(_ configuration: MosquittoConfiguration) { link.connect(configuration) }

  func publish(_ publication: Publication) { link.publish(publication) }

  /// An event whose answer is wanted.
  ///
  /// - Parameter seal: makes it.
  /// - Returns: nil where it can't be sealed; then it is logged.
  func event(
    _ kind: InboundEventKind, _ seal: () throws(SealingError) -> Publication
  ) -> Publication? {
    do throws(SealingError) {
      let publication = try seal()
      unanswered.insert(publication.token)
      return publication
    } catch {
      logger.error("\(kind.rawValue) can't be sealed: \(error.message)")
      return nil
    }
  }

  /// - Returns: nil for what answers no event of this agent, or one that has its answer.
  func outcome(_ message: IncomingMessage) -> EventOutcome? {
    guard !message.isRetained, let outcome = EventOutcome(message),
      unanswered.remove(outcome.token)
    else { return nil }
    return outcome
  }

  func log(_ note: RouterNote) {
    switch note.level {
    case .info: logger.info("\(note.text)")
    case .warning: logger.warning("\(note.text)")
    }
  }
}

/// What was published and may still be answered or refused, by tokens that rise. Of too many the oldest goes.
private struct UnansweredTokens {
  private static let most = 64

  private var tokens: Set<UInt64> = []

  mutating func insert(_ token: UInt64) {
    if tokens.count >= Self.most, let oldest = tokens.min() { tokens.remove(oldest) }
    tokens.insert(token)
  }

  /// - Returns: whether it is one of them.
  mutating func remove(_ token: UInt64) -> Bool { tokens.remove(token) != nil }
}

/// An agent's own part: what it looks at, and what it publishes of it. `AgentLoop` calls all of it on one thread.
package protocol AgentTask {
  /// Between two looks; shorter while something is under way.
  var pause: Duration { get }
  /// What is reported of the agent itself; nil: nothing is to be said yet.
  var standing: AgentStanding? { get }

  /// Before the first look.
  mutating func start()
  mutating func look()
  mutating func handle(_ news: AgentNews)

  /// After a stop, or an error that ends the agent. Takes seconds at most.
  ///
  /// - Returns: what is published last.
  mutating func finish() -> [Publication]
}

/// Whether an agent can do its work. It is reported when the connection is there, when it changes, and each minute.
package enum AgentStanding: Equatable, Sendable {
  case works
  /// One or two sentences for people, without secrets.
  case fails(String)
  /// The events of its router say how it is, so no more is reported.
  case reportedByRouter
}

/// The thread of an agent: it looks when it is time, hands over what comes from the broker, and waits.
struct AgentLoop {
  /// How it ended.
  struct End {
    /// What is published last.
    var last: [Publication] = []
    var error: MosquittoError?
  }

  private static let reportInterval = Duration.seconds(60)
  private static let day = Duration.seconds(86_400)

  private let login: AgentLogin
  /// Of the agent, among those of its login.
  private let name: String
  private let link: BrokerLink
  private let context: AgentContext
  private var task: any AgentTask
  private var reports: EventEncoder
  /// Reports that the broker may still refuse.
  private var unansweredReports = UnansweredTokens()
  private var isConnected = false
  /// What was reported last on this connection, and when the same is due again.
  private var reported: (standing: AgentStanding, due: Duration)?
  private var error: MosquittoError?
  /// What was logged about the connection last: the same is not logged with each attempt.
  private var trouble: String?

  init(
    _ configuration: any AgentConfiguration, link: BrokerLink, logger: Logger, stop: WakeSignal
  ) {
    login = configuration.login
    name = String(
      "\(configuration.label.key) \(configuration.label.value)".prefix(InboundLimits.textCharacters)
    )
    reports = login.encoder
    self.link = link
    context = AgentContext(link: link, logger: logger, stop: stop)
    task = configuration.task(in: context)
  }

  private var isRunning: Bool { !context.stop.isRaised && error == nil }

  mutating func run() -> End {
    var next = context.now
    task.start()
    while isRunning {
      if context.now >= next {
        task.look()
        next = context.now + task.pause
      }
      readNews()
      guard isRunning else { break }
      report()
      next = min(next, context.now + task.pause)
      let due = min(next, reported?.due ?? next)
      WakeSignal.wait(for: [context.stop, link.wake], within: due - context.now)
    }
    return End(last: task.finish(), error: error)
  }

  private mutating func report() {
    guard isConnected, let standing = task.standing else {
      reported = nil
      return
    }
    if let reported, reported.standing == standing, context.now < reported.due { return }
    reported = (
      standing, context.now + (standing == .reportedByRouter ? Self.day : Self.reportInterval)
    )
    do throws(SealingError) {
      let report = try reports.publication(of: standing, by: name, now: nanosecondsSince1970())
      unansweredReports.insert(report.token)
      context.publish(report)
    } catch {
      context.logger.error("what the agent reports of itself can't be sealed: \(error.message)")
    }
  }

  private mutating func readNews() {
    for news in link.takeNews() {
      switch news {
      case .connected:
        trouble = nil
        (isConnected, reported) = (true, nil)
        context.logger.info("connected to the broker")
        task.handle(.connected)
      case .disconnected(let event):
        let message = login.brokerMessage(event.error)
        if message != trouble { context.logger.warning("\(message)") }
        trouble = message
        (isConnected, reported) = (false, nil)
        task.handle(.disconnected)
      // The task's own are refused, too, and are logged.
      case .refused(let publication, _) where unansweredReports.remove(publication.token): break
      case .refused(let publication, let refusal):
        task.handle(.refused(publication, message: login.brokerMessage(refusal)))
      case .notSubscribed(let refusal):
        context.logger.warning(
          "the broker refuses \(refusal.filter): \(login.brokerMessage(refusal.error))")
      case .message(let message): read(message)
      case .failed(let failure): error = failure
      }
    }
  }

  private mutating func read(_ message: IncomingMessage) {
    guard message.topic.hasPrefix(login.answerTopic("")) else {
      return task.handle(.message(message))
    }
    if let outcome = context.outcome(message) { task.handle(.answered(outcome)) }
  }
}

/// What comes from the broker. What is wrong there is in words of the options that configure it.
package enum AgentNews: Sendable {
  case connected
  case disconnected
  /// The broker has not taken a publication.
  case refused(Publication, message: String)
  /// threadkeeper's answer to an event of this agent: at most one for each.
  case answered(EventOutcome)
  /// Anything else that is subscribed to.
  case message(IncomingMessage)
}
