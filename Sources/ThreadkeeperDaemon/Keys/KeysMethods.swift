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
  package static let rotate = VarlinkMethod<Rotation, StoreReport>(
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
    /// What is to open the store from then on.
    package var secrets: [StoreSecret]
    /// Also when slots go.
    package var isConfirmed: Bool?
    /// Deletes the items for this device only whose device key is gone.
    package var deletesDeviceItems: Bool?

    package init(
      secrets: [StoreSecret], isConfirmed: Bool? = nil, deletesDeviceItems: Bool? = nil
    ) {
      self.secrets = secrets
      self.isConfirmed = isConfirmed
      self.deletesDeviceItems = deletesDeviceItems
    }
  }
}

/// Answers `io.threadkeeper.Keys` in the daemon.
struct KeysHandler: LocalAPIHandler {
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
      KeysMethods.rotate.answered { request, caller in
        try await service.rotate(request, for: OpenStore.actor(user: caller.peer.user))
      },
    ]
  }
}
