// SPDX-License-Identifier: Apache-2.0

import Broker
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

  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try bridge.announce(Agent.attic, .home, at: 1, ["name": "Attic"])
    try bridge.say(.offline, Agent.attic)
    try bridge.pass(31)
    #expect(try bridge.firing().contains(Self.offline))
  }

  private func damage(_ tables: String...) throws {
    for table in tables {
      try DamagedPage.root(of: table, in: bridge.temporary.location.databasePath)
    }
  }

  private func repair() throws -> RegistryRepair.Outcome {
    try RegistryRepair(configuration: bridge.configuration, store: bridge.store)
      .run(now: bridge.clock.now())
  }

  @Test("Where nothing is damaged, nothing is created again")
  func sound() throws {
    #expect(try repair() == .sound)
    #expect(try bridge.router(Agent.living)?.name == "Living room")
  }

  @Test(
    "Each table is created again, counts and alerts come back, and routers stay",
    arguments: [
      ("router", ["alert", "network", "router"]), ("network", ["network"]), ("alert", ["alert"]),
      ("event", ["event"]), ("home_assistant", ["home_assistant"]),
    ])
  func recreated(table: String, tables: [String]) throws {
    let lastEvent = try bridge.database.read { try EventLedger.lastID($0) }
    try damage(table)
    #expect(try repair() == .recreated(tables))
    #expect(try bridge.database.damagedTables() == [])
    #expect(try bridge.home().routers == 2)
    #expect(try bridge.network(.home)?.routers == 2)
    #expect(try bridge.network(.home)?.name == "home")
    #expect(try bridge.router(Agent.living)?.network == bridge.network(.home)?.network)
    #expect(try bridge.credential(Agent.living) != nil)
    #expect(try bridge.database.read { try EventLedger.lastID($0) } > lastEvent)
    #expect(try bridge.firing().contains("StoreDamaged"))

    try bridge.announce(Agent.living, .home, at: 1, ["name": "Living room"])
    try bridge.say(.heartbeat, Agent.living)
    try bridge.say(.offline, Agent.attic)
    try bridge.pass(0)
    try bridge.pass(31)
    #expect(try bridge.router(Agent.living)?.name == "Living room")
    #expect(try Set(bridge.firing()).isSuperset(of: [Self.offline, "StoreDamaged"]))
    #expect(try bridge.temporary.keychain.verify().matchesManifest)
  }

  @Test("Routers that cannot be read come back from their sealed credentials")
  func unreadableRouters() throws {
    try bridge.temporary.reopen {
      try DamagedPage.root(of: "router", in: bridge.temporary.location.databasePath)
    }
    #expect(try repair() == .recreated(["alert", "network", "router"]))
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.name == nil)
    #expect(router.isPresent && router.credential == .stored)
    #expect(try bridge.home().routers == 2)
    try bridge.restart()
    #expect(try bridge.say(.heartbeat, Agent.living).rejected.isEmpty)
  }

  @Test("Members whose rows cannot be read are members again, also those that are behind")
  func members() throws {
    let home = try #require(ExtendedPANID(hex: SampleNetwork.home.extendedPANID))
    try bridge.announce(Agent.living, SampleNetwork.home.with { $0.channel = 20 }, at: 2)
    try bridge.announce(Agent.garage, .guest, at: 1)
    try bridge.temporary.reopen {
      try DamagedPage.root(of: "router", in: bridge.temporary.location.databasePath)
    }
    #expect(try repair() == .recreated(["alert", "network", "router"]))
    #expect(try bridge.router(Agent.living)?.memberOf == home)
    #expect(try bridge.router(Agent.attic)?.memberOf == home)
    #expect(try bridge.router(Agent.garage)?.memberOf == nil)
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, .guest, at: 1) }
    try bridge.pass(31)
    let facts = try #require(try bridge.alert(.homeMoved)).facts
    #expect(facts.summary.hasPrefix(#"all 2 border routers of the preferred network "home""#))
  }

  @Test(
    "Damage in any other table is named, and nothing is touched",
    arguments: [
      "items", "keys", "key_slots", "manifest", "audit", "outbox", "home", "sealed_order",
    ])
  func unrepairable(table: String) throws {
    try damage("router", table)
    #expect(try repair() == .unrepairable([table, "router"].sorted()))
    #expect(try bridge.database.damagedTables() == [table, "router"].sorted())
  }

  @Test("At the start, damaged tables are created again before anything is read")
  func atTheStart() throws {
    let log = RecordingLog()
    try bridge.temporary.reopen {
      try DamagedPage.root(of: "alert", in: bridge.temporary.location.databasePath)
    }
    _ = try BridgeStart.prepareRepairing(
      bridge.configuration, store: bridge.store, now: bridge.clock.now(), logger: log.logger)
    #expect(try bridge.firing().contains("StoreDamaged"))
    #expect(try bridge.router(Agent.living)?.name == "Living room")
  }

  @Test("At the start, damage of sealed tables ends with words that name them")
  func unrepairableAtTheStart() throws {
    try damage("items")
    let error = try #require(throws: KeychainError.self) {
      _ = try BridgeStart.prepareRepairing(
        bridge.configuration, store: bridge.store, now: bridge.clock.now(),
        logger: RecordingLog().logger)
    }
    #expect(error.message.contains("is damaged (items)"))
    #expect(error.message.contains("threadkeeper store restore"))
  }

  @Test("A message that meets a damaged page of the items is not rejected: the batch fails")
  func notRejected() throws {
    try damage("items")
    #expect(throws: (any Error).self) { try bridge.announce(Agent.garage, .home, at: 1) }
  }
}
