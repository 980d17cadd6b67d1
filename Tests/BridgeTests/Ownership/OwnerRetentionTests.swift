// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("Border agent ids whose routers have left")
struct OwnerRetentionTests {
  private static let day = 86_400

  private func owner(_ id: String, _ bridge: TestBridge) throws -> String? {
    try bridge.database.read { try bridge.store.owner(of: try agent(id), in: "home", $0) }
  }

  private func made(_ number: Int) -> String {
    "00000000000000" + (number < 10 ? "0" : "") + "\(number)"
  }

  @Test("An owner is kept for 30 days after the router left, and then the id is anybody's")
  func expiry() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1, ["seq": 1])
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.say(.leave, Agent.living)
    try bridge.say(.leave, Agent.attic, ["seq": 2])
    try bridge.pass(29 * Self.day)
    #expect(try owner(Agent.living, bridge) == "anna")
    #expect(
      try bridge.announce(Agent.attic, .home, at: 1, user: "bob").rejected == ["not_authorized": 1])
    try bridge.pass(Self.day)
    #expect(try owner(Agent.living, bridge) == nil)
    #expect(try owner(Agent.attic, bridge) == nil)
    #expect(try bridge.router(Agent.attic) == nil)
    #expect(try owner(Agent.garage, bridge) == "anna", "a router that is there keeps its owner")
    #expect(try bridge.announce(Agent.attic, .home, at: 1, user: "bob").rejected.isEmpty)
    #expect(try owner(Agent.attic, bridge) == "bob")
  }

  @Test("A router that comes back starts the 30 days again when it leaves the next time")
  func comesBack() throws {
    let bridge = try TestBridge()
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.say(.leave, Agent.living)
    try bridge.pass(20 * Self.day)
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.pass(20 * Self.day)
    #expect(try owner(Agent.living, bridge) == "anna")
    try bridge.say(.leave, Agent.living)
    // What an edited row says does not count against the sealed item.
    try bridge.database.write { try $0.execute("UPDATE router SET last_seen = 0") }
    try bridge.pass(29 * Self.day)
    #expect(try owner(Agent.living, bridge) == "anna")
    try bridge.pass(Self.day)
    #expect(try owner(Agent.living, bridge) == nil)
  }

  @Test(
    "Credentials that are stored without a router keep their owner, until 30 days after they are deleted"
  )
  func stored() throws {
    let bridge = try TestBridge()
    #expect(try bridge.storeCredentials(Agent.attic, .home, at: 1).code == nil)
    try bridge.say(.leave, Agent.garage)
    // An edited row does not delete them.
    try bridge.database.write {
      try $0.execute("UPDATE router SET credential = 'missing', last_seen = 0")
    }
    try bridge.pass(40 * Self.day)
    #expect(try bridge.credential(Agent.attic) != nil)
    #expect(try owner(Agent.attic, bridge) == "anna")
    #expect(try bridge.router(Agent.attic)?.credential == .stored)
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.attic]).code == nil)
    try bridge.pass(29 * Self.day)
    #expect(try owner(Agent.attic, bridge) == "anna")
    try bridge.pass(Self.day)
    #expect(try owner(Agent.attic, bridge) == nil)
  }

  @Test("A team at its limit loses the id that left first; another team's ids stay")
  func limit() throws {
    let bridge = try TestBridge { $0.routersPerTeam = 3 }
    try bridge.announce(Agent.garage, .home, at: 1, user: "bob")
    try bridge.say(.leave, Agent.garage, user: "bob")
    for number in 0..<20 {
      #expect(try bridge.announce(made(number), .home, at: 1).rejected.isEmpty)
      try bridge.say(.leave, made(number), number % 2 == 0 ? [:] : ["seq": 5])
      bridge.clock.advance(seconds: 1)
    }
    var removed: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      removed += record.lines.filter { $0.action == .routerRemoved }.map(\.subject)
    }
    #expect(removed.first == "\(made(0)) home home from anna: for another id of its team")
    let owned = try (0..<20).filter { try owner(made($0), bridge) != nil }
    #expect(owned == [17, 18, 19])
    #expect(
      try bridge.database.read { try $0.first("SELECT count(*) FROM router") { $0.integer(0) } }
        == 4)
    #expect(try owner(Agent.garage, bridge) == "bob")
    #expect(
      try bridge.announce(made(17), .home, at: 1, user: "bob").rejected == ["not_authorized": 1])
    #expect(try bridge.announce(made(2), .home, at: 1, user: "bob").rejected.isEmpty)
  }

  @Test("Routers without a dataset count too, and go when they have left")
  func withoutDataset() throws {
    let bridge = try TestBridge { $0.routersPerTeam = 3 }
    for number in 0..<20 {
      #expect(try bridge.say(.announce, made(number), ["seq": 1]).rejected.isEmpty)
      try bridge.say(.leave, made(number), ["seq": 2])
    }
    #expect(
      try bridge.database.read { try $0.first("SELECT count(*) FROM router") { $0.integer(0) } }
        == 3)
    for number in 30..<33 { try bridge.say(.announce, made(number)) }
    #expect(try bridge.say(.announce, made(33)).rejected == ["too_many_routers": 1])
  }

  @Test(
    "Credentials stored by request count with the routers, for logins and for users of the machine")
  func requests() throws {
    let bridge = try TestBridge { $0.routersPerTeam = 2 }
    try bridge.announce(made(1), .home, at: 1)
    #expect(try bridge.storeCredentials(made(2), .home, at: 1).code == nil)
    #expect(
      try bridge.storeCredentials(made(2), .home, at: 2).code == nil, "it has a place already")
    let refused = try bridge.storeCredentials(made(3), .home, at: 1)
    #expect(refused.code == "too_many_routers")
    #expect(try bridge.credential(made(3)) == nil)
    #expect(try bridge.announce(made(3), .home, at: 1).rejected == ["too_many_routers": 1])
    #expect(try bridge.storeCredentials(made(3), .home, at: 1, user: "bob").code == nil)
    // Its own router takes the place that its credentials have.
    #expect(try bridge.announce(made(2), .home, at: 2).rejected.isEmpty)
    for number in 10..<13 {
      var request = ThreadRequest(.storeCredentials)
      request.agent = try agent(made(number))
      request.dataset = try SampleNetwork.home.dataset(at: 1)
      #expect(
        try bridge.command(request).error?.code == (number < 12 ? nil : "too_many_routers"))
    }
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": made(2)]).code == nil)
    #expect(try bridge.storeCredentials(made(3), .home, at: 1).code == "not_authorized")
  }

  @Test("What was stored or deleted in the store while no daemon ran counts from its next start")
  func meanwhile() throws {
    let bridge = try TestBridge()
    try bridge.announce(made(1), .home, at: 1)
    try bridge.say(.leave, made(1))
    _ = try bridge.storeCredentials(made(2), .home, at: 1)
    try bridge.pass()
    try bridge.database.write { tx in
      _ = try bridge.store.delete(of: try agent(made(2)), in: "home", tx)
      try bridge.store.add(
        try SampleNetwork.home.dataset(at: 1), of: try agent(made(1)), team: "anna", in: "home",
        followsPreferred: false, tx)
    }
    try bridge.restart()
    try bridge.pass()
    #expect(try bridge.router(made(1))?.credential == .stored)
    #expect(try bridge.router(made(2))?.credential == .missing)
    try bridge.pass(30 * Self.day)
    #expect(try owner(made(1), bridge) == "anna")
    #expect(try owner(made(2), bridge) == nil)
    var removed: [String] = []
    try bridge.temporary.keychain.forEachAuditRecord { record in
      removed += record.lines.filter { $0.action == .routerRemoved }.map(\.subject)
    }
    #expect(removed == ["\(made(2)) home home from anna: left 30 days ago"])
  }

  @Test("Owners of a store that has no rows for them are listed, and expire")
  func upgrade() throws {
    let bridge = try TestBridge { $0.routersPerTeam = 3 }
    try bridge.pass()
    for number in 0..<3 {
      try bridge.announce(made(number), .home, at: 1)
      if number < 2 { try bridge.say(.leave, made(number)) }
    }
    _ = try bridge.storeCredentials(made(7), .home, at: 1)
    #expect(try owner(made(0), bridge) == nil, "it made room")
    try bridge.database.write { tx in
      try tx.execute("DELETE FROM router WHERE present = 0")
      try tx.execute("UPDATE router SET team = NULL")
      try tx.execute("UPDATE outbox SET owners_after = 0")
    }
    // Also an id whose item is old: its router gets the whole time to announce itself.
    try bridge.pass(40 * Self.day)
    #expect(try owner(made(1), bridge) == "anna")
    #expect(try bridge.router(made(1))?.team == "anna")
    #expect(try bridge.router(made(1))?.isPresent == false)
    #expect(try bridge.router(made(2))?.team == "anna")
    #expect(try bridge.router(made(7))?.credential == .stored)
    try bridge.pass(30 * Self.day)
    #expect(try owner(made(1), bridge) == nil)
    #expect(try bridge.credential(made(7)) != nil)
    #expect(try bridge.credential(made(2)) != nil)
  }
}
