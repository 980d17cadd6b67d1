// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import Foundation
import KeychainCore
import SealedEnvelope
import Settings
import SodiumCrypto
import TestKit
import ThreadDataset
import ThreadkeeperDaemon

/// A store that is exported and imported, with those who may have what is in it.
package struct MovedStore {
  package static let secret = "correct horse"

  package let store: TemporaryStore
  package let enrolments: ClientEnrolmentStore
  package var keychain: Keychain { store.keychain }
  package var ledger: ConsentLedger { ConsentLedger(keychain) }

  package init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "a test"
    store = try TemporaryStore(options: options)
    enrolments = ClientEnrolmentStore(store.keychain)
  }

  package static func settings(_ store: TemporaryStore) -> Settings {
    Settings(
      mqtt: .init(), store: .init(path: store.location.directory), alerts: .init(),
      preferred: .init(), presence: .init(), log: .init(), teams: [:],
      homes: [.init(name: "home", baseTopic: "threadkeeper")], stateDirectory: store.path)
  }

  private var service: ExportService {
    ExportService(
      keychain: keychain, settings: Self.settings(store), enrolments: enrolments
    ) { _, _ in }
  }

  // MARK: Moving

  /// - Returns: the path of the export.
  package func export(_ name: String = "export") throws -> String {
    let draft = try ExportDraft(store.path + "/" + name, replacing: true)
    _ = try service.export(.init(passphrase: Self.secret, file: draft.path), to: draft.descriptor)
    try draft.place()
    return draft.path
  }

  package func take(
    _ path: String, _ onConflict: ItemImport.OnConflict = .refuse, isTrial: Bool = false,
    credentialsOnly: Bool = false, with secret: String = MovedStore.secret
  ) throws -> (outcome: ImportOutcome, names: [ImportedName]) {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    var names: [ImportedName] = []
    var service = self.service
    service.named = { names.append($0) }
    let request = StoreMethods.Import(
      passphrase: secret, file: path, onConflict: onConflict, dryRun: isTrial,
      credentialsOnly: credentialsOnly)
    let outcome = try service.take(request, from: file.fileDescriptor)
    return (outcome, names)
  }

  package struct Unexpected: Error {}

  // MARK: Access

  package static func client(
    _ user: String, in home: String = "home", trust: EnrolledClient.Trust = .broker
  ) throws -> EnrolledClient {
    EnrolledClient(
      home: home, user: user, keys: try Identity().keys, trust: trust, enrolledAt: 1_800_000_000,
      enrolledBy: "a test")
  }

  package func enroll(_ users: String...) throws {
    try keychain.database.write { tx in
      _ = try enrolments.makeIdentity(tx)
      for user in users { try enrolments.enroll(Self.client(user), tx) }
    }
  }

  /// As `clients fingerprint` does it.
  package func showKeys() throws {
    _ = try keychain.database.write { try enrolments.makeIdentity($0) }
  }

  package func revoke(_ user: String) throws {
    _ = try keychain.database.write { try enrolments.revoke(user, in: "home", $0) }
  }

  /// - Parameter user: of the broker, who asks.
  @discardableResult
  package func ask(_ user: String) throws -> PendingConsent {
    try ask(ConsentRequester(.mqttUser(user), team: user))
  }

  private func ask(_ requester: ConsentRequester) throws -> PendingConsent {
    guard let id = ExtendedPANID(hex: "1111111122222222") else { throw Unexpected() }
    let subject = ConsentSubject(
      home: "home", command: "preferred/get",
      networks: [ConsentNetwork(id: id, name: "home-thread")])
    let outcome = try keychain.database.write {
      try ledger.ask(
        ConsentRequest(subject, by: requester, reply: .socket), now: Self.now, $0)
    }
    guard case .pending(let pending, _) = outcome else { throw Unexpected() }
    return pending
  }

  package func grant(_ user: String) throws {
    try grant(ConsentRequester(.mqttUser(user), team: user))
  }

  package func grant(_ requester: ConsentRequester) throws {
    let id = try ask(requester).id.description
    _ = try keychain.database.write {
      try ledger.approve(id, .always, by: .commandLine(user: 0), now: Self.now, $0)
    }
  }

  package func revokeGrants() throws {
    try keychain.database.write { tx in
      for grant in try ledger.grants(tx) {
        try ledger.revoke(
          grant.id.description, by: .commandLine(user: 0), now: Self.now, tx)
      }
    }
  }

  private static let now: Int64 = 1_795_235_760_000

  package func clients() throws -> [String] {
    try keychain.database.read { try enrolments.all($0).clients.map(\.user) }
  }

  package func grants() throws -> [String] {
    try keychain.database.read { try ledger.grants($0).map { "\($0.requester)" } }
  }

  package func history() throws -> Int {
    try keychain.database.read { try ledger.history(limit: .max, $0).count }
  }

  package func keys() throws -> PublicIdentity? {
    try keychain.database.read { try DaemonIdentityStore(keychain).find($0)?.keys }
  }
}
