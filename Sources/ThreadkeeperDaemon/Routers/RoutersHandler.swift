// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings

/// Answers `routers transfer`, `release` and `remove` in the daemon.
typealias RoutersHandler = DaemonRequestHandler<RoutersRequest>

extension RoutersHandler {
  init(_ settings: Settings, ownership: OwnershipService) {
    self.init(queue: "routers") { request, user in
      try RoutersService(
        settings: settings, ownership: ownership, actor: OpenStore.actor(user: user)
      ).answer(request)
    }
  }
}
