// SPDX-License-Identifier: Apache-2.0

import Logging
import MosquittoClient
import SystemThreads

/// The thread of an agent: it looks when it is time, hands over what comes from the broker, and waits.
struct AgentLoop {
  /// How it ended.
  struct End {
    /// What is published last.
    var last: [Publication] = []
    var error: MosquittoError?
  }

  private let login: AgentLogin
  private let link: BrokerLink
  private let context: AgentContext
  private var task: any AgentTask
  private var error: MosquittoError?

  init(
    _ configuration: any AgentConfiguration, link: BrokerLink, logger: Logger, stop: WakeSignal
  ) {
    login = configuration.login
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
      next = min(next, context.now + task.pause)
      WakeSignal.wait(for: [context.stop, link.wake], within: next - context.now)
    }
    return End(last: task.finish(), error: error)
  }

  private mutating func readNews() {
    for news in link.takeNews() {
      switch news {
      case .connected:
        context.logger.info("connected to the broker")
        task.handle(.connected)
      case .disconnected(let event):
        context.logger.warning("\(login.brokerMessage(event.error))")
        task.handle(.disconnected)
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
