// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What an import is to the bridge")
struct ImportTests {
  let (old, new): (TestBridge, TestBridge)
  let home = SampleNetwork.home

  init() throws {
    (old, new) = (try TestBridge(), try TestBridge())
  }

  /// Everything of the old daemon's store comes to the new one's.
  @discardableResult
  private func move(_ onConflict: ItemImport.OnConflict = .refuse) throws -> ImportReport {
    let path = old.temporary.path + "/export"
    let passphrase = SecretBytes(copying: Array("a passphrase".utf8))
    let draft = try ExportDraft(path, replacing: true)
    _ = try old.temporary.keychain.exportItems(
      to: draft.descriptor, name: path, passphrase: passphrase)
    try draft.place()
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    var written: [OwnedID] = []
    var plan = ItemImport()
    plan.onConflict = onConflict
    plan.isMeant = { StoredPlace($0.itemClass, $0.attributes)?.kind != .adoption }
    let settlement = ImportSettlement(
      new.configuration, keychain: new.temporary.keychain, clock: new.clock)
    var former: [String: OperationalDataset] = [:]
    plan.begin = { former = try settlement.preferredNetworks($0) }
    plan.wrote = { if let id = OwnedID($0), id.hasCredentials { written.append(id) } }
    plan.rival = { [new] in
      try ThreadCredentialStore(new.temporary.keychain).rival(of: $0, $1)
    }
    plan.willCommit = { try settlement.settle(written, former: former, $0) }
    return try new.temporary.keychain.importItems(
      from: file.fileDescriptor, name: path, passphrase: passphrase, plan)
  }

  private func settle() throws {
    for _ in 0..<3 { try new.pass() }
    #expect(try new.home().reevaluateAfter == nil)
    try Recount(bridge: new, comment: "after the import").check()
  }

  @Test("A new daemon shows the preferred network, and knows routers when they speak")
  func fresh() throws {
    try old.announce(Agent.living, home, at: 5)
    try old.announce(Agent.attic, .guest, at: 1)
    #expect(try move().added == 3)
    #expect(try new.preferred() == (try home.dataset(at: 5)))
    #expect(try new.home().preferredName == "home")
    let network = try #require(try new.network(home))
    #expect(network.name == "home" && network.routers == 0)
    #expect(try new.network(.guest) == nil && new.router(Agent.living) == nil)
    #expect(try new.takeNames() == ["preferred_changed"])
    try settle()
    #expect(try new.firing().isEmpty)

    try new.announce(Agent.living, home, at: 5)
    #expect(try new.router(Agent.living)?.preferred == "match")
    #expect(try new.credential(Agent.living)?.followsPreferred == true)
    try new.announce(Agent.attic, .guest, at: 1)
    #expect(try new.router(Agent.attic)?.preferred == "mismatch")
    #expect(try new.network(home)?.routers == 1 && new.network(.guest)?.routers == 1)
    // An id still belongs to its team.
    _ = try new.takeEvents()
    try new.announce(Agent.living, .guest, at: 9, user: "mallory")
    #expect(try new.takeNames() == ["message_rejected"])
  }

  @Test("A router that is here without credentials has those of the import at once")
  func missing() throws {
    try old.announce(Agent.living, home, at: 5)
    try new.say(.announce, Agent.living)
    #expect(try new.router(Agent.living)?.credential == .missing)
    #expect(try new.alert(.credentialsMissing, Agent.living) != nil)
    try move()
    let router = try #require(try new.router(Agent.living))
    #expect(router.credential == .stored && router.preferred == "match")
    #expect(router.networkName == "home")
    #expect(try new.alert(.credentialsMissing, Agent.living) == nil)
    #expect(try new.network(home)?.routers == 1 && new.network(home)?.online == 1)
    try settle()
    #expect(try new.network(home)?.routers == 1)
  }

  @Test("What another daemon has sent to a router is not waited for")
  func adoption() throws {
    try old.announce(Agent.living, home, at: 5)
    try old.announce(Agent.attic, .guest, at: 1)
    let credential = try #require(try old.credential(Agent.attic))
    let preferred = try home.dataset(at: 5)
    try old.database.write { tx in
      try old.store.save(
        Adoption(
          home: "home", agent: credential.agent, user: "anna", key: "0123456789abcdef",
          phase: .sent, consent: "c-1",
          id: "a-1", preferred: preferred, reported: credential.dataset), tx)
    }
    let report = try move()
    #expect(report.leftOut == 1)
    #expect(try new.credential(Agent.attic)?.dataset == credential.dataset)
    #expect(
      try new.database.read { try new.store.adoption(of: credential.agent, in: "home", $0) } == nil)
    try settle()
  }

  @Test(
    "What another daemon has sent changes nothing that is this one's own", arguments: [false, true])
  func adoptionHere(_ replaces: Bool) throws {
    try old.announce(Agent.living, home, at: 5)
    try old.announce(Agent.attic, .guest, at: 1)
    let credential = try #require(try old.credential(Agent.attic))
    let preferred = try home.dataset(at: 5)
    func adoption(_ user: String, _ phase: Adoption.Phase) -> Adoption {
      Adoption(
        home: "home", agent: credential.agent, user: user, key: "0123456789abcdef", phase: phase,
        consent: "c-1", id: "a-1", preferred: preferred, reported: credential.dataset)
    }
    // What is here is what the import has, so it does not write it.
    try move()
    for (bridge, user) in [(old, "anna"), (new, "bob")] {
      try bridge.database.write { try bridge.store.save(adoption(user, .sent), $0) }
    }
    let report = try move(replaces ? .replace : .refuse)
    #expect(report.conflicts == 0 && report.leftOut == 1 && report.isDone)
    #expect(try new.credential(Agent.attic)?.dataset == credential.dataset)
    let kept = try new.database.read {
      try new.store.adoption(of: credential.agent, in: "home", $0)
    }
    #expect(kept?.user == "bob" && kept?.phase == .sent)
  }

  @Test("Another preferred network is a conflict: kept, or replaced and every router checked again")
  func conflict() throws {
    try old.announce(Agent.living, home, at: 5)
    try new.announce(Agent.attic, .guest, at: 1)
    _ = try new.takeEvents()
    #expect(try move().conflicts == 1)
    #expect(try new.credential(Agent.living) == nil && new.takeNames().isEmpty)
    #expect(try move(.keep).kept == 1)
    #expect(try new.preferred() == (try SampleNetwork.guest.dataset(at: 1)))
    #expect(try new.credential(Agent.living) != nil)
    #expect(try move(.replace).replaced == 1)
    #expect(try new.preferred() == (try home.dataset(at: 5)))
    #expect(try new.takeNames().contains("preferred_changed"))
    let kept = try new.database.read { try new.store.formerNetworks(of: "home", $0) }
    #expect(kept.map(\.networkName) == ["guest-thread"])
    #expect(
      try new.alert(.preferredNetworkChanged)?.facts.summary.contains("came with an import") == true
    )
    try settle()
    #expect(try new.router(Agent.attic)?.preferred == "mismatch")
    #expect(try new.network(home)?.routers == 0 && new.network(.guest)?.routers == 1)
  }

  @Test("What was replaced is shown, and an import of the same says nothing")
  func replaced() throws {
    try new.announce(Agent.living, home, at: 5)
    try old.announce(Agent.living, home.with { $0.channel = 20 }, at: 9)
    try move(.replace)
    #expect(try new.router(Agent.living)?.channel == 20)
    #expect(try new.router(Agent.living)?.preferred == "match")
    #expect(try new.network(home)?.channel == 20 && new.network(home)?.routers == 1)
    _ = try new.takeEvents()
    #expect(try move().unchanged == 2)
    #expect(try new.takeNames().isEmpty)
  }

  @Test("Credentials of a router that belongs to another team here are a conflict")
  func ownerHere() throws {
    try old.announce(Agent.attic, home, at: 5, user: "bob")
    try new.announce(Agent.attic, home, at: 5)
    try new.say(.leave, Agent.attic)
    #expect(try move().conflicts == 1)
    #expect(try move(.keep).kept == 1)
    #expect(try new.credential(Agent.attic) == nil)
    #expect(try move(.replace).replaced == 1)
    let team = try #require(try new.credential(Agent.attic)).team
    let former = try new.database.read {
      try ThreadCredentialStore(new.temporary.keychain).formerOwner(
        of: agent(Agent.attic), in: "home", $0)
    }
    #expect(team == (try old.credential(Agent.attic)?.team) && former == nil)
    #expect(try move().conflicts == 0)
  }

  @Test("An import that cannot be settled is none")
  func undone() throws {
    try old.announce(Agent.living, home, at: 5)
    try new.database.write { try $0.execute("DROP TABLE network") }
    #expect(throws: KeychainError.self) { try move() }
    #expect(try new.preferred() == nil && new.credential(Agent.living) == nil)
  }
}
