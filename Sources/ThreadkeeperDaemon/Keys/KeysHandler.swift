// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// Answers `io.threadkeeper.Keys` in the daemon.
struct KeysHandler: LocalAPIHandler {
  /// From one look at a rotation to the next.
  private static let interval = Duration.milliseconds(100)

  let service: StoreService

  var interface: VarlinkInterface { .keys }

  var endpoints: [VarlinkEndpoint] {
    [
      KeysMethods.list.answered { _, _ in try await service.listKeys() },
      KeysMethods.add.answered { request, caller in
        try await service.addKey(request, for: OpenStore.actor(user: caller.peer.user))
      },
      KeysMethods.remove.answered { request, caller in
        try await service.removeKey(request, for: OpenStore.actor(user: caller.peer.user))
      },
      KeysMethods.rotate.answered { request, caller, replies in
        var report = try await service.beginRotation(
          request, for: OpenStore.actor(user: caller.peer.user))
        // The daemon goes on with it, also without the caller. One that ends says how far it is.
        while report.rotation?.running == true, !Task.isCancelled {
          try await replies.send(report)
          report = try await next(after: report)
        }
        return report
      },
    ]
  }

  /// The rotation as soon as it is another one; as it is where the daemon ends.
  private func next(after last: StoreReport) async throws -> StoreReport {
    while true {
      try? await Task.sleep(for: Self.interval)
      let now = service.rotation.withLock { $0.report }
      if now != last.rotation || Task.isCancelled { return StoreReport(rotation: now) }
    }
  }
}
