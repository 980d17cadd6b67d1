// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import VarlinkSocket

/// Answers `io.threadkeeper.Login` in the daemon.
struct LoginHandler: LocalAPIHandler {
  let service: BrokerLoginService

  var interface: VarlinkInterface { .login }

  var endpoints: [VarlinkEndpoint] {
    [
      LoginMethods.store.answered { request, caller in
        try await Self.reporting {
          try await service.store(request, for: OpenStore.actor(user: caller.peer.user))
        }
      },
      LoginMethods.delete.answered { request, caller in
        try await Self.reporting {
          try await service.delete(request, for: OpenStore.actor(user: caller.peer.user))
        }
      },
    ]
  }

  private static func reporting<R>(_ body: () async throws -> R) async throws -> R {
    do {
      return try await body()
    } catch is CancellationError {
      throw CommandFailure(.temporary, "the daemon ends: nothing was stored")
    } catch let error as KeychainError {
      // No other password helps against a store that is locked.
      throw VarlinkError(CommandFailure(error), code: VarlinkError.storeCode)
    }
  }
}
