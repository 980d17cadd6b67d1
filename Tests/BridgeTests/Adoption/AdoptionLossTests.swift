// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What ends an adoption without the router's word")
struct AdoptionLossTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private var home: OperationalDataset { scene.home }
  private var guest: OperationalDataset { scene.guest }

  init() throws { scene = try AdoptionScene() }

  @Test(
    "A router that leaves takes its adoption along, and so does one whose credentials are deleted")
  func gone() throws {
    try scene.sent()
    try bridge.say(.leave, Agent.living)
    #expect(try scene.adoption == nil && scene.stored == nil)
    try bridge.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    #expect(try bridge.removeCredential(of: Agent.living))
    #expect(try scene.adoption == nil && scene.state == nil)
    try bridge.pass(400)
    #expect(try scene.stored == nil && scene.failure == nil)
  }

  @Test("What another user stores for the router counts, and moves no preferred network")
  func storedOtherwise() throws {
    try scene.sent()
    let other = try SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }.dataset(
      at: 1)
    _ = try bridge.ask(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": other.hex]
    ).answer.result()
    #expect(try bridge.preferred() == home)
    #expect(try scene.stored == other && scene.adoption == nil)
    try bridge.pass(400)
    #expect(try scene.stored == other)
  }

  @Test("A row without a record under the seal sends nothing, and a person is asked again")
  func rowWithoutRecord() throws {
    try scene.raised()
    // Somebody who can write the registry, but not under the seal.
    try bridge.database.write { try $0.execute("UPDATE router SET adoption = 'sent'") }
    try bridge.pass(1)
    #expect(bridge.delivered.isEmpty)
    #expect(try scene.stored == guest && scene.state == .due)
  }

  @Test(
    "A damaged record sends nothing and holds nothing up; a person is asked again",
    arguments: TestBridge.DamagedColumn.allCases)
  func damaged(column: TestBridge.DamagedColumn) throws {
    try bridge.announce(Agent.garage, .guest, at: 1)
    try scene.raised()
    for _ in 0..<2 { try scene.approve() }
    try bridge.pass(1)
    #expect(bridge.delivered.count == 2)
    try bridge.damageAdoption(of: Agent.living, column)
    bridge.connection = 2
    try bridge.pass(1)
    #expect(try scene.opened().last?.body["border_agent_id"] as? String == Agent.garage)
    #expect(try bridge.router(Agent.garage)?.adoption == .sent)
    try bridge.pass(1)
    #expect(try bridge.delivered.count == 3 && scene.state == .asked)
    #expect(try scene.adoption?.phase == .asked && scene.failure == nil)
    try scene.approve()
    try bridge.pass(1)
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try scene.state == nil && scene.adoption == nil)
    try scene.restart()
    #expect(bridge.temporary.keychain.condition == .healthy)
    #expect(try bridge.temporary.keychain.verify(.everything).unreadable.isEmpty)
  }

  @Test(
    "A damaged record goes with what ends the adoption",
    arguments: TestBridge.DamagedColumn.allCases)
  func damagedEnd(column: TestBridge.DamagedColumn) throws {
    try scene.sent()
    try bridge.damageAdoption(of: Agent.living, column)
    #expect(try bridge.announce(Agent.living, .home, at: 5).rejected.isEmpty)
    #expect(try scene.state == nil && scene.adoption == nil && scene.stored == home)
    try bridge.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    try bridge.damageAdoption(of: Agent.living, column)
    #expect(try bridge.removeCredential(of: Agent.living))
    #expect(try scene.state == nil && scene.adoption == nil)
    try bridge.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    try bridge.damageAdoption(of: Agent.living, column)
    #expect(try bridge.say(.leave, Agent.living).rejected.isEmpty)
    #expect(try scene.adoption == nil)
  }
}
