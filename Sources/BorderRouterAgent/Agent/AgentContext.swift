// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Logging
import MosquittoClient
import SealedEnvelope
import SystemThreads

/// What an agent's task works with: the connection, the log, the time. For the agent's thread only.
package final class AgentContext {
  /// Events whose answers are waited for.
  private static let answerLimit = 64

  let logger: Logger
  /// Raised when the agent stops.
  let stop: WakeSignal
  private let link: BrokerLink
  private let start = ContinuousClock.now
  /// Events without an answer.
  private var unanswered: Set<UInt64> = []

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
      if unanswered.count >= Self.answerLimit, let oldest = unanswered.min() {
        unanswered.remove(oldest)
      }
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
      unanswered.remove(outcome.token) != nil
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
