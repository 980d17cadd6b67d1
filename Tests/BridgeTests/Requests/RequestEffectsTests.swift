// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import CredentialService
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("What follows from a request, before anything of it is applied")
struct RequestEffectsTests {
  private let bridge: TestBridge

  private struct NoRequest: Error {}

  init() throws {
    bridge = try TestBridge {
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    try bridge.useEnrolments()
  }

  /// The component alone, in a transaction of its own.
  private func fulfil(
    _ command: RequestCommand, user: String = "anna", _ fields: [String: Any] = [:]
  ) throws -> Requests.Fulfilled {
    var reader = MessageReader(topics: bridge.configuration.topics)
    let message = try bridge.request(command.rawValue, user: user, fields)
    guard case .request(let inbound, _) = reader.read(message) else { throw NoRequest() }
    let (home, now) = (try bridge.home(), bridge.clock.now())
    return try bridge.database.write { tx in
      let ownership = Ownership(
        configuration: bridge.configuration, store: bridge.store, now: now, tx: tx)
      let requests = Requests(
        configuration: bridge.configuration, parts: bridge.parts,
        consents: Consents(bridge.temporary.keychain, now: now, tx), ownership: ownership,
        homes: ["home": home])
      return try requests.fulfil(
        inbound, requests.opened(inbound, in: "home"), inbound.transaction, in: "home")
    }
  }

  private func answer(_ effect: Effect) throws -> (answer: ThreadAnswer, isRefusal: Bool) {
    guard case .answer(.publication(let publication, _), let isRefusal) = effect else {
      throw NoRequest()
    }
    return (try #require(ThreadAnswer(json: publication.payload)), isRefusal)
  }

  @Test("What only reads has one effect: its answer")
  func ping() throws {
    let fulfilled = try fulfil(.ping)
    #expect(fulfilled.failure == nil && fulfilled.effects.count == 1)
    let (answer, isRefusal) = try answer(try #require(fulfilled.effects.first))
    #expect(answer.status == .ok && !isRefusal)
  }

  @Test("Stored credentials: unsealed, preferred, reported, an event, and the answer last")
  func store() throws {
    let fulfilled = try fulfil(
      .storeCredentials,
      ["border_agent_id": Agent.living, "dataset": try SampleNetwork.home.dataset(at: 1).hex])
    let effects = fulfilled.effects
    guard effects.count == 5, case .plaintextSeen("anna", "home") = effects[0],
      case .preferred(let change, _, _) = effects[1], case .keysReported = effects[2],
      case .event(let event) = effects[3]
    else {
      Issue.record("\(effects)")
      return
    }
    #expect(change.to?.networkName == "home")
    #expect(event.types == [.datasetStored, .preferredChanged])
    #expect(try !answer(effects[4]).isRefusal)
    #expect(try bridge.takeEvents().isEmpty, "nothing is applied here")
  }

  @Test("What fails has no answer of its own, and what was noted before stays")
  func failure() throws {
    let fulfilled = try fulfil(
      .storeCredentials, ["border_agent_id": Agent.living, "dataset": "0e"])
    #expect(fulfilled.failure != nil)
    let missing = try fulfil(.deleteCredentials, ["border_agent_id": Agent.attic])
    #expect(missing.failure?.code == "not_found")
  }

  @Test("A question to a person is an effect, and is answered later; a decision ends it")
  func consent() throws {
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    try bridge.enroll("tablet", Identity().keys)
    let asked = try fulfil(.getPreferred, user: "tablet")
    guard asked.failure == nil, asked.effects.count == 1,
      case .question(let pending) = asked.effects[0]
    else {
      Issue.record("\(asked)")
      return
    }
    let decided = try fulfil(.denyConsent, ["id": pending.id.description])
    guard decided.effects.count == 2, case .ended(let ended) = decided.effects[0] else {
      Issue.record("\(decided)")
      return
    }
    #expect(ended.record.outcome == .denied && ended.replies.count == 1)
    #expect(try !answer(decided.effects[1]).isRefusal)
  }
}
