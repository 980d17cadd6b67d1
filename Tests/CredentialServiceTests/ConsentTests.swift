// SPDX-License-Identifier: Apache-2.0

import CredentialService
import SQLiteDatabase
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

/// A gate that answers as a test says, and remembers what it was asked.
private final class TestGate: ConsentGate {
  private let verdict: ConsentVerdict
  private let asked = Mutex<[ConsentQuestion]>([])
  private let decided = Mutex<[ConsentDecision]>([])

  init(_ verdict: ConsentVerdict) { self.verdict = verdict }

  var questions: [ConsentQuestion] { asked.withLock { $0 } }
  var decisions: [ConsentDecision] { decided.withLock { $0 } }

  func judge(_ question: ConsentQuestion, _ tx: WriteTransaction) -> ConsentVerdict {
    asked.withLock { $0.append(question) }
    return verdict
  }

  func settle(_ decision: ConsentDecision, _ tx: WriteTransaction) {
    decided.withLock { $0.append(decision) }
  }
}

@Suite("What needs consent")
struct ConsentTests {
  let service: Service

  init() throws { service = try Service() }

  private func request(_ command: RequestCommand) -> ThreadRequest {
    var request = ThreadRequest(command)
    if command == .getNetwork { request.network = ExtendedPANID(hex: "1111111122222222") }
    return request
  }

  @Test(
    "without consent nothing is told, also not to who stored it",
    arguments: [RequestCommand.getPreferred, .getNetwork, .nearbyNetworks])
  func required(_ command: RequestCommand) throws {
    try service.keep(Agent.living, .home, at: 1)
    service.active = [Agent.living]
    for team in ["anna", "bob"] {
      let refusal = try service.refusal(command, team: team) { $0 = request(command) }
      #expect(refusal?.known == .consentRequired)
      #expect(refusal?.message.contains(SampleNetwork.home.networkKey) == false)
    }
  }

  @Test("what is not there is not asked about")
  func nothingThere() throws {
    let gate = TestGate(.granted)
    service.gate = gate
    #expect(try service.refusal(.getPreferred)?.known == .notFound)
    #expect(try service.refusal(.getNetwork) { $0 = request(.getNetwork) }?.known == .notFound)
    #expect(try service.ask(.nearbyNetworks).credentials == [])
    #expect(gate.questions.isEmpty)
  }

  @Test("the question says who asks, for what, and of which networks")
  func question() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1, team: "bob")
    service.active = [Agent.living, Agent.attic]
    let gate = TestGate(.granted)
    service.gate = gate
    _ = try service.ask(.nearbyNetworks, team: "carol")
    let question = try #require(gate.questions.first)
    #expect(question.context.requester == .mqttUser("carol"))
    #expect(question.request.command == .nearbyNetworks)
    #expect(question.networks.map(\.name) == ["home", "guest-thread"])
  }

  @Test("granted, the preferred network comes with the id of a router that runs on it")
  func preferred() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .home, at: 1)
    service.active = [Agent.attic]
    service.gate = TestGate(.granted)
    let record = try #require(try service.ask(.getPreferred, team: "bob").credentials?.first)
    #expect(record.dataset == (try SampleNetwork.home.dataset(at: 1)))
    #expect(record.agent?.description == Agent.attic)
    #expect(record.isActive)
    #expect(record.created != nil)
  }

  @Test("the preferred network outlives its routers, and then has no border agent id")
  func preferredWithoutRouter() throws {
    try service.keep(Agent.living, .home, at: 1)
    _ = try service.ask(.deleteCredentials) { $0.agent = BorderAgentID(hex: Agent.living) }
    service.gate = TestGate(.granted)
    let record = try #require(try service.ask(.getPreferred).credentials?.first)
    #expect(record.agent == nil)
    #expect(record.networkName == "home")
  }

  @Test("of a network the newest is told; who only names the preferred one's id is not believed")
  func network() throws {
    try service.keep(Agent.living, .guest, at: 1)
    try service.keep(Agent.attic, .home, at: 1)
    try service.keep(Agent.garage, .home, at: 4, team: "bob")
    service.gate = TestGate(.granted)
    let home = try service.ask(.getNetwork) { $0 = request(.getNetwork) }
    #expect(home.credentials?.first?.activeTimestamp == 4)
    let impostor = SampleNetwork.guest.with { $0.networkKey = SampleNetwork.home.networkKey }
    try service.keep("0102030405060708", impostor, at: 99, team: "bob")
    let guest = try service.ask(.getNetwork) {
      $0.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    }
    #expect(guest.credentials?.first?.dataset == (try SampleNetwork.guest.dataset(at: 1)))
  }

  /// Settled by agreement: what the question of the gate comes to now.
  private func agreed(_ gate: TestGate) throws -> AnswerData {
    let question = try #require(gate.questions.last)
    return try service.answer(SettledConsent(id: "c-1", question: question, refusal: nil))
  }

  @Test("agreement to one team's network tells nothing that another has stored under its id")
  func namesake() throws {
    try service.keep(Agent.living, .guest, at: 1)
    try service.keep(Agent.attic, .home, at: 1, team: "bob")
    for name in ["evil-lab", "home"] {
      let lab = SampleNetwork.home.with {
        $0.name = name
        $0.networkKey = SampleNetwork.guest.networkKey
      }
      try service.keep(Agent.garage, lab, at: 99, team: "evil")
      let gate = TestGate(.pending(id: "c-1"))
      service.gate = gate
      let context = service.context(team: "evil")
      guard case .waiting = try service.reply(request(.getNetwork), context) else {
        Issue.record("it does not wait")
        return
      }
      let asked = try #require(gate.questions.first?.networks)
      #expect(asked.map(\.name) == [name] && asked.map(\.team) == ["evil"])
      #expect(try agreed(gate).credentials?.first?.dataset == (try lab.dataset(at: 99)))
      _ = try service.ask(.deleteCredentials, team: "evil") {
        $0.agent = BorderAgentID(hex: Agent.garage)
      }
      do {
        _ = try agreed(gate)
        Issue.record("bob's credentials are told")
      } catch let failure as AnswerFailure {
        #expect(failure.known == .conflict)
      }
    }
  }

  @Test("nearby, what only claims to be the preferred network is left out, and that is named first")
  func nearbyNames() throws {
    let impostor = SampleNetwork.guest.with {
      $0.name = "evil-lab"
      $0.networkKey = SampleNetwork.home.networkKey
    }
    let others = [("bob", "attic"), ("evil", "evil-attic")]
    service.active = [Agent.living, Agent.attic, Agent.garage, "0102030405060708"]
    try service.keep(Agent.living, .guest, at: 1)
    try service.keep("0102030405060708", impostor, at: 99, team: "evil")
    for (agent, other) in zip([Agent.attic, Agent.garage], others) {
      try service.keep(agent, SampleNetwork.home.with { $0.name = other.1 }, at: 1, team: other.0)
    }
    let gate = TestGate(.pending(id: "c-1"))
    service.gate = gate
    _ = try service.reply(request(.nearbyNetworks), service.context(team: "evil"))
    let asked = try #require(gate.questions.first?.networks)
    #expect(asked.map(\.name) == ["guest-thread", "attic", "evil-attic"])
    #expect(asked.map(\.team) == [nil, "bob", "evil"])
    let told = try agreed(gate).credentials
    #expect(told?.map(\.networkName) == ["guest-thread", "attic", "evil-attic"])
  }

  @Test("nearby are the active ones of every team")
  func nearby() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1, team: "bob")
    try service.keep(Agent.garage, .guest, at: 1, team: "bob")
    service.active = [Agent.living, Agent.attic]
    service.gate = TestGate(.granted)
    let records = try #require(try service.ask(.nearbyNetworks, team: "carol").credentials)
    #expect(records.compactMap(\.agent?.description) == [Agent.living, Agent.attic])
    #expect(records.allSatisfy { $0.dataset != nil })
  }

  @Test("pending, it waits; agreed, the same question is answered; denied, it is refused")
  func pending() throws {
    try service.keep(Agent.living, .home, at: 1)
    let gate = TestGate(.pending(id: "c-1"))
    service.gate = gate
    guard
      case .waiting("c-1") = try service.reply(
        request(.getPreferred), service.context(team: "bob"))
    else {
      Issue.record("it does not wait")
      return
    }
    for (command, isAgreed) in [(RequestCommand.approveConsent, true), (.denyConsent, false)] {
      var decision = ThreadRequest(command)
      decision.id = "c-1"
      guard case .decided = try service.reply(decision, service.context()) else {
        Issue.record("nothing is decided")
        return
      }
      #expect(gate.decisions.last?.id == "c-1" && gate.decisions.last?.approves == isAgreed)
      let question = try #require(gate.questions.first)
      #expect(question.context.requester == .mqttUser("bob"))
      let one = SettledConsent(
        id: "c-1", question: question,
        refusal: isAgreed ? nil : AnswerFailure(.consentDenied, "no"))
      if isAgreed {
        #expect(try service.answer(one).credentials?.first?.networkName == "home")
      } else {
        #expect(throws: AnswerFailure.self) { try service.answer(one) }
      }
    }
  }

  @Test("who cannot be told a secret is refused before anybody is asked")
  func notEnrolled() throws {
    try service.keep(Agent.living, .home, at: 1)
    let gate = TestGate(.granted)
    service.gate = gate
    var context = service.context()
    context.canReceiveSecrets = false
    for command in RequestCommand.allCases where command.disclosesSecrets {
      var failure: AnswerFailure?
      do {
        _ = try service.reply(request(command), context)
      } catch let error as AnswerFailure {
        failure = error
      }
      #expect(failure?.known == .notEnrolled)
    }
    #expect(gate.questions.isEmpty)
  }

  @Test("nothing waits on a daemon on which nobody can agree")
  func stale() throws {
    #expect(try service.refusal(.approveConsent) { $0.id = "c-1" }?.known == .staleID)
  }
}
