// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("The preferred credentials of a router that has not confirmed them go to one key only")
struct AdoptionSecrecyTests {
  private let scene: AdoptionScene
  private var bridge: TestBridge { scene.bridge }
  private var home: OperationalDataset { scene.home }
  private var guest: OperationalDataset { scene.guest }
  private let ben: Identity

  init() throws {
    scene = try AdoptionScene()
    ben = try Identity()
    try bridge.enroll("ben", ben.keys)
    try scene.sent()
  }

  /// What an enrolled login is told without anybody's consent.
  private func told(
    _ command: RequestCommand, _ user: String, _ identity: Identity
  ) throws -> AnswerData {
    let answered = try bridge.ask(command, user: user, ["border_agent_id": Agent.living])
    let data = try answered.answer.result()
    guard let sealed = data.sealed else { return data }
    let opened = try Envelope.open(
      Array(try JSONEncoder().encode(sealed)), with: identity,
      from: [try #require(bridge.enrolments.identity).keys], topic: answered.publication.topic,
      now: bridge.clock.now().milliseconds / 1_000)
    return try JSONDecoder().decode(AnswerData.self, from: Data(opened.body))
  }

  /// A program of the same team on the socket, where lists hold secrets.
  private func givenOnSocket(
    _ command: RequestCommand, gate: (any ConsentGate & Sendable)? = nil
  ) throws -> [CredentialRecord] {
    var parts = bridge.parts
    parts.gate = gate
    var request = ThreadRequest(command)
    request.agent = BorderAgentID(hex: Agent.living)
    let service = try RequestService(
      bridge.configuration, keychain: bridge.temporary.keychain, parts: parts,
      clock: bridge.clock)
    let outcome = service.answer(request, from: .systemUser(1001), team: "family")
    guard case .answer(let answer) = outcome else { throw TestBridge.NoAnswer() }
    return try #require(try answer.result().credentials)
  }

  @Test("Another login of the team, and a key that came after the approval, read what it reported")
  func otherReaders() throws {
    let other = try Identity()
    #expect(try told(.getCredentials, "ben", ben).credentials?.map(\.dataset) == [guest])
    try scene.changeKey(other)
    #expect(try told(.getCredentials, "anna", other).credentials?.map(\.dataset) == [guest])
    for command in [RequestCommand.listCredentials, .listActiveCredentials] {
      let names = try told(command, "ben", ben).credentials?
        .filter { $0.agent?.description == Agent.living }.map(\.networkName)
      #expect(names == ["guest-thread"])
    }
  }

  @Test("Programs of the team find what it reported, and the approved key alone the rest")
  func programs() throws {
    for command in [RequestCommand.getCredentials, .listCredentials, .listActiveCredentials] {
      let found = try givenOnSocket(command).filter { $0.agent?.description == Agent.living }
      #expect(found.map(\.dataset) == [guest])
    }
    let message = try #require(try scene.opened().first)
    #expect(message.body["dataset"] as? String == home.hex)
    #expect(try scene.adoption?.preferred == home)
  }

  @Test("Who may get the preferred network gets nothing of a router that is not on it yet")
  func consented() throws {
    try bridge.say(.offline, Agent.attic, user: "hub")
    let preferred = try givenOnSocket(.getPreferred, gate: EverybodyConsents())
    #expect(preferred.map(\.agent?.description) == [Agent.attic])
    let nearby = try givenOnSocket(.nearbyNetworks, gate: EverybodyConsents())
      .filter { $0.agent?.description == Agent.living }
    #expect(nearby.map(\.dataset) == [guest])
  }

  @Test("What a member has said before does not take the preferred network along")
  func member() throws {
    // It belongs to the preferred network, which a person then sets to another dataset of it.
    try bridge.announce(Agent.living, .home, at: 5)
    let chosen = SampleNetwork.home.with { $0.channel = 20 }
    var request = ThreadRequest(.setPreferred)
    request.dataset = try chosen.dataset(at: 3)
    _ = try bridge.command(request).result()
    try bridge.pass(1)
    try scene.raised()
    let question = try #require(
      try scene.waiting().first { $0.subject.router?.agent.description == Agent.living })
    try scene.consents.approve(question.id.description, .once, by: .commandLine(user: 0))
    try bridge.pass(1)
    try bridge.announce(Agent.living, .home, at: 9)
    #expect(try scene.state == .sent && scene.stored == SampleNetwork.home.dataset(at: 9))
    #expect(try bridge.preferred() == chosen.dataset(at: 3))
    try bridge.pass(1)
    #expect(try scene.state == .sent)
    try bridge.announce(Agent.living, chosen, at: 3)
    #expect(try scene.state == nil && scene.stored == chosen.dataset(at: 3))
    #expect(try !scene.isMismatchFiring)
  }

  @Test("The owner's word counts: the preferred credentials, stored for it, end the wait")
  func storedByOwner() throws {
    let change = try bridge.ask(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": home.hex]
    ).answer.result()
    #expect(change.change == .updated && change.preferred == .match)
    #expect(try scene.state == nil && scene.adoption == nil && !scene.isMismatchFiring)
    try bridge.pass(400)
    #expect(try scene.stored == home && scene.failure == nil)
  }
}

private struct EverybodyConsents: ConsentGate {
  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) -> ConsentVerdict { .granted }
  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) {}
  func waiting(_ context: RequestContext, _ tx: WriteTransaction) -> [WaitingQuestion] { [] }
}
