// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import SystemThreads

/// The HTTP server of the daemon: one thread, which waits for nothing but the network.
package struct PageServer: Service {
  /// Time between two attempts to listen: the address may be that of an interface that is not up yet.
  private static let retryInterval = Duration.seconds(2)

  private let configuration: PageConfiguration
  private let routes: PageRoutes
  private let table: ConnectionTable
  private let inbox = PageInbox()
  private let logger: Logger
  private let listening: @Sendable (Int) -> Void
  /// Whether it can be reached.
  package let condition = PageCondition()

  /// - Parameter listening: called with the port, when it can be reached.
  package init(
    _ configuration: PageConfiguration, source: any PageSource, logger: Logger,
    listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) {
    self.configuration = configuration
    routes = PageRoutes(configuration, source: source)
    table = ConnectionTable(
      most: configuration.limits.connections,
      healthChecks: configuration.limits.healthChecks,
      mostOfPeer: configuration.limits.connectionsOfPeer,
      unlimited: configuration.trustedProxy.flatMap(PeerAddress.init))
    self.logger = logger
    self.listening = listening
  }

  /// Connections that are open.
  package var connections: Int { table.count }

  /// Of them those that follow events.
  package var viewers: Int { routes.viewers }

  package func run() async throws {
    await withTaskCancellationOrGracefulShutdownHandler {
      await serve()
    } onCancelOrGracefulShutdown: { [routes, inbox] in
      routes.end()
      inbox.post(.stop)
    }
  }

  private func serve() async {
    while !Task.isShuttingDownGracefully, !Task.isCancelled,
      let obstacle = try? await SystemThread.result(of: { listen() })
    {
      report(obstacle)
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
    }
  }

  /// Serves until it is to stop.
  ///
  /// - Returns: nil, or what is in its way.
  private func listen() -> PageObstacle? {
    do throws(PageObstacle) {
      let loop = try PageLoop(configuration, routes: routes, table: table, inbox: inbox)
      condition.set(.listening(port: loop.port))
      logger.notice(
        "the HTTP server listens",
        metadata: ["address": "\(configuration.address)", "port": "\(loop.port)"])
      listening(loop.port)
      loop.run()
      return nil
    } catch {
      return error
    }
  }

  private func report(_ obstacle: PageObstacle) {
    let state = PageCondition.State(obstacle, at: configuration)
    guard condition.set(state), case .unavailable(let reason, let remedy) = state else { return }
    logger.warning(
      "the HTTP server cannot listen; trying again",
      metadata: ["reason": "\(reason)", "remedy": "\(remedy)"])
  }
}
