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
  /// How long a method took.
  var finished: @Sendable (_ method: String, Duration) -> Void = { _, _ in }

  package static func path(_ settings: Settings) -> String { settings.store.path + "/varlink.sock" }

  /// Of both sockets.
  static let information = VarlinkService.Information(
    vendor: "threadkeeper", product: "threadkeeper", version: threadkeeperVersion, url: "")

  var service: VarlinkService {
    VarlinkService(
      Self.information, interfaces: [.threadkeeper] + handlers.map(\.interface),
      endpoints: handlers.flatMap(\.endpoints), failure: { VarlinkError(failing: $0) },
      finished: finished)
  }

  package func run() async throws {
    await SocketLife(failure: "the local API cannot be reached", logger: logger)
      .run { () throws(SocketError) -> VarlinkServer in try listen() }
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
