// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SodiumCrypto
import TestKit
import Testing
import ThreadCredentialStore
import ThreadRequests

@testable import Bridge

@Suite("Damaged credentials")
struct DamagedCredentialTests {
  let keeper: Keeper

  init() throws {
    keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 5)
    try keeper.announce(Agent.attic, .home, at: 5)
    try keeper.say(.heartbeat, Agent.living)
    try keeper.damageCredential(of: Agent.living)
    _ = try keeper.takeEvents()
  }

  @Test("What concerns them is refused by name, and the rest of the batch arrives")
  func batch() throws {
    for kind in [InboundEventKind.announce, .dataset, .leave] {
      let fields: [String: Any] =
        kind == .leave ? [:] : ["dataset": try SampleNetwork.home.dataset(at: 6).hex]
      let counts = try keeper.receive([
        try keeper.message(.announce, Agent.attic, ["name": "Attic \(kind)"]),
        try keeper.message(kind, Agent.living, fields),
        try keeper.message(.announce, Agent.garage, ["name": "Garage \(kind)"]),
      ])
      #expect(counts.rejected == ["damaged_credentials": 1])
      #expect(try keeper.router(Agent.attic)?.name == "Attic \(kind)")
      #expect(try keeper.router(Agent.garage)?.name == "Garage \(kind)")
      let event = try #require(try keeper.takeEvents().first { $0.types == .messageRejected })
      #expect(event.detail.field == "border_agent_id")
      #expect(event.detail.message?.contains("credentials delete") == true)
    }
    #expect(try keeper.router(Agent.living)?.networkName == "home")
    #expect(try keeper.home().routers == 3)
  }

  @Test("The remedy that is named works")
  func remedy() throws {
    #expect(try keeper.removeCredential(of: Agent.living))
    #expect(try keeper.router(Agent.living)?.credential == .missing)
    #expect(try keeper.announce(Agent.living, .home, at: 6).rejected.isEmpty)
    #expect(try keeper.credential(Agent.living)?.dataset.activeTimestamp?.seconds == 6)
  }

  @Test("The clock goes on for everybody else: silence, alerts, checks")
  func ticks() throws {
    try keeper.say(.heartbeat, Agent.attic)
    try keeper.announce(Agent.garage, .guest, at: 1)
    try keeper.announce(Agent.attic, SampleNetwork.home.with { $0.channel = 20 }, at: 6)
    for _ in 0..<7 { try keeper.pass(100) }
    #expect(try keeper.home().reevaluateAfter == nil)
    #expect(try keeper.router(Agent.attic)?.isOnline == false)
    #expect(try keeper.router(Agent.living)?.isOnline == false)
    #expect(try keeper.firing().contains("PreferredNetworkMismatch \(Agent.garage)"))
    #expect(try keeper.firing().contains("BorderRouterOffline \(Agent.attic)"))
  }

  @Test("A credential whose attributes are damaged, too, lets the walk of a start go on")
  func walk() throws {
    try keeper.damageCredential(of: Agent.attic, .metadata)
    try keeper.restart()
    try keeper.pass(1)
    #expect(try keeper.home().reevaluateAfter == nil)
  }

  @Test("A damaged preferred network stops the intake with words, rather than be guessed")
  func preferred() throws {
    try keeper.database.write { tx in
      let rows = try tx.all("SELECT id FROM items", row: { $0.integer(0) })
      for row in rows {
        var bytes = try #require(
          try tx.first("SELECT secret FROM items WHERE id = ?", .integer(row)) { $0.blob(0) })
        bytes[bytes.count / 2] ^= 1
        try tx.execute("UPDATE items SET secret = ? WHERE id = ?", .blob(bytes), .integer(row))
      }
    }
    let error = #expect(throws: PreferredNetworkDamaged.self) {
      try keeper.announce(Agent.garage, .guest, at: 1)
    }
    let reason = StoreFailure.reason(try #require(error), path: "/x")
    #expect(reason.contains("preferred network") && reason.contains("backup"))
    #expect(try keeper.router(Agent.garage) == nil)
  }

  @Test("A preferred network that is no dataset stops the intake as a damaged one does")
  func preferredIsNoDataset() throws {
    try keeper.database.write { tx in
      let query = ItemQuery(
        .genericPassword,
        [
          .service: .string("thread-preferred/home"), .account: .string(""),
          .accessGroup: .string(ThreadCredentialStore.internalGroup),
        ])
      let item = try #require(try keeper.temporary.keychain.items(matching: query, in: tx).first)
      _ = try keeper.temporary.keychain.update(
        item, secret: SecretBytes(copying: [0x0E, 0x08, 0x00]), in: tx)
    }
    let error = #expect(throws: PreferredNetworkDamaged.self) {
      try keeper.announce(Agent.garage, .guest, at: 1)
    }
    #expect(!StoreFailure.isOfMessage(try #require(error)))
    #expect(try keeper.router(Agent.garage) == nil)
    // A person can replace it.
    var request = ThreadRequest(.setPreferred)
    request.dataset = try SampleNetwork.guest.dataset(at: 1)
    #expect(try keeper.command(request).result().changed == true)
    #expect(try keeper.announce(Agent.garage, .guest, at: 1).rejected.isEmpty)
  }

  @Test("Credentials that are no dataset are refused as damaged ones are")
  func credentialsAreNoDataset() throws {
    let attic = try #require(try keeper.credential(Agent.attic))
    try keeper.database.write { tx in
      let query = ItemQuery(
        .genericPassword,
        [
          .service: .string("thread-network/home"), .account: .string(attic.agent.description),
        ])
      let item = try #require(try keeper.temporary.keychain.items(matching: query, in: tx).first)
      _ = try keeper.temporary.keychain.update(
        item, secret: SecretBytes(copying: [0x0E, 0x08, 0x00]), in: tx)
    }
    #expect(try keeper.announce(Agent.attic, .home, at: 6).rejected == ["damaged_credentials": 1])
    try keeper.restart()
    try keeper.pass(1)
    #expect(try keeper.home().reevaluateAfter == nil)
    #expect(try keeper.removeCredential(of: Agent.attic))
  }
}
