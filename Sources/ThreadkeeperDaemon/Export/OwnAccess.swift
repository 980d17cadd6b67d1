// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase

/// What a store says itself about who may have what is in it.
struct OwnAccess {
  /// Whether it says anything. Then an export, which may be older than what was revoked since, has no say in that.
  let isDecided: Bool
  private let clients: [EnrolledClient]

  /// - Parameter exported: the store that an export is of. What is of this very store has no say, whatever was lost
  ///   here since.
  init(_ enrolments: ClientEnrolmentStore, exported: StoreID, _ tx: ReadTransaction) throws {
    let keychain = enrolments.keychain
    let isDecided = try exported == keychain.storeID || Self.isDecided(enrolments, tx)
    self.isDecided = isDecided
    clients = isDecided ? try enrolments.all(tx).clients : []
  }

  /// Whoever has enrolled a client, or taken clients over, uses its keys from then on, also when all of them are
  /// revoked. Keys that were only shown decide nothing, and neither does what was said to programs of this machine:
  /// that concerns no user of the broker.
  static func isDecided(_ enrolments: ClientEnrolmentStore, _ tx: ReadTransaction) throws -> Bool {
    let keychain = enrolments.keychain
    return try DaemonIdentityStore(keychain).isUsed(tx)
      || ConsentLedger(keychain).hasDecidedForBroker(tx) || enrolments.hasAny(tx)
  }

  /// Whether the client of an item is enrolled here, with the same keys.
  func hasEnrolled(_ item: NewItem) -> Bool {
    guard let other = EnrolledClient(imported: item) else { return false }
    return clients.contains {
      !$0.isRevoked && $0.keys == other.keys && $0.user.utf8.elementsEqual(other.user.utf8)
        && $0.home.utf8.elementsEqual(other.home.utf8)
    }
  }
}
