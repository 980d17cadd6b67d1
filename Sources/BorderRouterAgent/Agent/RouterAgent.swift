// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Glibc
import Logging
import MosquittoClient
import SystemThreads
import ThreadDataset

/// Publishes for one OpenThread Border Router: looks at it, publishes what changes, and gives it what its daemon sends.
///
/// ```
///  router's REST ◀── OTBRClient ──▶ RouterReader ──▶ RouterMachine ──▶ EventWriter ──▶ BrokerLink ──▶ broker
///        ▲                                                                                │
///        └────────── AdoptionMachine ◀── AdoptionOrder (opened, signed by the daemon) ◀───┘
/// ```
/// All of it happens on one thread, which waits in system calls; the broker's connection has a thread of its own.
package final class RouterAgent: Sendable {
  private let configuration: AgentConfiguration
  private let logger: Logger
  private let stopSignal = StopSignal()

  package init(_ configuration: AgentConfiguration, logger: Logger) {
    self.configuration = configuration
    var logger = logger
    logger[metadataKey: "otbr"] = "\(configuration.address)"
    self.logger = logger
  }

  /// Until `stop` or cancellation; then it publishes that the router is offline, and returns.
  ///
  /// - Throws: `MosquittoError` when the broker's configuration can't work.
  package func run() async throws {
    let link = BrokerLink()
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

  /// Looks once, and publishes nothing.
  ///
  /// - Returns: what it would publish first, without keys; or why it would publish nothing.
  package func preview() async throws -> [String] {
    try await SystemThread.result { [configuration] in
      let client = OTBRClient(configuration.address, timeout: configuration.requestTimeout)
      var reader = RouterReader()
      var machine = RouterMachine(configuration.rhythm)
      let look = try reader.look { request throws(HTTPFailure) in try client.perform(request) }
      var effects = machine.handle(.looked(look), at: .zero)
      effects += machine.handle(.connected, at: .zero)
      return effects.compactMap { effect in
        switch effect {
        case .publish(let event): configuration.writer.summary(of: event)
        case .log(let note) where note.level == .warning: "\(configuration.address): \(note.text)"
        default: nil
        }
      }
    }
  }
}
