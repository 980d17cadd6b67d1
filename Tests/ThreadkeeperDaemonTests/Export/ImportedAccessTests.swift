// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import ConsentLedger
import DaemonTestKit
import Foundation
import KeychainCore
import SealedEnvelope
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("Who may have what is in a store, and an import", .timeLimit(.minutes(30)))
struct ImportedAccessTests {
  private static let consent =
    #"preferred/get "home-thread" (1111111122222222), home home to login phone (team phone)"#
  private static let router = "a1b2c3d4e5f60718"

  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
  }

  private func add(_ item: NewItem, to store: MovedStore) throws {
    try store.keychain.database.write { [keychain = store.keychain] in
      _ = try keychain.add(item, in: $0)
    }
  }

  private func owner(_ team: String) -> NewItem {
    var item = MovedStore.item("thread-owner/home", account: Self.router, [])
    item.attributes[.label] = .string(team)
    return item
  }

  private func credential(_ team: String) throws -> NewItem {
    let dataset = try SampleNetwork.home.dataset(at: 1).bytes
    var item = MovedStore.item("thread-network/home", account: Self.router, dataset)
    item.attributes[.accessGroup] = .string(team)
    return item
  }

  private func refusal(_ path: String, isTrial: Bool = false) -> CommandFailure? {
    #expect(throws: CommandFailure.self) {
      try new.take(path, .replace, isTrial: isTrial)
    }
  }

  @Test(
    "A store without access rights takes enrolments, consents and the daemon's keys, and names them"
  )
  func newStore() throws {
    try old.fill()
    let path = try old.export()
    let trial = try new.take(path, isTrial: true).outcome
    #expect(trial.leftOut == 2 && trial.added == 4 && !trial.imported)
    #expect(try new.keys() == nil)
    let (outcome, names) = try new.take(path)
    #expect(outcome.leftOut == 2 && outcome.added == 4 && outcome.imported)
    #expect(
      names == [
        ImportedName(client: "hub, home home"), ImportedName(client: "router, home home"),
        ImportedName(consent: Self.consent),
      ])
    #expect(try new.clients() == ["hub", "router"] && new.grants() == ["login phone (team phone)"])
    let keys = try #require(try old.keys())
    #expect(try new.keys() == keys && new.enrolments.identity?.keys == keys)
    #expect(try new.history() == 0)
    #expect(try new.keychain.verify(.everything) == VerificationReport(items: 4))
  }

  /// What a store may have of its own.
  enum Own: CaseIterable {
    case client, revokedClient, consent, localConsent, credential, owner

    var message: String {
      switch self {
      case .client, .revokedClient: "(1 client)"
      case .consent, .localConsent: "(1 consent \"always\")"
      case .credential, .owner: "(1 border router)"
      }
    }
  }

  @Test("A store with access rights of its own refuses all of an export", arguments: Own.allCases)
  func refused(_ own: Own) throws {
    try old.fill()
    let path = try old.export()
    switch own {
    case .client: try new.enroll("lamp")
    case .revokedClient:
      try new.keychain.database.write { tx in
        _ = try new.enrolments.enroll(MovedStore.client("lamp", trust: .signed), tx)
      }
      try new.revoke("lamp")
    case .consent: try new.grant("watch")
    case .localConsent:
      try new.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    case .credential: try add(credential("team-a"), to: new)
    case .owner: try add(owner("team-a"), to: new)
    }
    let before = try new.keychain.database.read { try new.keychain.count(in: $0) }
    for isTrial in [true, false] {
      let failure = try #require(refusal(path, isTrial: isTrial))
      #expect(
        failure.status == .cannotCreate && failure.message.contains(own.message), "\(failure)")
      #expect(failure.remedy?.contains("--credentials-only") == true)
    }
    #expect(try new.keychain.database.read { try new.keychain.count(in: $0) } == before)
  }

  @Test("An item that cannot be read may be an access right: then all of an export is refused")
  func damaged() throws {
    try old.fill()
    let path = try old.export()
    try new.keychain.database.write { [keychain = new.keychain] tx in
      let added = try keychain.add(MovedStore.item("thread-consent/grant"), in: tx)
      try tx.execute(
        "UPDATE items SET metadata = zeroblob(length(metadata)) WHERE id = ?",
        .integer(added.rowID))
    }
    #expect(refusal(path)?.status == .badInput)
    #expect(try new.take(path, credentialsOnly: true).outcome.leftOut == 6)
  }

  @Test("What was revoked stays so after an older export of the store")
  func revoked() throws {
    try old.fill()
    let path = try old.export()
    try old.revoke("router")
    #expect(throws: CommandFailure.self) { try old.take(path, .replace) }
    let outcome = try old.take(path, .replace, credentialsOnly: true).outcome
    #expect(outcome.imported && outcome.leftOut == 6 && outcome.added == 0)
    #expect(try old.clients() == ["hub"])
  }

  @Test("Credentials and the preferred network come into any store, and nothing with them")
  func credentialsOnly() throws {
    try old.fill()
    try add(credential("team-a"), to: old)
    var preferred = try credential("threadkeeper.internal")
    preferred.attributes[.service] = .string("thread-preferred/home")
    preferred.attributes[.account] = .string("")
    try add(preferred, to: old)
    try add(MovedStore.item("thread-owner/home", account: "ffffffffffffffff", []), to: old)
    try new.enroll("lamp")
    let keys = try new.keys()
    let (outcome, names) = try new.take(try old.export(), credentialsOnly: true)
    #expect(outcome.imported && outcome.added == 2 && outcome.leftOut == 7 && names.isEmpty)
    #expect(try new.clients() == ["lamp"] && new.grants().isEmpty && new.keys() == keys)
  }

  @Test("A revocation comes to a new store as such, and is not named as access")
  func revocations() throws {
    try old.keychain.database.write { tx in
      _ = try old.enrolments.makeIdentity(tx)
      try old.enrolments.enroll(MovedStore.client("router", trust: .signed), tx)
    }
    try old.revoke("router")
    #expect(try new.take(try old.export()).names.isEmpty)
    let revoked = try new.keychain.database.read { try new.enrolments.all($0).clients }
    #expect(revoked.map(\.user) == ["router"] && revoked.allSatisfy(\.isRevoked))
  }

  @Test("A consent for a user of the machine stays there: the number is somebody else's elsewhere")
  func localUser() throws {
    try old.grant(ConsentRequester(.systemUser(1000), team: "user/uid-1000", program: "homes"))
    try old.grant("phone")
    let (outcome, names) = try new.take(try old.export())
    #expect(outcome.leftOut == 3 && names == [ImportedName(consent: Self.consent)])
    #expect(try new.grants() == ["login phone (team phone)"])
  }

  @Test(
    "Keys that were only shown give way to those of the export, which its clients seal to",
    arguments: ItemImport.OnConflict.allCases)
  func shownKeys(_ onConflict: ItemImport.OnConflict) throws {
    try old.fill()
    let path = try old.export()
    try new.showKeys()
    let shown = try #require(try new.keys())
    let outcome = try new.take(path, onConflict).outcome
    #expect(outcome.conflicts == 0 && outcome.replaced == 1 && outcome.added == 3)
    let keys = try old.keys()
    #expect(try new.keys() == keys && keys != shown && new.enrolments.identity?.keys == keys)
  }

  @Test("A daemon that has looked for a client knows it once it is imported; and not before")
  func cache() throws {
    try old.fill()
    let path = try old.export()
    func known() throws -> PublicIdentity? {
      try new.keychain.database.write {
        try new.enrolments.remembered("router", in: "home", $0)?.keys
      }
    }
    #expect(try known() == nil)
    _ = try new.take(path, isTrial: true)
    #expect(try known() == nil)
    _ = try new.take(path)
    #expect(try known() != nil)
  }

  @Test("Homes that the settings do not name are reported, also those of clients")
  func homes() throws {
    try old.keychain.database.write { tx in
      _ = try old.enrolments.enroll(MovedStore.client("lamp", in: "villa"), tx)
    }
    let path = try old.export()
    #expect(try new.take(path, isTrial: true).outcome.unknownHomes == ["villa"])
    #expect(try new.take(path, credentialsOnly: true).outcome.unknownHomes.isEmpty)
  }

  @Test("A refused enrolment leaves no keys")
  func refusedEnrolment() throws {
    let service = EnrolmentService(
      settings: MovedStore.settings(new.store), enrolments: new.enrolments, actor: "a test")
    #expect(throws: CommandFailure.self) {
      try service.enroll(.init(home: "elsewhere", user: "hub", line: Identity().keys.line))
    }
    #expect(try new.keys() == nil)
    _ = try service.enroll(.init(home: "home", user: "hub", line: try Identity().keys.line))
    #expect(try new.keys() != nil)
  }
}
