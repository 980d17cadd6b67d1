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
