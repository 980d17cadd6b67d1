// SPDX-License-Identifier: Apache-2.0

import Logging
import MosquittoClient
import SystemThreads

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
