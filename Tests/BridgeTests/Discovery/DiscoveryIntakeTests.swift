// SPDX-License-Identifier: Apache-2.0

import Broker
import ServiceDiscovery
import TestKit
import Testing

@testable import Bridge

@Suite("From the browser of the local network to the list", .serialized)
struct DiscoveryIntakeTests {
  let bridge: TestBridge
  let intake: DiscoveryIntake
  let log = RecordingLog()

  init() throws {
    bridge = try TestBridge { $0.discoversRouters = true }
    intake = DiscoveryIntake(bridge.runner(logger: log.logger), home: "home", logger: log.logger)
  }

  private let obstacle = DiscoveryObstacle(message: "nobody answers", remedy: "Install it.")

  @Test("What is found is listed soon, and its number is known")
  func found() async throws {
    defer { intake.stop() }
    #expect(intake.current == .starting)
    intake.receive(.found(Advert().service))
    intake.receive(.listed)
    try await eventually("the router is listed") {
      intake.current == .running(routers: 1, refused: 0)
    }
    #expect(try bridge.router(Agent.garage)?.isOnline == true)
    intake.receive(.lost(name: "Kitchen"))
    try await eventually("the router is offline") {
      try bridge.router(Agent.garage)?.isOnline == false
    }
  }

  @Test("A router whose record was lost in silence was seen when it answered last")
  func silence() async throws {
    defer { intake.stop() }
    intake.receive(.found(Advert().service))
    intake.receive(.listed)
    try await eventually("the router is listed") { try bridge.router(Agent.garage) != nil }
    bridge.clock.advance(seconds: 600)
    let now = bridge.clock.now()
    intake.receive(.lost(name: "Kitchen", silence: .seconds(125)))
    try await eventually("the router is offline") {
      try bridge.router(Agent.garage)?.isOnline == false
    }
    #expect(try bridge.router(Agent.garage)?.lastSeen == now.adding(seconds: -125))
  }

  @Test("A router that is removed while a cache has its record is listed again once it answers")
  func removed() async throws {
    defer { intake.stop() }
    intake.receive(.found(Advert().service))
    intake.receive(.listed)
    try await eventually("the router is listed") { try bridge.router(Agent.garage) != nil }
    try bridge.remove(Agent.garage)
    intake.write()
    bridge.clock.advance(seconds: DiscoveryMemory.answerLimit - 1)
    intake.write()
    #expect(try bridge.router(Agent.garage) == nil)
    // Its address would have expired.
    bridge.clock.advance(seconds: 1)
    intake.write()
    #expect(try bridge.router(Agent.garage) != nil)

    try bridge.remove(Agent.garage)
    intake.write()
    intake.receive(.lost(name: "Kitchen"))
    try await eventually("its record is gone") {
      intake.current == .running(routers: 0, refused: 0)
    }
    intake.receive(.found(Advert().service))
    try await eventually("it is listed") { try bridge.router(Agent.garage) != nil }
  }

  @Test("Of two records with one id, the one that came first counts")
  func twoRecords() async throws {
    defer { intake.stop() }
    intake.receive(.found(Advert(name: "z").service))
    intake.receive(.listed)
    try await eventually("the router is listed") { try bridge.router(Agent.garage) != nil }
    intake.receive(.found(Advert(name: "a", network: .guest).service))
    try await eventually("the other one is refused") {
      intake.current == .running(routers: 1, refused: 1)
    }
    #expect(try bridge.router(Agent.garage)?.name == "z")
  }

  @Test("A record without an id is counted and changes nothing")
  func unusable() async throws {
    defer { intake.stop() }
    intake.receive(.found(Advert(id: nil).service))
    intake.receive(.listed)
    #expect(intake.current == .running(routers: 0, refused: 1))
    intake.receive(.lost(name: "Kitchen"))
    #expect(intake.current == .running(routers: 0, refused: 0))
  }

  @Test("While avahi-daemon is away, the list stays as it was, and the reason is known")
  func unavailable() async throws {
    defer { intake.stop() }
    intake.receive(.found(Advert().service))
    intake.receive(.listed)
    try await eventually("the router is listed") { try bridge.router(Agent.garage) != nil }
    intake.receive(.unavailable(obstacle))
    #expect(intake.current == .unavailable(message: "nobody answers", remedy: "Install it."))
    #expect(try bridge.router(Agent.garage)?.isOnline == true)
    // It came back, and the router is not there any more.
    intake.receive(.listed)
    try await eventually("the router is offline") {
      try bridge.router(Agent.garage)?.isOnline == false
    }
    #expect(log.lines.contains { $0.contains("Install it.") })
  }

  @Test("A store that cannot be written is a warning once, and the list follows when it can")
  func failure() async throws {
    defer { intake.stop() }
    try bridge.database.write { try $0.execute("ALTER TABLE router RENAME TO router_away") }
    for (round, name) in ["a", "b"].enumerated() {
      intake.receive(.found(Advert(name: name).service))
      try await eventually("a round is over") { intake.rounds > round }
    }
    guard case .unavailable(let message, _) = intake.current else {
      Issue.record("\(intake.current)")
      return
    }
    #expect(message.hasPrefix("What is found cannot be stored: "))
    try bridge.database.write { try $0.execute("ALTER TABLE router_away RENAME TO router") }
    intake.receive(.found(Advert().service))
    try await eventually("the router is listed") { try bridge.router(Agent.garage) != nil }
    #expect(log.lines.count { $0.contains("cannot be written") } == 1)
  }

  @Test("After a stop nothing is due any more, and what was due is not written")
  func stopped() throws {
    var records = DiscoveryRecords()
    let now = bridge.clock.now()
    #expect(records.take(.found(Advert().service), at: now) == 250)
    #expect(records.take(.found(Advert(at: 2).service), at: now) == nil)
    records.isScheduled = false
    records.isStopped = true
    #expect(records.take(.found(Advert(at: 3).service), at: now) == nil)
    intake.stop()
    intake.receive(.found(Advert().service))
    intake.write()
    #expect(intake.rounds == 0)
    #expect(try bridge.router(Agent.garage) == nil)
  }
}
