// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// `io.threadkeeper.Keys`: what opens the store.
package enum KeysMethods {
  private static let interface = VarlinkInterface.keys.name

  package static let list = VarlinkMethod<VarlinkNothing, StoreReport>(
    interface, "List", for: .reader)
  package static let add = VarlinkMethod<Addition, StoreReport>(interface, "Add", for: .owner)
  package static let remove = VarlinkMethod<Removal, StoreReport>(
    interface, "Remove", for: .owner)
  package static let rotate = VarlinkStream<Rotation, StoreReport>(
    interface, "Rotate", for: .owner)

  package struct Addition: Codable, Sendable {
    package var secret: StoreSecret
    package var label: String?

    package init(secret: StoreSecret, label: String? = nil) {
      self.secret = secret
      self.label = label
    }
  }

  package struct Removal: Codable, Sendable {
    package var slot: Int64
    /// Also the last passphrase, or what leaves no slot that is known to open.
    package var isConfirmed: Bool?

    package init(slot: Int64, isConfirmed: Bool) {
      self.slot = slot
      self.isConfirmed = isConfirmed
    }
  }

  package struct Rotation: Codable, Sendable {
    /// New root keys too, sealed for these.
    package var roots: [StoreSecret]?
    /// Also when slots go.
    package var isConfirmed: Bool?
    /// With new root keys: deletes the items for this device only whose device key is gone.
    package var deletesDeviceItems: Bool?

    package init(
      roots: [StoreSecret]? = nil, isConfirmed: Bool? = nil, deletesDeviceItems: Bool? = nil
    ) {
      self.roots = roots
      self.isConfirmed = isConfirmed
      self.deletesDeviceItems = deletesDeviceItems
    }
  }
}

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
