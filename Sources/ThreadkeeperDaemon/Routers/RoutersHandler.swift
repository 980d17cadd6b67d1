// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import VarlinkSocket

/// Answers `io.threadkeeper.Routers` in the daemon.
struct RoutersHandler: LocalAPIHandler {
  let settings: Settings
  let ownership: OwnershipService
  let acceptance: AcceptanceService
  private let queue = HandlerQueue("routers")

  init(_ settings: Settings, ownership: OwnershipService, acceptance: AcceptanceService) {
    self.settings = settings
    self.ownership = ownership
    self.acceptance = acceptance
  }

  var interface: VarlinkInterface { .routers }

  var endpoints: [VarlinkEndpoint] {
    [
      RoutersMethods.remove.answered { request, caller in
        try await queue.run { [settings, ownership] in
          try RoutersService(
            settings: settings, ownership: ownership, actor: OpenStore.actor(user: caller.peer.user)
          ).remove(request)
        }
      },
      RoutersMethods.accept.answered { request, caller in
        try await accept(for: caller) { try $0.accept(request) }
      },
      RoutersMethods.acceptNetwork.answered { request, caller in
        try await accept(for: caller) { try $0.accept(request) }
      },
    ]
  }

  private func accept<Reply: Sendable>(
    for caller: VarlinkCaller,
    _ body: @escaping @Sendable (RouterAcceptanceService) throws -> Reply
  ) async throws -> Reply {
    try await queue.run { [settings, acceptance] in
      try body(
        RouterAcceptanceService(
          settings: settings, acceptance: acceptance,
          actor: OpenStore.actor(user: caller.peer.user)))
    }
  }
}
