// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

extension ClientEnrolmentStore {
  package enum Change: String, Sendable {
    case enrolled
    /// The user had other keys, another trust or another label.
    case updated
  }

  /// Enrols a client, or replaces its enrolment, a damaged one too.
  @discardableResult
  package func enroll(
    _ client: EnrolledClient, _ tx: WriteTransaction
  ) throws(KeychainError) -> Change {
    forget()
    let secret = try EnrolmentRecord(client).secret
    if let item = try keychain.items(matching: Self.query(client.user, in: client.home), in: tx)
      .first
    {
      try keychain.update(
        item, attributes: [.label: .string(client.label)], secret: secret, in: tx)
      return .updated
    }
    var attributes = Self.query(client.user, in: client.home).attributes
    attributes[.label] = .string(client.label)
    attributes[.itemDescription] = .string("enrolled client")
    try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: secret, accessible: .afterFirstUnlock),
      in: tx)
    return .enrolled
  }

  /// What this user signs counts no more, from the next transaction on.
  ///
  /// - Parameter forgets: nothing is left of it, so that what comes under the user's name in plaintext is
  ///   believed. Else it is believed no more than before.
  /// - Returns: whether there was an enrolment.
  /// - Throws: `decode` for a damaged one, unless it forgets.
  package func revoke(
    _ user: String, in home: String, forgets: Bool = false, _ tx: WriteTransaction
  ) throws(KeychainError) -> Bool {
    forget()
    guard let item = try keychain.items(matching: Self.query(user, in: home), in: tx).first else {
      return false
    }
    if !forgets {
      // Of a damaged one nobody knows what its user may do: it stays, and
      // nothing is believed.
      guard var client = try client(user, in: home, tx) else { return false }
      if client.trust == .signed {
        guard !client.isRevoked else { return false }
        client.isRevoked = true
        try keychain.update(item, secret: EnrolmentRecord(client).secret, in: tx)
        return true
      }
    }
    try keychain.delete(item, in: tx)
    return true
  }
}
