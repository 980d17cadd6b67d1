// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import SodiumCrypto

/// The enrolled clients of every home, as keychain items:
///
/// | what | service | account | group | secret |
/// |---|---|---|---|---|
/// | enrolled client | `client-enrolment/<home>` | user | `threadkeeper.internal` | keys, trust, when, by whom |
/// | the daemon's own keys | `keeper-identity` | empty | `threadkeeper.internal` | 64 bytes |
///
/// Every call takes the transaction that it belongs to. A process that writes has one of these for each
/// keychain, since it remembers what it has read.
package final class ClientEnrolmentStore: Sendable {
  static let group = "threadkeeper.internal"
  package static let servicePrefix = "client-enrolment/"
  /// Users that are remembered; more than any home has. A flood of invented names must not fill the memory.
  private static let remembered = 10_000

  package let keychain: Keychain
  private let daemon = Locked<Identity?>(nil)
  private let memory = Locked<[Name: Result<EnrolledClient?, KeychainError>]>([:])

  /// Compared by its bytes, as the broker does it.
  private struct Name: Hashable {
    let home: [UInt8]
    let user: [UInt8]
  }

  package init(_ keychain: Keychain) {
    self.keychain = keychain
  }

  /// - Throws: `decode` when the enrolment is damaged: then nobody knows what this user may do.
  package func client(
    _ user: String, in home: String, _ tx: ReadTransaction
  ) throws(KeychainError) -> EnrolledClient? {
    guard let found = try keychain.first(matching: Self.query(user, in: home), in: tx) else {
      return nil
    }
    return try EnrolmentRecord(found.secret).client(
      of: user, in: home, label: found.item[.label]?.string ?? "")
  }

  /// The same, read from the store but once: for every message. There is one writer at a time, and who
  /// writes forgets, so an enrolment that changes counts from the next transaction on.
  package func remembered(
    _ user: String, in home: String, _ tx: WriteTransaction
  ) throws(KeychainError) -> EnrolledClient? {
    let name = Name(home: Array(home.utf8), user: Array(user.utf8))
    if let known = memory.withLock({ $0[name] }) { return try known.get() }
    let found = Result { () throws(KeychainError) in try client(user, in: home, tx) }
    if case .failure(let error) = found, error.status != .decode { throw error }
    memory.withLock {
      if $0.count >= Self.remembered { $0.removeAll() }
      $0[name] = found
    }
    return try found.get()
  }

  /// All of a home, or of every home, by name.
  ///
  /// - Returns: the clients, and the users whose enrolment is damaged.
  package func all(
    in home: String? = nil, _ tx: ReadTransaction
  ) throws(KeychainError) -> (clients: [EnrolledClient], damaged: [String]) {
    var clients: [EnrolledClient] = []
    var damaged: [String] = []
    var attributes: ItemAttributes = [.accessGroup: .string(Self.group)]
    if let home { attributes[.service] = .string(Self.servicePrefix + home) }
    let items = try keychain.items(
      matching: ItemQuery(.genericPassword, attributes, unreadable: .skip), in: tx)
    for item in items {
      guard let home = item[.service]?.string.flatMap(Self.home(ofService:)) else { continue }
      let user = item[.account]?.string ?? ""
      do throws(KeychainError) {
        clients.append(
          try EnrolmentRecord(keychain.secret(of: item, in: tx)).client(
            of: user, in: home, label: item[.label]?.string ?? ""))
      } catch {
        guard error.isItemDamaged else { throw error }
        damaged.append(user)
      }
    }
    return (clients.sorted { ($0.home, $0.user) < ($1.home, $1.user) }, damaged.sorted())
  }

  /// Of which home's clients a service is; nil for another one. Told by bytes: a mark that combines with the
  /// slash makes another letter of it, and no other service.
  package static func home(ofService service: String) -> String? {
    guard service.utf8.starts(with: servicePrefix.utf8) else { return nil }
    return String(Substring(service.utf8.dropFirst(servicePrefix.utf8.count)))
  }

  /// The daemon's own keys, as far as they were loaded or made here.
  package var identity: Identity? { daemon.withLock { $0 } }

  /// Reads the daemon's own keys; nil while nobody has needed any.
  ///
  /// - Throws: `decode` when they are damaged.
  @discardableResult
  package func loadIdentity(_ tx: ReadTransaction) throws(KeychainError) -> Identity? {
    let found = try DaemonIdentityStore(keychain).find(tx)
    daemon.withLock { $0 = found }
    return found
  }

  /// The same, and makes them where there are none. They count when the transaction is committed: keys
  /// that a rollback has undone must not sign anything.
  package func makeIdentity(_ tx: WriteTransaction) throws(KeychainError) -> Identity {
    let identity = try DaemonIdentityStore(keychain).findOrMake(tx)
    remember(identity, tx)
    return identity
  }

  private func remember(_ identity: Identity?, _ tx: WriteTransaction) {
    tx.onCommit("daemon identity") { [daemon] in daemon.withLock { $0 = identity } }
  }

  func forget() { memory.withLock { $0.removeAll() } }

  static func query(_ user: String, in home: String) -> ItemQuery {
    ItemQuery(
      .genericPassword,
      [
        .service: .string(servicePrefix + home), .account: .string(user),
        .accessGroup: .string(group),
      ], limit: 1)
  }
}

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

/// A user of the broker whose keys the daemon knows.
package struct EnrolledClient: Sendable {
  /// What the daemon takes from this user.
  package enum Trust: String, CaseIterable, Codable, Sendable {
    /// The broker's word is enough: plain events are taken too.
    case broker
    /// Only what this user has signed counts. For brokers where several share a login.
    case signed
  }

  package let home: String
  package let user: String
  package var keys: PublicIdentity
  package var trust: Trust
  /// For people; may be empty.
  package var label: String
  /// Unix seconds.
  package var enrolledAt: Int64
  package var enrolledBy: String
  /// Its keys count no more. It is kept of users whose trust was `signed`: what comes under their names
  /// in plaintext is believed as little as before.
  package var isRevoked = false

  package init(
    home: String, user: String, keys: PublicIdentity, trust: Trust = .broker, label: String = "",
    enrolledAt: Int64, enrolledBy: String
  ) {
    self.home = home
    self.user = user
    self.keys = keys
    self.trust = trust
    self.label = label
    self.enrolledAt = enrolledAt
    self.enrolledBy = enrolledBy
  }
}
