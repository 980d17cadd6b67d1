// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadRequests

@testable import Bridge

@Suite("Alerts about routers on the local network")
struct DiscoveryAlertTests {
  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge {
      $0.discoversRouters = true
      $0.alertsHold = 0
      $0.approvers = ["anna"]
      $0.approversMustSign = false
    }
    try bridge.announce(Agent.living, .home, at: 5)
  }

  private let mismatch = "PreferredNetworkMismatch \(Agent.garage)"

  private func severity(_ name: AlertName) throws -> AlertName.Severity? {
    try bridge.alert(name, Agent.garage)?.severity
  }

  @Test("A router that was on the preferred network and moved away is a warning")
  func moved() throws {
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
    try bridge.discover(Advert(network: .guest, at: 5))
    #expect(try bridge.alarms() == [mismatch])
    #expect(try severity(.preferredNetworkMismatch) == .warning)
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test(
    "A router that never was on the preferred network is an info, until its network is accepted")
  func neverMember() throws {
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [mismatch])
    #expect(try severity(.preferredNetworkMismatch) == .info)
    let facts = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.garage)?.facts)
    #expect(facts.reason == "never_member")
    #expect(facts.remedy.contains("networks accept \(SampleNetwork.guest.extendedPANID)"))
    #expect(try bridge.router(Agent.garage)?.preferred == "mismatch")
    #expect(try accept().isChange)
    #expect(try bridge.alarms() == [])
    #expect(try bridge.router(Agent.garage)?.preferred == "none")
    try bridge.discover(Advert(network: .guest, at: 9))
    #expect(try bridge.router(Agent.garage)?.preferred == "none")
    #expect(try accept() == (false, true))
    #expect(try accept(false).isChange)
    #expect(try bridge.alarms() == [mismatch])
    #expect(try bridge.router(Agent.garage)?.preferred == "mismatch")
  }

  @Test(
    "The alert about a router whose agent is silent names the agent while its record is there")
  func agentSilent() throws {
    let offline = "BorderRouterOffline \(Agent.garage)"
    func summary() throws -> String? {
      try bridge.alert(.borderRouterOffline, Agent.garage)?.facts.summary
    }
    try bridge.announce(
      Agent.garage, .home, at: 5, ["current_ext_pan_id": SampleNetwork.home.extendedPANID])
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [])
    try bridge.say(.offline, Agent.garage)
    #expect(try bridge.alarms() == [offline])
    #expect(try summary()?.contains("its agent is silent") == true)
    // The next look, within a minute.
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [offline, mismatch])
    #expect(try severity(.preferredNetworkMismatch) == .warning)
    try bridge.discover()
    #expect(try bridge.alarms() == [offline])
    #expect(try summary()?.contains("agent") == false)
    try bridge.discover(Advert(network: .guest))
    try bridge.say(.heartbeat, Agent.garage)
    #expect(try bridge.alarms() == [])
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [])
  }

  @Test("A router with a login whose record has gone raises an alert where it sends no heartbeats")
  func recordGone() throws {
    let offline = "BorderRouterOffline \(Agent.garage)"
    try bridge.announce(Agent.garage, .home, at: 5)
    try bridge.discover()
    #expect(try bridge.alarms() == [])
    try bridge.discover(Advert(at: 5))
    try bridge.discover()
    #expect(try bridge.alarms() == [offline])
    #expect(try bridge.router(Agent.garage)?.isOnline == true)
    let read = try #require(try bridge.router(Agent.garage))
    #expect(read.isRecordGone)
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
    try bridge.discover()
    try bridge.announce(Agent.garage, .home, at: 5)
    #expect(try bridge.alarms() == [])
    // Its heartbeats say that it is there.
    try bridge.say(.heartbeat, Agent.garage)
    try bridge.discover(Advert(at: 5))
    try bridge.discover()
    #expect(try bridge.alarms() == [])
  }

  @Test("An info that becomes a warning says so in its event, and the next update does not")
  func worse() throws {
    try bridge.discover(Advert(network: .guest))
    let outbox = try bridge.outbox()
    _ = try outbox.drain()
    func updates() throws -> [[String: Any]] {
      try outbox.drain().filter { $0.topic == "threadkeeper/bridge/event/alert" }.map(\.object)
        .filter { $0["alertname"] as? String == "PreferredNetworkMismatch" }
    }
    try bridge.announce(Agent.garage, .guest, at: 1)
    var update = try #require(try updates().first)
    #expect(update["event_type"] as? String == "alert_updated")
    #expect(update["severity"] as? String == "warning")
    #expect(update["previous_severity"] as? String == "info")
    try bridge.announce(Agent.garage, .guest, at: 1, ["name": "Garage"])
    update = try #require(try updates().first)
    #expect(update["event_type"] as? String == "alert_updated")
    #expect(update["previous_severity"] == nil)
  }

  private func accept(_ isAccepted: Bool = true) throws -> (isChange: Bool, isKnown: Bool) {
    try bridge.accept(.guest, isAccepted: isAccepted)
  }

  @Test("An accepted network does not excuse a router that moved there from the preferred one")
  func movedToAccepted() throws {
    try bridge.discover(Advert(at: 5))
    _ = try accept()
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [mismatch])
  }

  @Test("Infos and warnings of one name are counted by their own severities")
  func counts() throws {
    try bridge.discover(Advert(at: 5))
    try bridge.discover(
      Advert(network: .guest), Advert(name: "b", id: nil, address: Agent.attic, network: .guest))
    let home = try bridge.home()
    let counts = try bridge.database.read { try AlertLedger.countsBySeverity(home: home.id, $0) }
    // And one about how the dataset was sent.
    #expect(counts == [.warning: 1, .info: 2])
  }

  @Test("An acceptance is published with its network")
  func published() throws {
    try bridge.discover(Advert(network: .guest))
    _ = try bridge.takeEvents()
    _ = try accept()
    let network = try #require(try bridge.network(.guest))
    #expect(try bridge.takeEvents().contains { $0.network == network.network })
    let accepted = try bridge.database.read { try AcceptedNetworkLedger.all(home: 1, $0) }
    #expect(accepted == [network.network])
  }

  @Test("A member that is not seen any more is offline, and a visitor may go without a word")
  func offline() throws {
    let visitor = Advert(name: "b", id: nil, address: Agent.attic, network: .guest)
    try bridge.discover(Advert(at: 5), visitor)
    _ = try accept()
    try bridge.discover()
    #expect(try bridge.alarms() == ["BorderRouterOffline \(Agent.garage)"])
    let facts = try #require(try bridge.alert(.borderRouterOffline, Agent.garage)?.facts)
    #expect(facts.remedy.contains("threadkeeper routers remove \(Agent.garage)"))
  }

  @Test("When another network is preferred, those that stay on the former one can be accepted")
  func formerPreferred() throws {
    try bridge.discover(Advert(at: 5))
    try bridge.announce(Agent.attic, .guest, at: 1)
    let command = try #require(RequestCommand(rawValue: "preferred/set"))
    _ = try bridge.ask(command, ["ext_pan_id": SampleNetwork.guest.extendedPANID])
    #expect(try bridge.home().preferredName == "guest-thread")
    #expect(try bridge.alarms().contains(mismatch))
    #expect(try severity(.preferredNetworkMismatch) == .info)
    #expect(try bridge.accept(.home).isChange)
    #expect(try !bridge.alarms().contains(mismatch))
  }

  @Test("A stale member that moves away is a warning")
  func staleMember() throws {
    try bridge.discover(Advert(at: 4))
    try bridge.discover(Advert(network: .guest))
    #expect(try severity(.preferredNetworkMismatch) == .warning)
  }

  @Test("With several homes the remedy names the home")
  func homeOption() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "lab", base: "lab"),
    ]) {
      $0.discoversRouters = true
      $0.alertsHold = 0
    }
    try bridge.announce(Agent.living, .home, at: 5)
    try bridge.discover(Advert(network: .guest))
    let facts = try #require(try bridge.alert(.preferredNetworkMismatch, Agent.garage)?.facts)
    #expect(facts.remedy.contains(" --home home`"))
  }

  @Test("A router with an older active timestamp of the preferred network is stale")
  func stale() throws {
    try bridge.discover(Advert(at: 4))
    #expect(try bridge.alarms() == ["StaleDataset \(Agent.garage)"])
    #expect(try bridge.alert(.staleDataset, Agent.garage)?.facts.differs == nil)
    try bridge.discover(Advert(at: nil))
    #expect(try bridge.alarms() == ["StaleDataset \(Agent.garage)"])
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test(
    "A router that was not there before and joins the preferred network is unknown until accepted")
  func unknown() throws {
    try bridge.discover()
    try bridge.passFirstLook()
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == ["UnknownRouter \(Agent.garage)"])
    #expect(try severity(.unknownRouter) == .info)
    let garage = try agent(Agent.garage)
    #expect(try bridge.acceptance.accept(router: garage, in: "home", by: "test"))
    #expect(try bridge.alarms() == [])
    #expect(try !bridge.acceptance.accept(router: garage, in: "home", by: "test"))
    // It stays accepted.
    try bridge.discover()
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test(
    "A router that advertises before it joins is unknown once it joins, in the first hour as later",
    arguments: [nil, SampleNetwork.guest], [false, true])
  func joinsLater(_ first: SampleNetwork?, _ isFirstHour: Bool) throws {
    try bridge.discover()
    if !isFirstHour { try bridge.passFirstLook() }
    try bridge.discover(Advert(network: first, at: nil))
    #expect(try !bridge.alarms().contains("UnknownRouter \(Agent.garage)"))
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == ["UnknownRouter \(Agent.garage)"])
    // It goes and comes back: that changes nothing.
    try bridge.discover(Advert(network: first, at: nil))
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == ["UnknownRouter \(Agent.garage)"])
    #expect(
      try bridge.acceptance.accept(router: try agent(Agent.garage), in: "home", by: "test"))
    #expect(try bridge.alarms() == [])
  }

  @Test("A router that was accepted before it joins is known")
  func acceptedBefore() throws {
    try bridge.discover(Advert(network: nil, at: nil))
    #expect(
      try bridge.acceptance.accept(router: try agent(Agent.garage), in: "home", by: "test"))
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test("Who was on a network before it was preferred is known, and who joins it later is not")
  func preferredLater() throws {
    try bridge.discover()
    try bridge.passFirstLook()
    try bridge.discover(Advert(network: .guest))
    try bridge.announce(Agent.attic, .guest, at: 1)
    let command = try #require(RequestCommand(rawValue: "preferred/set"))
    _ = try bridge.ask(command, ["ext_pan_id": SampleNetwork.guest.extendedPANID])
    #expect(try !bridge.alarms().contains { $0.hasPrefix("UnknownRouter") })
    try bridge.discover(
      Advert(network: .guest),
      Advert(name: "b", id: nil, address: "0011223344556677", network: .guest))
    #expect(try bridge.alarms().contains("UnknownRouter 0011223344556677"))
    #expect(try !bridge.alarms().contains("UnknownRouter \(Agent.garage)"))
  }

  @Test("Who is seen in the first hour was there before")
  func firstLook() throws {
    try bridge.discover()
    bridge.clock.advance(seconds: DiscoveredRouters.firstLook - 1)
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test("A new router on another network is no unknown router, and one with a login is none either")
  func notUnknown() throws {
    try bridge.discover()
    try bridge.passFirstLook()
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.alarms() == [mismatch])
    try bridge.announce(Agent.garage, .home, at: 5)
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test(
    "A router with stored credentials, or one that came before a network was preferred, is known")
  func knownOtherwise() throws {
    let fresh = try TestBridge {
      $0.discoversRouters = true
      $0.alertsHold = 0
    }
    try fresh.discover()
    try fresh.passFirstLook()
    try fresh.discover(Advert())
    try fresh.announce(Agent.living, .home, at: 1)
    #expect(try fresh.alarms() == [])
    try bridge.announce(Agent.garage, .home, at: 5)
    try bridge.forgetRouter(Agent.garage)
    try bridge.discover()
    try bridge.passFirstLook()
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test("A router that is not listed cannot be accepted")
  func acceptUnlisted() throws {
    #expect(throws: OwnershipFailure.unknownID) {
      try bridge.acceptance.accept(router: try agent(Agent.attic), in: "home", by: "test")
    }
  }

  @Test("Discovery off and on again raises no alarm about routers that were there")
  func offAndOn() throws {
    try bridge.discover()
    try bridge.passFirstLook()
    bridge.configuration.discoversRouters = false
    try bridge.start()
    bridge.configuration.discoversRouters = true
    try bridge.start()
    try bridge.discover(Advert(at: 5))
    #expect(try bridge.alarms() == [])
  }

  @Test("All routers of the preferred network that are elsewhere together have moved")
  func homeMoved() throws {
    try bridge.say(.leave, Agent.living)
    let second = Advert(name: "b", id: nil, address: Agent.attic, at: 5)
    try bridge.discover(Advert(at: 5), second)
    try bridge.discover(Advert(network: .guest), second.with { $0.network = .guest })
    #expect(try bridge.alarms() == ["HomeMoved"])
    #expect(try bridge.preferred() == SampleNetwork.home.dataset(at: 5))
  }

  @Test("With hold 0, a mismatch is raised in the transaction that sees it")
  func atOnce() throws {
    try bridge.discover(Advert(at: 5))
    _ = try bridge.takeEvents()
    try bridge.discover(Advert(network: .guest))
    #expect(try bridge.takeNames().contains("alert_raised"))
  }
}
