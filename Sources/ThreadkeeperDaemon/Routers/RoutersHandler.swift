// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import VarlinkSocket

/// Answers `io.threadkeeper.Routers` in the daemon.
struct RoutersHandler: LocalAPIHandler {
  let settings: Settings
  let ownership: OwnershipService
  private let queue = HandlerQueue("routers")

  init(_ settings: Settings, ownership: OwnershipService) {
    self.settings = settings
    self.ownership = ownership
  }

  var interface: VarlinkInterface { .routers }

  var endpoints: [VarlinkEndpoint] {
    [
      RoutersMethods.transfer.answered { request, caller in
        try await fulfil(for: caller) { try $0.transfer(request) }
      },
      RoutersMethods.release.answered { request, caller in
        try await fulfil(for: caller) { try $0.release(request) }
      },
      RoutersMethods.remove.answered { request, caller in
        try await fulfil(for: caller) { try $0.remove(request) }
      },
    ]
  }

  private func fulfil(
    for caller: VarlinkCaller,
    _ body: @escaping @Sendable (RoutersService) throws -> RoutersReport
  ) async throws -> RoutersReport {
    try await queue.run { [settings, ownership] in
      try body(
        RoutersService(
          settings: settings, ownership: ownership, actor: OpenStore.actor(user: caller.peer.user)))
    }
  }
}
