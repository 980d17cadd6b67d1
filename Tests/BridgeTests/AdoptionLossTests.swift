// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore
import SealedEnvelope
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

@Suite("What ends an adoption without the router's word")
struct AdoptionLossTests {
  private let scene: AdoptionScene
  private var keeper: Keeper { scene.keeper }
  private let home: OperationalDataset
  private let guest: OperationalDataset

  init() throws {
    scene = try AdoptionScene()
    home = try SampleNetwork.home.dataset(at: 5)
    guest = try SampleNetwork.guest.dataset(at: 1)
  }

  @Test(
    "A router that leaves takes its adoption along, and so does one whose credentials are deleted")
  func gone() throws {
    try scene.sent()
    try keeper.say(.leave, Agent.living)
    #expect(try scene.adoption == nil && scene.stored == nil)
    try keeper.announce(Agent.living, .guest, at: 1)
    try scene.sent()
    #expect(try keeper.removeCredential(of: Agent.living))
    #expect(try scene.adoption == nil && scene.state == nil)
    try keeper.pass(400)
    #expect(try scene.stored == nil && scene.failure == nil)
  }

  @Test("What somebody else stores for the router counts, and moves no preferred network")
  func storedOtherwise() throws {
    keeper.configuration.following = .any
    try scene.sent()
    let other = try SampleNetwork.guest.with { $0.extendedPANID = "5555555566666666" }.dataset(
      at: 1)
    _ = try keeper.ask(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": other.hex]
    ).answer.result()
    #expect(try keeper.preferred() == home)
    #expect(try scene.stored == other && scene.adoption == nil)
    try keeper.pass(400)
    #expect(try scene.stored == other)
  }

  @Test("A row without a record under the seal sends nothing, and a person is asked anew")
  func rowWithoutRecord() throws {
    try scene.raised()
    // Somebody who can write the registry, but not under the seal.
    try keeper.database.write { try $0.execute("UPDATE router SET adoption = 'sent'") }
    try keeper.pass(1)
    #expect(keeper.mailed.isEmpty)
    #expect(try scene.stored == guest && scene.state == .due)
  }

}
