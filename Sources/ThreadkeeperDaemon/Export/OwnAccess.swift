// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore

/// What a store says itself about who may have what is in it. All of an export comes only into one that says nothing:
/// an older export would bring back who was revoked since.
struct OwnAccess {
  /// Enrolled or revoked.
  private var clients = 0
  /// "Always".
  private var consents = 0
  /// Border agent ids that belong to a team.
  private var owned = 0

  var isEmpty: Bool { clients + consents + owned == 0 }

  /// Looks at all generic passwords.
  ///
  /// - Throws: `decode` where one cannot be read: it may be any of these.
  init(_ keychain: Keychain, _ tx: ReadTransaction) throws(KeychainError) {
    var row: Int64 = 0
    while true {
      let items = try keychain.items(
        matching: ItemQuery(.genericPassword, limit: 1_000, after: row), in: tx)
      for item in items { count(item) }
      guard let last = items.last else { return }
      row = last.rowID
    }
  }

  private mutating func count(_ item: Item) {
    let service = item[.service]?.string ?? ""
    if OwnedID(item) != nil {
      owned += 1
    } else if item.accessGroup == ThreadCredentialStore.internalGroup {
      if service == ConsentLedger.Service.grant.rawValue { consents += 1 }
      if ClientEnrolmentStore.home(ofService: service) != nil { clients += 1 }
    }
  }

  /// - Throws: `CommandFailure` where there is any.
  func check() throws(CommandFailure) {
    guard !isEmpty else { return }
    let parts = [
      (clients, "client", "clients"), (consents, "consent \"always\"", "consents \"always\""),
      (owned, "border router", "border routers"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
    throw CommandFailure(
      .cannotCreate,
      "this store has access rights of its own (\(parts.joined(separator: ", "))): nothing is imported",
      remedy:
        "--credentials-only takes the credentials and the preferred network; a new store takes all")
  }
}
