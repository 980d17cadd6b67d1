// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("Border agent ids whose routers have left")
struct OwnerRetentionTests {
  private static let day = 86_400

  private func owner(_ id: String, _ keeper: Keeper) throws -> String? {
    try keeper.database.read { try keeper.store.owner(of: try agent(id), in: "home", $0) }
  }

  private func made(_ number: Int) -> String {
    "00000000000000" + (number < 10 ? "0" : "") + "\(number)"
  }

  @Test("An owner is kept for 30 days after the router left, and then the id is anybody's")
  func expiry() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.announce(Agent.attic, .home, at: 1, ["seq": 1])
    try keeper.announce(Agent.garage, .home, at: 1)
    try keeper.say(.leave, Agent.living)
    try keeper.say(.leave, Agent.attic, ["seq": 2])
    try keeper.pass(29 * Self.day)
    #expect(try owner(Agent.living, keeper) == "anna")
    #expect(
      try keeper.announce(Agent.attic, .home, at: 1, user: "bob").rejected == ["not_authorized": 1])
    try keeper.pass(Self.day)
    #expect(try owner(Agent.living, keeper) == nil)
    #expect(try owner(Agent.attic, keeper) == nil)
    #expect(try keeper.router(Agent.attic) == nil)
    #expect(try owner(Agent.garage, keeper) == "anna", "a router that is there keeps its owner")
    #expect(try keeper.announce(Agent.attic, .home, at: 1, user: "bob").rejected.isEmpty)
    #expect(try owner(Agent.attic, keeper) == "bob")
  }

  @Test("A router that comes back starts the 30 days again when it leaves the next time")
  func comesBack() throws {
    let keeper = try Keeper()
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.say(.leave, Agent.living)
    try keeper.pass(20 * Self.day)
    try keeper.announce(Agent.living, .home, at: 1)
    try keeper.pass(20 * Self.day)
    #expect(try owner(Agent.living, keeper) == "anna")
    try keeper.say(.leave, Agent.living)
    // What an edited row says does not count against the sealed item.
    try keeper.database.write { try $0.execute("UPDATE router SET last_seen = 0") }
    try keeper.pass(29 * Self.day)
    #expect(try owner(Agent.living, keeper) == "anna")
    try keeper.pass(Self.day)
    #expect(try owner(Agent.living, keeper) == nil)
  }

  @Test(
    "Credentials that are stored without a router keep their owner, until 30 days after they are deleted"
  )
  func stored() throws {
    let keeper = try Keeper()
    #expect(try keeper.storeCredentials(Agent.attic, .home, at: 1).code == nil)
    try keeper.say(.leave, Agent.garage)
    // An edited row does not delete them.
    try keeper.database.write {
      try $0.execute("UPDATE router SET credential = 'missing', last_seen = 0")
    }
    try keeper.pass(40 * Self.day)
    #expect(try keeper.credential(Agent.attic) != nil)
    #expect(try owner(Agent.attic, keeper) == "anna")
    #expect(try keeper.router(Agent.attic)?.credential == .stored)
    #expect(try keeper.ask(.deleteCredentials, ["border_agent_id": Agent.attic]).code == nil)
    try keeper.pass(29 * Self.day)
    #expect(try owner(Agent.attic, keeper) == "anna")
    try keeper.pass(Self.day)
    #expect(try owner(Agent.attic, keeper) == nil)
  }

  @Test("A team at its limit loses the id that left first; another team's ids stay")
  func limit() throws {
    let keeper = try Keeper { $0.routersPerTeam = 3 }
    try keeper.announce(Agent.garage, .home, at: 1, user: "bob")
    try keeper.say(.leave, Agent.garage, user: "bob")
    for number in 0..<20 {
      #expect(try keeper.announce(made(number), .home, at: 1).rejected.isEmpty)
      try keeper.say(.leave, made(number), number % 2 == 0 ? [:] : ["seq": 5])
      keeper.clock.advance(seconds: 1)
    }
    var removed: [String] = []
    try keeper.temporary.keychain.forEachAuditRecord { record in
      removed += record.lines.filter { $0.action == .routerRemoved }.map(\.subject)
    }
    #expect(removed.first == "\(made(0)) home home from anna: for another id of its team")
    let owned = try (0..<20).filter { try owner(made($0), keeper) != nil }
    #expect(owned == [17, 18, 19])
    #expect(
      try keeper.database.read { try $0.first("SELECT count(*) FROM router") { $0.integer(0) } }
        == 4)
    #expect(try owner(Agent.garage, keeper) == "bob")
    #expect(
      try keeper.announce(made(17), .home, at: 1, user: "bob").rejected == ["not_authorized": 1])
    #expect(try keeper.announce(made(2), .home, at: 1, user: "bob").rejected.isEmpty)
  }

  @Test("Routers without a dataset count too, and go when they have left")
  func withoutDataset() throws {
    let keeper = try Keeper { $0.routersPerTeam = 3 }
    for number in 0..<20 {
      #expect(try keeper.say(.announce, made(number), ["seq": 1]).rejected.isEmpty)
      try keeper.say(.leave, made(number), ["seq": 2])
    }
    #expect(
      try keeper.database.read { try $0.first("SELECT count(*) FROM router") { $0.integer(0) } }
        == 3)
    for number in 30..<33 { try keeper.say(.announce, made(number)) }
    #expect(try keeper.say(.announce, made(33)).rejected == ["too_many_routers": 1])
  }

  @Test(
    "Credentials stored by request count with the routers, for logins and for users of the machine")
  func requests() throws {
    let keeper = try Keeper { $0.routersPerTeam = 2 }
    try keeper.announce(made(1), .home, at: 1)
    #expect(try keeper.storeCredentials(made(2), .home, at: 1).code == nil)
    #expect(
      try keeper.storeCredentials(made(2), .home, at: 2).code == nil, "it has a place already")
    let refused = try keeper.storeCredentials(made(3), .home, at: 1)
    #expect(refused.code == "too_many_routers")
    #expect(try keeper.credential(made(3)) == nil)
    #expect(try keeper.announce(made(3), .home, at: 1).rejected == ["too_many_routers": 1])
    #expect(try keeper.storeCredentials(made(3), .home, at: 1, user: "bob").code == nil)
    // Its own router takes the place that its credentials have.
    #expect(try keeper.announce(made(2), .home, at: 2).rejected.isEmpty)
    for number in 10..<13 {
      var request = ThreadRequest(.storeCredentials)
      request.agent = try agent(made(number))
      request.dataset = try SampleNetwork.home.dataset(at: 1)
      #expect(
        try keeper.command(request).error?.code == (number < 12 ? nil : "too_many_routers"))
    }
    #expect(try keeper.ask(.deleteCredentials, ["border_agent_id": made(2)]).code == nil)
    #expect(try keeper.storeCredentials(made(3), .home, at: 1).code == "not_authorized")
  }

  @Test("What was stored or deleted in the store while no daemon ran counts from its next start")
  func meanwhile() throws {
    let keeper = try Keeper()
    try keeper.announce(made(1), .home, at: 1)
    try keeper.say(.leave, made(1))
    _ = try keeper.storeCredentials(made(2), .home, at: 1)
    try keeper.pass()
    try keeper.database.write { tx in
      _ = try keeper.store.delete(of: try agent(made(2)), in: "home", tx)
      try keeper.store.add(
        try SampleNetwork.home.dataset(at: 1), of: try agent(made(1)), team: "anna", in: "home",
        followsPreferred: false, tx)
    }
    try keeper.restart()
    try keeper.pass()
    #expect(try keeper.router(made(1))?.credential == .stored)
    #expect(try keeper.router(made(2))?.credential == .missing)
    try keeper.pass(30 * Self.day)
    #expect(try owner(made(1), keeper) == "anna")
    #expect(try owner(made(2), keeper) == nil)
    var removed: [String] = []
    try keeper.temporary.keychain.forEachAuditRecord { record in
      removed += record.lines.filter { $0.action == .routerRemoved }.map(\.subject)
    }
    #expect(removed == ["\(made(2)) home home from anna: left 30 days ago"])
  }

  @Test("Owners of a store that has no rows for them are listed, and expire")
  func upgrade() throws {
    let keeper = try Keeper { $0.routersPerTeam = 3 }
    try keeper.pass()
    for number in 0..<3 {
      try keeper.announce(made(number), .home, at: 1)
      if number < 2 { try keeper.say(.leave, made(number)) }
    }
    _ = try keeper.storeCredentials(made(7), .home, at: 1)
    #expect(try owner(made(0), keeper) == nil, "it made room")
    try keeper.database.write { tx in
      try tx.execute("DELETE FROM router WHERE present = 0")
      try tx.execute("UPDATE router SET team = NULL")
      try tx.execute("UPDATE outbox SET owners_after = 0")
    }
    // Also an id whose item is old: its router gets the whole time to announce itself.
    try keeper.pass(40 * Self.day)
    #expect(try owner(made(1), keeper) == "anna")
    #expect(try keeper.router(made(1))?.team == "anna")
    #expect(try keeper.router(made(1))?.isPresent == false)
    #expect(try keeper.router(made(2))?.team == "anna")
    #expect(try keeper.router(made(7))?.credential == .stored)
    try keeper.pass(30 * Self.day)
    #expect(try owner(made(1), keeper) == nil)
    #expect(try keeper.credential(made(7)) != nil)
    #expect(try keeper.credential(made(2)) != nil)
  }
}
