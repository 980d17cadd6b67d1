// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Settings
import VarlinkSocket

/// The daemon's local API: `varlink.sock` in the store's directory, for this user and root. See docs/reference/local-api.md.
package struct LocalAPISocket: Service {
  let settings: Settings
  let handlers: [any LocalAPIHandler]
  let logger: Logger

  /// Time between two attempts to make the socket: too few open files, or a directory that is not there yet, may pass.
  private static let retryInterval = Duration.seconds(2)

  package static func path(_ settings: Settings) -> String { settings.store.path + "/varlink.sock" }

  var service: VarlinkService {
    VarlinkService(
      .init(
        vendor: "threadkeeper", product: "threadkeeper", version: threadkeeperVersion, url: ""),
      interfaces: [.threadkeeper] + handlers.map(\.interface),
      endpoints: handlers.flatMap(\.endpoints), failure: { VarlinkError(failing: $0) })
  }

  package func run() async throws {
    var server: VarlinkServer?
    var failure: String?
    while server == nil, !Task.isShuttingDownGracefully, !Task.isCancelled {
      do {
        server = try listen()
      } catch {
        if error.message != failure {
          logger.warning(
            "the local API cannot be reached; trying again",
            metadata: ["reason": "\(error.message)"])
        }
        failure = error.message
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
      }
    }
    try? await gracefulShutdown()
    await server?.finish()
  }

  private func listen() throws(SocketError) -> VarlinkServer {
    var limits = VarlinkLimits.owner
    limits.noPlace = .tooManyConnections
    return try VarlinkServer(
      path: Self.path(settings), limits: limits, service: service,
      judge: { [logger] in
        logger.debug("a connection to the local API", metadata: ["user": "\($0.user)"])
        return VarlinkServer.ownerOnly($0)
      },
      onTrouble: { [logger] in
        logger.warning(
          "a client of the local API was not let in", metadata: ["reason": "\($0.message)"])
      })
  }
}
