// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import LogFormat
import Logging
import MosquittoClient
import ServiceLifecycle
import ThreadkeeperDaemon

#if canImport(Glibc)
  import Glibc
#endif

/// An agent that a signal stops.
struct AgentService: Service {
  let agent: Agent

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await agent.run() }
  }

  /// What can never work with the broker.
  static func check(_ configurations: [any AgentConfiguration]) throws(CommandFailure) {
    do throws(MosquittoError) {
      for configuration in configurations { try configuration.check() }
    } catch {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }

  /// Runs them until SIGTERM or SIGINT.
  static func run(
    _ configurations: [any AgentConfiguration], warning: String? = nil
  ) async throws {
    signal(SIGPIPE, SIG_IGN)
    let logger = Logger(label: "threadkeeper.agent") { _ in TextLogHandler() }
    if let warning { logger.warning("\(warning)") }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: configurations.map {
          .init(service: AgentService(agent: Agent($0, logger: logger)))
        },
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: Logger(label: "threadkeeper.agent") { _ in SwiftLogNoOpLogHandler() }))
    do {
      try await group.run()
    } catch let error as MosquittoError {
      throw CommandFailure(.configuration, BrokerOptions.words(error))
    }
  }
}
