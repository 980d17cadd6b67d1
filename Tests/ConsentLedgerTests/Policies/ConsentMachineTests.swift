// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset
import ThreadRequests

@testable import ConsentLedger

/// A test for each row of the table in `ConsentMachine`.
@Suite("Consent state machine")
struct ConsentMachineTests {
  private let now: Int64 = 1_000_000_000
  private static let timeout = PendingConsent.timeout

  private func request(
    _ transaction: String = "r-1", router: ConsentRouter? = nil
  ) -> ConsentRequest {
    ConsentRequest(
      ConsentSubject(
        home: "home", command: "preferred/get", networks: [.home], router: router), by: .phone,
      reply: .sample(transaction))
  }

  private func question(router: ConsentRouter? = nil) -> PendingConsent {
    PendingConsent(request(router: router), id: .make(.request), now: now)
  }

  private func denied(_ question: PendingConsent) -> PendingConsent {
    var denied = question
    denied.isDenied = true
    denied.replies = []
    return denied
  }

  private func expectRefusal(
    _ code: ConsentRefusal.Code, _ question: PendingConsent, _ event: ConsentEvent, at now: Int64
  ) {
    var machine = ConsentMachine(question)
    let refusal = #expect(throws: ConsentRefusal.self) { try machine.handle(event, now: now) }
    #expect(refusal?.code == code && machine == ConsentMachine(question))
  }

  @Test("A repeated request adds its reply address once, up to eight addresses")
  func asked() throws {
    var machine = ConsentMachine(question())
    #expect(try machine.handle(.asked(request()), now: now) == [])
    for number in 2...8 {
      let effects = try machine.handle(.asked(request("r-\(number)")), now: now)
      #expect(effects == [.save(try #require(machine.question))])
    }
    let full = try #require(machine.question)
    #expect(full.replies.count == PendingConsent.mostReplies)
    expectRefusal(.rateLimited, full, .asked(request("r-9")), at: now)
  }

  @Test("A request is refused while its denial is remembered")
  func askedAfterDenial() {
    expectRefusal(.denied, denied(question()), .asked(request()), at: now)
  }

  @Test("Approving once deletes the request; approving `always` also creates a grant")
  func approved() throws {
    let question = question()
    let rows: [(ConsentScope, [ConsentEffect])] = [
      (.once, []), (.always, [.grant(question, by: .anna)]),
    ]
    for (scope, granted) in rows {
      var machine = ConsentMachine(question)
      #expect(
        try machine.handle(.approved(scope, by: .anna), now: now)
          == granted + [.delete, .remember(.approved, by: .anna, scope)])
      #expect(machine.question == nil)
    }
  }

  @Test("An approval by its own requester is refused and leaves the request unchanged")
  func notAuthorized() {
    let own = ConsentApprover.mqttUser("phone", team: "phone")
    expectRefusal(.notAuthorized, question(), .approved(.once, by: own), at: now)
  }

  @Test("A denial drops the replies, and restarts the time limit of a request about a router")
  func deniedOnce() throws {
    let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
    let router = ConsentRouter(agent: agent, name: nil, networkName: "guest")
    let rows: [(ConsentRouter?, Int64)] = [
      (nil, now + Self.timeout), (router, now + 1_000 + Self.timeout),
    ]
    for (router, expires) in rows {
      let question = question(router: router)
      var kept = denied(question)
      kept.expires = expires
      var machine = ConsentMachine(question)
      #expect(
        try machine.handle(.denied(by: .anna), now: now + 1_000)
          == [.remember(.denied, by: .anna, nil), .save(kept)])
      #expect(machine.question == kept)
    }
  }

  @Test("What was denied may be asked again at once when a person wants it; what waits stays")
  func wantedAgain() throws {
    var machine = ConsentMachine(denied(question()))
    #expect(try machine.handle(.wantedAgain, now: now) == [.delete] && machine.question == nil)
    let question = question()
    machine = ConsentMachine(question)
    #expect(try machine.handle(.wantedAgain, now: now) == [])
    #expect(machine == ConsentMachine(question))
  }

  @Test("Withdrawing ends the time limit of a waiting request, and leaves a denied one unchanged")
  func withdrawn() throws {
    var machine = ConsentMachine(question())
    let effects = try machine.handle(.withdrawn, now: now + 5)
    #expect(machine.question?.expires == now + 5)
    #expect(effects == [.save(try #require(machine.question))])
    let kept = denied(question())
    machine = ConsentMachine(kept)
    #expect(try machine.handle(.withdrawn, now: now) == [] && machine == ConsentMachine(kept))
  }

  @Test("The end of its requester ends the time limit of a waiting or denied request")
  func requesterEnded() throws {
    for question in [question(), denied(question())] {
      var ended = question
      ended.expires = now + 5
      var machine = ConsentMachine(question)
      #expect(try machine.handle(.requesterEnded, now: now + 5) == [.save(ended)])
      #expect(machine.question == ended)
      #expect(try machine.handle(.requesterEnded, now: now + 9) == [.save(ended)])
    }
  }

  @Test("After its time limit a waiting request expires, and a denied one is deleted")
  func clock() throws {
    let rows: [(PendingConsent, [ConsentEffect])] = [
      (question(), [.delete, .remember(.expired, by: nil, nil)]),
      (denied(question()), [.delete]),
    ]
    for (question, effects) in rows {
      var machine = ConsentMachine(question)
      #expect(try machine.handle(.clock, now: question.expires - 1) == [])
      #expect(machine == ConsentMachine(question))
      #expect(try machine.handle(.clock, now: question.expires) == effects)
      #expect(machine.question == nil)
    }
  }

  @Test("A request that is denied or past its time limit cannot be decided")
  func stale() {
    let question = question()
    for event in [ConsentEvent.approved(.once, by: .anna), .denied(by: .anna)] {
      expectRefusal(.staleID, question, event, at: question.expires)
      expectRefusal(.staleID, denied(question), event, at: now)
    }
  }
}
