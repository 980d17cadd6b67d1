// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("A border agent id belongs to the team that first stored it")
struct OwnershipTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge(teams: ["anna": "family", "anton": "family"])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna")
    _ = try bridge.takeEvents()
  }

  private let refusable: [InboundEventKind] = [.announce, .dataset, .leave, .heartbeat, .offline]

  private func fields(_ kind: InboundEventKind) throws -> [String: Any] {
    [.announce, .dataset].contains(kind)
      ? ["dataset": try SampleNetwork.guest.dataset(at: 9).hex] : [:]
  }

  @Test("What another team says of it is refused, said and counted, and changes nothing")
  func otherTeam() throws {
    let before = try bridge.router(Agent.living)
    for kind in refusable {
      let counts = try bridge.say(kind, Agent.living, user: "bert", try fields(kind))
      #expect(counts.rejected == ["not_authorized": 1], "\(kind)")
      let event = try #require(try bridge.takeEvents().first)
      #expect(event.types == .messageRejected)
      #expect(event.user == "bert")
      #expect(event.detail.code == "not_authorized")
      #expect(event.detail.topic == "threadkeeper/in/bert/\(kind.rawValue)")
    }
    #expect(try bridge.router(Agent.living) == before)
    #expect(try bridge.credential(Agent.living)?.dataset == (try SampleNetwork.home.dataset(at: 1)))
  }

  @Test("Another login of the same team may")
  func sameTeam() throws {
    for kind in refusable where kind != .leave {
      #expect(
        try bridge.say(kind, Agent.living, user: "anton", try fields(kind)).rejected.isEmpty,
        "\(kind)")
    }
    #expect(try bridge.credential(Agent.living)?.team == "family")
    #expect(try bridge.say(.leave, Agent.living, user: "anton").rejected.isEmpty)
    #expect(try bridge.router(Agent.living)?.isPresent == false)
  }

  @Test("It continues to belong to the team when the router left, and after a restart")
  func afterLeave() throws {
    try bridge.say(.leave, Agent.living, user: "anna")
    try bridge.restart()
    for kind in [InboundEventKind.announce, .dataset] {
      #expect(
        try bridge.say(kind, Agent.living, user: "bert", try fields(kind)).rejected
          == ["not_authorized": 1])
    }
    #expect(
      try bridge.say(.announce, Agent.living, user: "bert").rejected == ["not_authorized": 1])
    #expect(try bridge.announce(Agent.living, .home, at: 1, user: "anton").rejected.isEmpty)
    #expect(try bridge.credential(Agent.living)?.team == "family")
  }

  @Test("It continues to belong to the team when a person deleted the credentials")
  func afterRemoval() throws {
    #expect(try bridge.removeCredential(of: Agent.living))
    for kind in refusable {
      #expect(
        try bridge.say(kind, Agent.living, user: "bert", try fields(kind)).rejected
          == ["not_authorized": 1], "\(kind)")
    }
    #expect(try bridge.announce(Agent.living, .home, at: 1, user: "anton").rejected.isEmpty)
  }

  @Test("Who announced without a dataset owns nothing yet: the first to store it does")
  func withoutDataset() throws {
    try bridge.say(.announce, Agent.attic, user: "anna")
    #expect(try bridge.announce(Agent.attic, .home, at: 1, user: "bert").rejected.isEmpty)
    #expect(
      try bridge.announce(Agent.attic, .home, at: 2, user: "anna").rejected
        == ["not_authorized": 1])
  }

  @Test("The long form of an id is the same id")
  func alias() throws {
    let long = Agent.living + String(repeating: "0", count: 16)
    #expect(
      try bridge.announce(long, .guest, at: 1, user: "bert").rejected == ["not_authorized": 1])
  }

  @Test("Teams are compared byte by byte, like logins at the broker")
  func canonicalEquivalence() throws {
    try bridge.announce(Agent.attic, .home, at: 1, user: "zo\u{EB}")
    #expect(
      try bridge.announce(Agent.attic, .guest, at: 9, user: "zoe\u{308}").rejected
        == ["not_authorized": 1])
  }

  @Test("In another home the same id is another matter")
  func otherHome() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "cabin", base: "lets/cabin"),
    ])
    try bridge.announce(Agent.living, .home, at: 1, user: "anna")
    let counts = try bridge.announce(Agent.living, .guest, at: 1, user: "bert", base: "lets/cabin")
    #expect(counts.rejected.isEmpty)
    #expect(try bridge.credential(Agent.living, home: "home")?.team == "anna")
    #expect(try bridge.credential(Agent.living, home: "cabin")?.team == "bert")
    #expect(try bridge.router(Agent.living, home: "cabin")?.preferred == "match")
    #expect(try bridge.home("home").routers == 1)
    #expect(try bridge.home("cabin").routers == 1)
  }
}
