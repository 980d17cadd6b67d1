// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import VarlinkSocket

/// A socket of the daemon, from its start to its graceful end.
struct SocketLife {
  /// Time between two attempts to make it: too few open files, or a directory that is not there yet, may pass.
  private static let retryInterval = Duration.seconds(2)

  /// What is logged while it cannot be made.
  let failure: String
  let logger: Logger

  func run(_ listen: () throws(SocketError) -> VarlinkServer) async {
    var server: VarlinkServer?
    var reason: String?
    while server == nil, !Task.isShuttingDownGracefully, !Task.isCancelled {
      do {
        server = try listen()
        if let reason {
          logger.notice(
            "a socket is there now", metadata: ["before": "\(failure)", "reason": "\(reason)"])
        }
      } catch {
        if error.message != reason {
          logger.warning("\(failure); trying again", metadata: ["reason": "\(error.message)"])
        }
        reason = error.message
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.retryInterval) }
      }
    }
    try? await gracefulShutdown()
    await server?.finish()
  }
}
