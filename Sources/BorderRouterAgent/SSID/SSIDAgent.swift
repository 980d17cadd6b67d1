// SPDX-License-Identifier: Apache-2.0

import Logging
import MosquittoClient
import SystemThreads

/// Publishes the SSID of an access point: at the start, and when it changes.
///
/// ```
///  command, nmcli, iw, hostapd.conf ◀── SSIDReader ──▶ SSIDMachine ──▶ SSIDWriter ──▶ BrokerLink ──▶ broker
///                                                           ▲                            │
///                                                           └── EventOutcome (answers) ◀─┘
/// ```
/// All of it happens on one thread, which waits in system calls; the broker's connection has a thread of its own.
package final class SSIDAgent: Sendable {
  private let configuration: SSIDConfiguration
  private let logger: Logger
  private let stopSignal = StopSignal()

  package init(_ configuration: SSIDConfiguration, logger: Logger) {
    self.configuration = configuration
    var logger = logger
    logger[metadataKey: "ssid"] = "\(configuration.subject)"
    self.logger = logger
  }

  /// Until `stop` or cancellation.
  ///
  /// - Throws: `MosquittoError` when the broker's configuration can't work.
  package func run() async throws {
    let link = BrokerLink()
    let error = try await withTaskCancellationHandler {
      try await SystemThread.result { [configuration, logger, stopSignal] in
        var loop = SSIDLoop(configuration, link: link, logger: logger, stop: stopSignal)
        return loop.run()
      }
    } onCancel: {
      stop()
    }
    await link.end([])
    if let error { throw error }
  }

  package func stop() { stopSignal.raise() }

  /// Looks once, and publishes nothing. What a program writes to standard error is shown.
  package func look() async throws -> SSIDReading {
    try await SystemThread.result { [configuration] in
      var reader = SSIDReader(
        configuration.source, timeout: configuration.timeout, showsErrors: true)
      return reader.look() ?? .none
    }
  }

  /// What it would publish.
  package func summary(of ssid: SSID) -> String { configuration.writer.summary(of: ssid) }
}
