// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import KeychainCore
import Logging
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("Consent for callers that wait on the socket", .timeLimit(.minutes(30)))
struct CallerConsentTests {
  private let bridge: TestBridge
  private let answers = AnswerQueue()
  private var callers: WaitingCallers { answers.callers }

  init() throws {
    bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1, user: "hub")
    bridge.parts.reach(answers.callers)
  }

  private struct Unexpected: Error {}

  private var service: RequestService {
    RequestService(bridge.runner(answers: answers))
  }

  private var consents: ConsentDecisions {
    ConsentDecisions(bridge.runner(answers: answers))
  }

  private func ask(
    _ command: RequestCommand = .getPreferred, program: String? = nil, transaction: String? = nil,
    isThere: @escaping @Sendable () -> Bool = { true }
  ) -> RequestService.Outcome {
    var request = ThreadRequest(command)
    request.program = program
    request.transaction = transaction
    return service.answer(
      request, from: .systemUser(1000), team: "user/uid-1000", isThere: isThere)
  }

  private func call(
    _ command: RequestCommand = .getPreferred, program: String? = nil, transaction: String? = nil,
    isThere: @escaping @Sendable () -> Bool = { true }
  ) throws -> WaitingCallers.Place {
    guard
      case .waiting(let place) = ask(
        command, program: program, transaction: transaction, isThere: isThere)
    else { throw Unexpected() }
    return place
  }

  private func waiting() throws -> [PendingConsent] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).pending(now: bridge.clock.now().milliseconds, $0)
    }
  }

  private func history() throws -> [ConsentRecord] {
    try bridge.database.read {
      try ConsentLedger(bridge.temporary.keychain).history(limit: 10, $0)
    }
  }

  /// What the audit says of credentials.
  private func audited() throws -> [AuditAction] {
    var found: [AuditAction] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      found += record.lines.map(\.action)
    }
    return found.filter { [.credentialsGiven, .credentialsNotGiven].contains($0) }
  }

  @Test("A caller waits until a person decides; so does a second one for the same")
  func two() throws {
    let places = [try call(), try call()]
    let id = places[0].consent
    #expect(places[1].consent == id)
    #expect(try waiting().first?.requester.description == "uid 1000 (team user/uid-1000)")
    guard case .answer(let answer) = ask() else { throw Unexpected() }
    #expect(answer.error?.code == "rate_limited", "each holds a connection")
    #expect(try consents.approve(id, .once, by: .commandLine(user: 0)).given == nil)
    let home = try SampleNetwork.home.dataset(at: 1).hex
    for place in places {
      #expect(callers.answer(at: place)?.data?.credentials?.first?.dataset?.hex == home)
    }
    #expect(try audited() == [.credentialsGiven])
  }

  @Test("A caller is answered that a person has denied it, or that nobody has decided in time")
  func refused() throws {
    let denied = try call()
    try consents.deny(denied.consent, by: .commandLine(user: 0))
    #expect(callers.answer(at: denied)?.error?.code == "consent_denied")
    let expired = try call(.nearbyNetworks)
    bridge.clock.advance(seconds: 120)
    try bridge.runner(answers: answers).run { try $0.apply($0.context.consents.expire()) }
    #expect(callers.answer(at: expired)?.error?.code == "consent_expired")
    #expect(try audited().isEmpty)
  }

  @Test("A caller that has given up gets nothing, and nothing is kept for it")
  func forgotten() throws {
    let place = try call()
    callers.forget(place)
    try consents.approve(place.consent, .once, by: .commandLine(user: 0))
    #expect(callers.answer(at: place) == nil)
    #expect(try audited() == [.credentialsNotGiven])
  }

  @Test("A caller that hung up while a person thought is given nothing, and nothing says it was")
  func hungUp() throws {
    let isThere = Mutex(true)
    let place = try call { isThere.withLock { $0 } }
    isThere.withLock { $0 = false }
    #expect(try consents.approve(place.consent, .once, by: .commandLine(user: 0)).given == false)
    #expect(callers.answer(at: place) == nil, "nothing was given to a connection that is closed")
    callers.forget(place)
    #expect(try history().map(\.outcome) == [.approved])
    #expect(try history().map(\.given) == [false])
    #expect(try history().map(\.obstacle) == [.hungUp])
    #expect(try audited() == [.credentialsNotGiven])
    #expect(try waiting().isEmpty, "the decision stands")
    _ = try call()
    #expect(try waiting().count == 1, "and once was once")
  }

  @Test(
    "Always holds also when the caller hung up: the next one is given it, and only that is noted")
  func always() throws {
    let place = try call { false }
    let past = try consents.approve(place.consent, .always, by: .commandLine(user: 0))
    #expect(past.given == false && past.grant != nil)
    #expect(try audited() == [.credentialsNotGiven])
    guard case .answer(let gone) = ask(isThere: { false }) else { throw Unexpected() }
    #expect(gone.data == nil)
    #expect(try audited() == [.credentialsNotGiven], "who has gone again is given nothing again")
    guard case .answer(let answer) = ask() else { throw Unexpected() }
    #expect(answer.data?.credentials?.count == 1)
    #expect(try audited() == [.credentialsNotGiven, .credentialsGiven])
  }

  @Test("Another network is preferred by then: the caller is answered so, and so is the approver")
  func changed() throws {
    try bridge.announce(Agent.attic, .guest, at: 1, user: "hub")
    let place = try call()
    var request = ThreadRequest(.setPreferred)
    request.network = ExtendedPANID(hex: "3333333344444444")
    guard
      case .answer(let set) = service.answer(
        request, from: .systemUser(0), team: "user/uid-0", isAdministrator: true)
    else { throw Unexpected() }
    #expect(set.data?.changed == true)
    let past = try consents.approve(place.consent, .once, by: .commandLine(user: 0))
    #expect(past.given == false && past.obstacle?.code == "conflict")
    #expect(callers.answer(at: place)?.error?.code == "conflict")
    #expect(try audited() == [.credentialsNotGiven])
  }

  @Test("One of two callers is there: it is given")
  func oneOfTwo() throws {
    _ = try call { false }
    let there = try call()
    #expect(try consents.approve(there.consent, .once, by: .commandLine(user: 0)).given == nil)
    #expect(callers.answer(at: there)?.data?.credentials?.count == 1)
    #expect(try audited() == [.credentialsGiven])
  }

  @Test("A decision over the same socket looks too")
  func bySocket() throws {
    let place = try call { false }
    var request = ThreadRequest(.approveConsent)
    request.id = place.consent
    guard
      case .answer(let agreed) = service.answer(
        request, from: .systemUser(0), team: "user/uid-0", isAdministrator: true)
    else { throw Unexpected() }
    #expect(agreed.status == .ok)
    #expect(try audited() == [.credentialsNotGiven])
  }

  @Test("Each of those who wait for a question finds it by its transaction, until it has gone")
  func transactions() async throws {
    func told() throws -> [WaitingQuestion] {
      guard
        case .answer(let answer) = service.answer(
          ThreadRequest(.pendingConsents), from: .systemUser(1000), team: "user/uid-1000")
      else { throw Unexpected() }
      return answer.data?.pending ?? []
    }
    let first = try call(transaction: "a")
    _ = try call(transaction: "b")
    let other = try call(.nearbyNetworks, transaction: "c")
    #expect(try told().map(\.id) == [first.consent, other.consent])
    #expect(try told().map(\.transactions) == [["a", "b"], ["c"]])
    #expect(try told().first?.isAwaited(by: "b") == true)
    #expect(try told().first?.isAwaited(by: "c") == false)
    callers.forget(first)
    #expect(try told().first?.transactions == ["b"])
  }

  @Test("A decision that names a home is about that one only; without one the id is enough")
  func homes() throws {
    func decide(_ id: String, home: String?) throws -> ThreadAnswer {
      var request = ThreadRequest(.denyConsent)
      (request.id, request.home) = (id, home)
      guard
        case .answer(let answer) = service.answer(
          request, from: .systemUser(0), team: "user/uid-0", isAdministrator: true)
      else { throw Unexpected() }
      return answer
    }
    let id = try call().consent
    #expect(try decide(id, home: "cabin").error?.code == "stale_id")
    #expect(try waiting().map(\.id.description) == [id])
    #expect(try decide(id, home: "home").status == .ok)
    #expect(try decide(try call(.nearbyNetworks).consent, home: nil).status == .ok)
    #expect(try waiting().isEmpty)
  }

  @Test("What a question is about is shown to those who may decide it, and to no other user")
  func pending() throws {
    let id = try call(program: "homes").consent
    func pending(_ user: UInt32, team: String, isAdministrator: Bool) throws -> [WaitingQuestion]? {
      guard
        case .answer(let answer) = service.answer(
          ThreadRequest(.pendingConsents), from: .systemUser(user), team: team,
          isAdministrator: isAdministrator)
      else { throw Unexpected() }
      return answer.data?.pending
    }
    let own = try pending(1000, team: "user/uid-1000", isAdministrator: false)
    #expect(own?.map(\.id) == [id] && own?.first?.reason == nil)
    let bridges = try pending(1000, team: "user/uid-1000", isAdministrator: true)
    #expect(
      bridges?.first?.reason?.hasPrefix(
        #"uid 1000 (team user/uid-1000), program calls itself "homes" would get the network key of "#
          + #""home" (1111111122222222), home home:"#)
        == true)
    #expect(try pending(1001, team: "user/uid-1001", isAdministrator: true) == [])
    #expect(try pending(1000, team: "other", isAdministrator: true) == [])
  }

  @Test("What a program calls itself is shown, and changes no identity")
  func program() async throws {
    let id = try call(program: "homes").consent
    #expect(
      try waiting().first?.requester.description
        == #"uid 1000 (team user/uid-1000), program calls itself "homes""#)
    let event = try #require(try bridge.takeEvents().last)
    #expect(
      event.detail.requester == #"uid 1000 (team user/uid-1000), program calls itself "homes""#)
    #expect(try call().consent == id, "the same user asks the same")
    try consents.approve(id, .always, by: .commandLine(user: 0))
    guard case .answer(let answer) = ask(program: "other") else { throw Unexpected() }
    #expect(answer.data?.credentials?.count == 1)
  }

  @Test("Only the daemon's own user and root decide on the socket")
  func rights() throws {
    var request = ThreadRequest(.approveConsent)
    request.id = try call().consent
    guard
      case .answer(let refused) = service.answer(
        request, from: .systemUser(1001), team: "user/uid-1001"),
      case .answer(let agreed) = service.answer(
        request, from: .systemUser(0), team: "user/uid-0", isAdministrator: true)
    else { throw Unexpected() }
    #expect(refused.error?.code == "not_authorized")
    #expect(agreed.status == .ok)
  }
}
