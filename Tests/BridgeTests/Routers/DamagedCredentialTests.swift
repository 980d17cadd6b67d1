// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SodiumCrypto
import TestKit
import Testing
import ThreadCredentialStore
import ThreadRequests

@testable import Bridge

@Suite("Damaged credentials")
struct DamagedCredentialTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.announce(Agent.attic, .home, at: 5)
    try bridge.say(.heartbeat, Agent.living)
    try bridge.damageCredential(of: Agent.living)
    _ = try bridge.takeEvents()
  }

  @Test("What concerns them is refused by name, and the rest of the batch arrives")
  func batch() throws {
    for kind in [InboundEventKind.announce, .dataset, .leave] {
      let fields: [String: Any] =
        kind == .leave ? [:] : ["dataset": try SampleNetwork.home.dataset(at: 6).hex]
      let counts = try bridge.receive([
        try bridge.message(.announce, Agent.attic, ["name": "Attic \(kind)"]),
        try bridge.message(kind, Agent.living, fields),
        try bridge.message(.announce, Agent.garage, ["name": "Garage \(kind)"]),
      ])
      #expect(counts.rejected == ["damaged_credentials": 1])
      #expect(try bridge.router(Agent.attic)?.name == "Attic \(kind)")
      #expect(try bridge.router(Agent.garage)?.name == "Garage \(kind)")
      let event = try #require(try bridge.takeEvents().first { $0.types == .messageRejected })
      #expect(event.detail.field == "border_agent_id")
      #expect(event.detail.message?.contains("credentials delete") == true)
    }
    #expect(try bridge.router(Agent.living)?.networkName == "home")
    #expect(try bridge.home().routers == 3)
  }

  @Test("The remedy that is named works")
  func remedy() throws {
    #expect(try bridge.removeCredential(of: Agent.living))
    #expect(try bridge.router(Agent.living)?.credential == .missing)
    #expect(try bridge.announce(Agent.living, .home, at: 6).rejected.isEmpty)
    #expect(try bridge.credential(Agent.living)?.dataset.activeTimestamp?.seconds == 6)
  }

  @Test("The clock continues for all other routers: silence, alerts, checks")
  func ticks() throws {
    try bridge.say(.heartbeat, Agent.attic)
    try bridge.announce(Agent.garage, .guest, at: 1)
    try bridge.announce(Agent.attic, SampleNetwork.home.with { $0.channel = 20 }, at: 6)
    for _ in 0..<7 { try bridge.pass(100) }
    #expect(try bridge.home().reevaluateAfter == nil)
    #expect(try bridge.router(Agent.attic)?.isOnline == false)
    #expect(try bridge.router(Agent.living)?.isOnline == false)
    #expect(try bridge.firing().contains("PreferredNetworkMismatch \(Agent.garage)"))
    #expect(try bridge.firing().contains("BorderRouterOffline \(Agent.attic)"))
  }

  @Test("A credential whose attributes are damaged, too, lets the walk of a start go on")
  func walk() throws {
    try bridge.damageCredential(of: Agent.attic, .metadata)
    try bridge.restart()
    try bridge.pass(1)
    #expect(try bridge.home().reevaluateAfter == nil)
  }

  @Test("A damaged preferred network stops the intake with words, rather than be guessed")
  func preferred() throws {
    try bridge.damageSecrets()
    let error = #expect(throws: PreferredNetworkDamaged.self) {
      try bridge.announce(Agent.garage, .guest, at: 1)
    }
    let reason = StoreFailure.reason(try #require(error), path: "/x")
    #expect(reason.contains("preferred network") && reason.contains("backup"))
    #expect(try bridge.router(Agent.garage) == nil)
  }

  @Test("A preferred network that is no dataset stops the intake as a damaged one does")
  func preferredIsNoDataset() throws {
    try bridge.database.write { tx in
      let query = ItemQuery(
        .genericPassword,
        [
          .service: .string("thread-preferred/home"), .account: .string(""),
          .accessGroup: .string(ThreadCredentialStore.internalGroup),
        ])
      let item = try #require(try bridge.temporary.keychain.items(matching: query, in: tx).first)
      _ = try bridge.temporary.keychain.update(
        item, secret: SecretBytes(copying: [0x0E, 0x08, 0x00]), in: tx)
    }
    let error = #expect(throws: PreferredNetworkDamaged.self) {
      try bridge.announce(Agent.garage, .guest, at: 1)
    }
    #expect(!StoreFailure.isOfMessage(try #require(error)))
    #expect(try bridge.router(Agent.garage) == nil)
    // A person can replace it.
    var request = ThreadRequest(.setPreferred)
    request.dataset = try SampleNetwork.guest.dataset(at: 1)
    #expect(try bridge.command(request).result().changed == true)
    #expect(try bridge.announce(Agent.garage, .guest, at: 1).rejected.isEmpty)
  }

  @Test("Credentials that are no dataset are refused as damaged ones are")
  func credentialsAreNoDataset() throws {
    let attic = try #require(try bridge.credential(Agent.attic))
    try bridge.database.write { tx in
      let query = ItemQuery(
        .genericPassword,
        [
          .service: .string("thread-network/home"), .account: .string(attic.agent.description),
        ])
      let item = try #require(try bridge.temporary.keychain.items(matching: query, in: tx).first)
      _ = try bridge.temporary.keychain.update(
        item, secret: SecretBytes(copying: [0x0E, 0x08, 0x00]), in: tx)
    }
    #expect(try bridge.announce(Agent.attic, .home, at: 6).rejected == ["damaged_credentials": 1])
    try bridge.restart()
    try bridge.pass(1)
    #expect(try bridge.home().reevaluateAfter == nil)
    #expect(try bridge.removeCredential(of: Agent.attic))
  }
}
