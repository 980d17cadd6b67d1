// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// Both root keys, whether the store is locked or not.
struct RootKeys {
  typealias Root = (id: KeyID, key: GuardedKey)

  let master: Root
  let session: Root

  /// What comes after these.
  func next(in arena: KeyArena) throws -> RootKeys {
    RootKeys(
      master: (KeyID(.master, epoch: master.id.epoch + 1), try arena.randomKey()),
      session: (KeyID(.session, epoch: session.id.epoch + 1), try arena.randomKey()))
  }

  /// What wraps the key of a purpose.
  func wrapper(of purpose: KeyPurpose) -> Root {
    purpose.accessibility?.wrapper == .session ? session : master
  }
}
