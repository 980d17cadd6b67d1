// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("What follows from the events of a router, before anything of it is applied")
struct RouterEffectsTests {
  private let bridge: TestBridge

  private struct NoEvent: Error {}

  init() throws { bridge = try TestBridge() }

  private func event(
    _ kind: InboundEventKind, _ fields: [String: Any] = [:]
  ) throws -> InboundEvent {
    var reader = MessageReader(topics: bridge.configuration.topics)
    guard case .event(let event, _, _) = reader.read(try bridge.message(kind, Agent.living, fields))
    else { throw NoEvent() }
    return event
  }

  private func announcement(_ network: SampleNetwork = .home) throws -> InboundEvent {
    try event(.announce, ["dataset": try network.dataset(at: 5).hex])
  }

  /// The component alone, in a transaction of its own.
  private func routers<R>(_ body: (Routers, HomeRecord) throws -> R) throws -> R {
    let home = try bridge.home()
    return try bridge.database.write { tx in
      try body(
        Routers(
          configuration: bridge.configuration, store: bridge.store, now: bridge.clock.now(), tx: tx),
        home)
    }
  }

  private func announce(_ event: InboundEvent) throws -> [Effect] {
    let stored = try bridge.router(Agent.living)
    let credential = try bridge.credential(Agent.living)
    let preferred = try bridge.preferred()
    return try routers { routers, home in
      var router = try #require(
        try routers.inOrder(
          event, stored: stored, agent: agent(Agent.living), user: "anna", in: home))
      routers.takeDescription(of: event, by: "anna", into: &router)
      return try routers.announce(
        event, by: "anna", of: &router, stored: stored, over: credential, preferred: preferred,
        report: nil, in: home
      ).effects
    }
  }

  @Test(
    "The first router of a home: it came, its network is preferred, and its row is to be written")
  func first() throws {
    let effects = try announce(announcement())
    guard effects.count == 3, case .routerCame(let home) = effects[0],
      case .preferred(let moved, _, home) = effects[1], case .router(let change) = effects[2]
    else {
      Issue.record("\(effects)")
      return
    }
    #expect(moved.from == nil && moved.to?.networkName == "home")
    #expect(
      change.event.types == [.routerAnnounced, .datasetStored, .preferredChanged])
    #expect(change.stored == nil && change.trigger == "announce")
    #expect(try bridge.credential(Agent.living) != nil, "the component stores the credentials")
    #expect(try bridge.router(Agent.living) == nil, "the row is written with what follows")
  }

  @Test("The same announced again only writes the row")
  func again() throws {
    try bridge.announce(Agent.living, .home, at: 5)
    let effects = try announce(announcement())
    guard effects.count == 1, case .router(let change) = effects[0] else {
      Issue.record("\(effects)")
      return
    }
    #expect(change.event.types.isEmpty && change.stored != nil)
  }

  @Test("A heartbeat that shows nothing new has no effects; offline has one")
  func presence() throws {
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.say(.heartbeat, Agent.living)
    let stored = try #require(try bridge.router(Agent.living))
    let beat = try event(.heartbeat)
    let offline = try event(.offline)
    try routers { routers, _ in
      #expect(try routers.presence(beat, of: stored, stored: stored) == nil)
      let change = try #require(try routers.presence(offline, of: stored, stored: stored))
      #expect(!change.router.isOnline && change.trigger == "offline")
      #expect(routers.silence(of: stored).router.offlineReason == .silent)
    }
  }

  @Test("Another SSID is an event; the same one is none")
  func ssid() throws {
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.say(.ssid, Agent.living, ["ssid": "old"])
    let stored = try #require(try bridge.router(Agent.living))
    let (same, other) = (try event(.ssid, ["ssid": "old"]), try event(.ssid, ["ssid": "new"]))
    try routers { routers, home in
      #expect(try routers.ssid(same, of: stored, in: home) { nil }.isEmpty)
      let effects = try routers.ssid(other, of: stored, in: home) { nil }
      guard effects.count == 1, case .router(let change) = effects[0] else {
        Issue.record("\(effects)")
        return
      }
      #expect(change.event.types == .ssidChanged && change.event.detail.previousSSID == "old")
      #expect(change.router.ssid == "new")
    }
  }

  @Test(
    "A router that leaves is taken off the list, and its login may speak for no router any more")
  func leave() throws {
    try bridge.announce(Agent.living, .home, at: 5)
    let stored = try #require(try bridge.router(Agent.living))
    let credential = try #require(try bridge.credential(Agent.living))
    try routers { routers, home in
      let effects = try routers.leave(
        stored, ordered: stored, credential: credential, owner: "anna", in: home)
      guard effects.count == 2, case .unlist(let router, _) = effects[0],
        case .routerGone(ofUser: "anna", _) = effects[1]
      else {
        Issue.record("\(effects)")
        return
      }
      #expect(router.agent == stored.agent)
    }
    #expect(try bridge.credential(Agent.living) == nil)
  }

  @Test("A router that is not listed and leaves is a repetition")
  func leaveAgain() throws {
    try routers { routers, home in
      let ordered = RouterRecord(
        home: home.id, agent: try agent(Agent.living), user: "anna", now: bridge.clock.now())
      let effects = try routers.leave(
        nil, ordered: ordered, credential: nil, owner: nil, in: home)
      guard effects.count == 1, case .duplicate = effects[0] else {
        Issue.record("\(effects)")
        return
      }
    }
  }
}
