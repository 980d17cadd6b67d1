import Broker
import Home
import Logging
import ThreadkeeperSupport
import Wire

/// Publishes for something that does not publish by itself, until it is stopped.
///
/// ```
///  what it looks at ◀── AgentSource ◀──▶ AgentLoop ◀──▶ BrokerLink ◀──▶ broker
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

  /// Until `stop` or cancellation; then it publishes what its source has left, and returns.
  ///
  /// - Throws: `MosquittoError` when the broker's configuration can't work.
  package func run() async throws {
    let link = BrokerLink(offersAgain: configuration.resumes)
    let error = try await withTaskCancellationHandler {
      try await SystemThread.result { [configuration, logger, stopSignal] in
        AgentLoop(configuration, link: link, logger: logger, stop: stopSignal).run(configuration)
      }
    } onCancel: {
      stop()
    }
    await link.end()
    if let error { throw error }
  }

  package func stop() { stopSignal.raise() }
}

/// What an agent works with, and what it does with it.
package protocol AgentConfiguration: Sendable {
  var login: AgentLogin { get set }
  /// What its lines of the log are marked with.
  var label: (key: String, value: String) { get }
  /// Whether it goes on where it was: what the broker has not acknowledged is offered again on the next connection, and
  /// its client id outlives it.
  var resumes: Bool { get }
  /// As it connects, to be checked before anything is looked at.
  var connection: MosquittoConfiguration { get }

  /// Its own part, for one run. Called on the agent's thread.
  func source(for agent: AgentLoop) -> any AgentSource

  /// Looks once, and publishes nothing. Takes seconds.
  ///
  /// - Returns: what it would publish first, without keys, and why not the rest.
  func preview() throws -> [String]
}

extension AgentConfiguration { package var resumes: Bool { true } }

/// What an agent looks at, and what it publishes of it. `AgentLoop` calls all of it on one thread.
package protocol AgentSource {
  /// Between two looks; shorter while something is under way.
  var pause: Duration { get }
  /// What is reported of the agent itself; nil: nothing is to be said yet.
  var standing: AgentStanding? { get }

  mutating func look()
  mutating func handle(_ news: AgentNews)

  /// After a stop, or an error that ends the agent. Takes seconds at most.
  mutating func finish()
}

extension AgentSource { package mutating func finish() {} }

/// Whether an agent can do its work. It is reported when the connection is there, when it changes, and each minute.
package enum AgentStanding: Equatable, Sendable {
  case works
  /// It can, but its Matter server does not have what the home prefers. One or two sentences, as in `fails`.
  case serverDiffers(String)
  /// One or two sentences for people, without secrets.
  case fails(String)
  /// The events of its router say how it is, so no more is reported.
  case reportedByRouter
}

/// The thread of an agent: its source looks when it is time, gets what comes from the broker, and publishes.
package final class AgentLoop {
  /// Events whose answers are waited for.
  private static let answerLimit = 64

  let logger: Logger
  /// Raised when the agent stops.
  let stop: WakeSignal
  private let login: AgentLogin
  /// Of the agent, among those of its login.
  let name: String
  private let link: BrokerLink
  private let start = ContinuousClock.now
  private var events: EventWriter
  private var reports: EventWriter
  /// The topic of answers to its events.
  private var answers: String?
  /// Events without an answer.
  private var unanswered: [UInt64: EventOutcome] = [:]
  private(set) var isConnected = false
  /// What was reported last on this connection, and when the same is due again.
  private var reported: (standing: AgentStanding, due: Duration)?
  private var error: MosquittoError?
  /// What was logged about the connection last: the same is not logged with each attempt.
  private var trouble: String?

  init(_ configuration: any AgentConfiguration, link: BrokerLink, logger: Logger, stop: WakeSignal) {
    login = configuration.login
    name = String("\(configuration.label.key) \(configuration.label.value)".prefix(InboundLimits.textCharacters))
    (events, reports) = (login.writer, login.writer)
    (self.link, self.logger, self.stop) = (link, logger, stop)
  }

  private var isRunning: Bool { !stop.isRaised && error == nil }

  func run(_ configuration: any AgentConfiguration) -> MosquittoError? {
    var source = configuration.source(for: self)
    var next = now
    while isRunning {
      if now >= next {
        source.look()
        next = now + source.pause
      }
      readNews(&source)
      guard isRunning else { break }
      report(source.standing)
      next = min(next, now + source.pause)
      let due = min(next, reported?.due ?? next)
      WakeSignal.wait(for: [stop, link.wake], within: due - now)
    }
    source.finish()
    return error
  }

  private func report(_ standing: AgentStanding?) {
    guard isConnected, let standing else {
      reported = nil
      return
    }
    if let reported, reported.standing == standing, now < reported.due { return }
    // What its router says is reported once a day.
    reported = (standing, now + .seconds(standing == .reportedByRouter ? 86_400 : 60))
    do throws(SealingError) {
      publish(try reports.publication(of: standing, by: name, now: nanosecondsSince1970()))
    } catch { logger.error("what the agent reports of itself can't be sealed: \(error.message)") }
  }

  private func readNews(_ source: inout any AgentSource) {
    for news in link.takeNews() {
      switch news {
      case .connected:
        trouble = nil
        (isConnected, reported) = (true, nil)
        logger.info("connected to the broker")
        source.handle(.connected)
      case .disconnected(let event):
        let message = login.brokerMessage(event.error)
        if message != trouble { logger.warning("\(message)") }
        trouble = message
        (isConnected, reported) = (false, nil)
        source.handle(.disconnected)
      // What its source has published is refused, too, and that is logged.
      case .refused(let publication, _) where publication.token == reports.lastSequence: break
      case .refused(let publication, let refusal):
        let message = login.brokerMessage(refusal)
        guard var outcome = unanswered.removeValue(forKey: publication.token) else {
          source.handle(.refused(topic: publication.topic, message: message))
          continue
        }
        (outcome.code, outcome.message) = (EventOutcome.refused, message)
        source.handle(.answered(outcome))
      case .notSubscribed(let refusal):
        logger.warning("the broker refuses \(refusal.filter): \(login.brokerMessage(refusal.error))")
      case .message(let message) where message.topic != answers: source.handle(.message(message))
      case .message(let message):
        guard !message.isRetained, var outcome = EventOutcome(message),
          let event = unanswered.removeValue(forKey: outcome.token)
        else { continue }
        outcome.subject = event.subject
        source.handle(.answered(outcome))
      case .failed(let failure): error = failure
      }
    }
  }
}

/// What a source does with its agent.
extension AgentLoop {
  /// Since the agent's start; never falls.
  var now: Duration { start.duration(to: .now) }

  /// Unix seconds.
  var time: Int64 { Int64(nanosecondsSince1970() / 1_000_000_000) }

  /// Connects, or connects again as another client.
  func connect(_ configuration: MosquittoConfiguration) {
    answers = configuration.subscriptions.map(\.filter).first { $0.hasPrefix(login.answers) }
    link.connect(configuration)
  }

  func publish(_ publication: Publication) { link.publish(publication) }

  /// An event whose answer is wanted. Where it can't be sealed, that is logged.
  ///
  /// - Parameter subject: what it is about: of earlier events about the same no answer is taken any more.
  func publish(_ event: InboundEvent, expiry: UInt32? = nil, about subject: String? = nil) {
    do throws(SealingError) {
      let publication = try events.publication(of: event, answers: answers, expiry: expiry, now: nanosecondsSince1970())
      if let subject { unanswered = unanswered.filter { $0.value.subject != subject } }
      if unanswered.count >= Self.answerLimit, let oldest = unanswered.keys.min() { unanswered[oldest] = nil }
      unanswered[publication.token] = EventOutcome(kind: event.message.kind, token: publication.token, subject: subject)
      publish(publication)
    } catch { logger.error("\(event.message.kind.word) can't be sealed: \(error.message)") }
  }

  func log(_ note: RouterNote) { logger.log(level: note.level, "\(note.text)") }
}

/// What comes from the broker. What is wrong there is in words of the options that configure it.
package enum AgentNews {
  case connected
  case disconnected
  /// What has become of an event: at most once for each.
  case answered(EventOutcome)
  /// The broker has not taken another publication.
  case refused(topic: String, message: String)
  /// Anything else that is subscribed to.
  case message(IncomingMessage)
}
