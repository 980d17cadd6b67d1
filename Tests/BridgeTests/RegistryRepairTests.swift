// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import Logging
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Damaged tables of the registry")
struct RegistryRepairTests {
  private static let offline = "BorderRouterOffline \(Agent.attic)"

  let keeper: Keeper

  init() throws {
    keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try keeper.announce(Agent.attic, .home, at: 1, ["name": "Attic"])
    try keeper.say(.offline, Agent.attic)
    try keeper.pass(31)
    #expect(try keeper.firing().contains(Self.offline))
  }

  private func damage(_ tables: String...) throws {
    for table in tables {
      try DamagedPage.root(of: table, in: keeper.temporary.location.databasePath)
    }
  }

  private func repair() throws -> RegistryRepair.Outcome {
    try RegistryRepair(configuration: keeper.configuration, store: keeper.store)
      .run(now: keeper.clock.now())
  }

  @Test("Where nothing is damaged, nothing is made anew")
  func sound() throws {
    #expect(try repair() == .sound)
    #expect(try keeper.router(Agent.living)?.name == "Living room")
  }

  @Test(
    "Each table is made anew, counts and alerts come back, and routers stay",
    arguments: [
      ("router", ["alert", "network", "router"]), ("network", ["network"]), ("alert", ["alert"]),
      ("event", ["event"]),
    ])
  func madeAnew(table: String, tables: [String]) throws {
    let lastEvent = try keeper.database.read { try EventLedger.lastID($0) }
    try damage(table)
    #expect(try repair() == .madeAnew(tables))
    #expect(try keeper.database.damagedTables() == [])
    #expect(try keeper.home().routers == 2)
    #expect(try keeper.network(.home)?.routers == 2)
    #expect(try keeper.network(.home)?.name == "home")
    #expect(try keeper.router(Agent.living)?.network == keeper.network(.home)?.network)
    #expect(try keeper.credential(Agent.living) != nil)
    #expect(try keeper.database.read { try EventLedger.lastID($0) } > lastEvent)
    #expect(try keeper.firing().contains("StoreDamaged"))

    try keeper.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try keeper.say(.heartbeat, Agent.living)
    try keeper.say(.offline, Agent.attic)
    try keeper.pass(0)
    try keeper.pass(31)
    #expect(try keeper.router(Agent.living)?.name == "Living room")
    #expect(try Set(keeper.firing()).isSuperset(of: [Self.offline, "StoreDamaged"]))
    #expect(try keeper.temporary.keychain.verify().matchesManifest)
  }

  @Test("Routers that cannot be read come back from their sealed credentials")
  func unreadableRouters() throws {
    try keeper.temporary.reopen {
      try DamagedPage.root(of: "router", in: keeper.temporary.location.databasePath)
    }
    #expect(try repair() == .madeAnew(["alert", "network", "router"]))
    let router = try #require(try keeper.router(Agent.living))
    #expect(router.name == nil)
    #expect(router.isPresent && router.credential == .stored)
    #expect(try keeper.home().routers == 2)
    try keeper.restart()
    #expect(try keeper.say(.heartbeat, Agent.living).rejected.isEmpty)
  }

  @Test("Members whose rows cannot be read are members again, also those that are behind")
  func members() throws {
    let home = try #require(ExtendedPANID(hex: SampleNetwork.home.extendedPANID))
    try keeper.announce(Agent.living, SampleNetwork.home.with { $0.channel = 20 }, at: 2)
    try keeper.announce(Agent.garage, .guest, at: 1)
    try keeper.temporary.reopen {
      try DamagedPage.root(of: "router", in: keeper.temporary.location.databasePath)
    }
    #expect(try repair() == .madeAnew(["alert", "network", "router"]))
    #expect(try keeper.router(Agent.living)?.memberOf == home)
    #expect(try keeper.router(Agent.attic)?.memberOf == home)
    #expect(try keeper.router(Agent.garage)?.memberOf == nil)
    for agent in [Agent.living, Agent.attic] { try keeper.announce(agent, .guest, at: 1) }
    try keeper.pass(31)
    let facts = try #require(try keeper.alert(.homeMoved)).facts
    #expect(facts.summary.hasPrefix("all 2 border routers of the preferred network home"))
  }

  @Test(
    "Damage in any other table is named, and nothing is touched",
    arguments: [
      "items", "keys", "key_slots", "manifest", "audit", "outbox", "home", "sealed_order",
    ])
  func unrepairable(table: String) throws {
    try damage("router", table)
    #expect(try repair() == .unrepairable([table, "router"].sorted()))
    #expect(try keeper.database.damagedTables() == [table, "router"].sorted())
  }

  @Test("At the start, damaged tables are made anew before anything is read")
  func atTheStart() throws {
    let log = RecordingLog()
    try keeper.temporary.reopen {
      try DamagedPage.root(of: "alert", in: keeper.temporary.location.databasePath)
    }
    _ = try BridgeStart.prepareRepairing(
      keeper.configuration, store: keeper.store, now: keeper.clock.now(), logger: log.logger)
    #expect(try keeper.firing().contains("StoreDamaged"))
    #expect(try keeper.router(Agent.living)?.name == "Living room")
  }

  @Test("At the start, damage of sealed tables ends with words that name them")
  func unrepairableAtTheStart() throws {
    try damage("items")
    let error = try #require(throws: KeychainError.self) {
      _ = try BridgeStart.prepareRepairing(
        keeper.configuration, store: keeper.store, now: keeper.clock.now(),
        logger: RecordingLog().logger)
    }
    #expect(error.message.contains("is damaged (items)"))
    #expect(error.message.contains("threadkeeper store restore"))
  }

  @Test("A message that meets a damaged page of the items is not rejected: the batch fails")
  func notRejected() throws {
    try damage("items")
    #expect(throws: (any Error).self) { try keeper.announce(Agent.garage, .home, at: 1) }
  }
}
