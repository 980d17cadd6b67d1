// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// Answers `io.threadkeeper.Store` in the daemon.
struct StoreHandler: LocalAPIHandler {
  let service: StoreService

  var interface: VarlinkInterface { .store }

  var endpoints: [VarlinkEndpoint] {
    [
      StoreMethods.lock.answered { _, caller in
        try await service.lock(for: OpenStore.actor(user: caller.peer.user))
      },
      StoreMethods.unlock.answered { request, caller in
        try await service.unlock(
          request.secret, for: OpenStore.actor(user: caller.peer.user))
      },
    ]
  }
}
