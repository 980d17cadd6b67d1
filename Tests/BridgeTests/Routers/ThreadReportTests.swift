// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@testable import Bridge

@Suite("Where routers report to be, and their Thread state")
struct ThreadReportTests {
  private let bridge: TestBridge
  private let home = SampleNetwork.home.extendedPANID
  private let guest = SampleNetwork.guest.extendedPANID

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.announce(
      Agent.living, .home, at: 1,
      ["name": "Living room", "ext_pan_id": home, "thread_state": "router"])
    try bridge.pass(30)
  }

  private func facts(_ name: AlertName) throws -> AlertFacts? {
    let alert = try bridge.alert(name, Agent.living)
    return alert?.phase == .firing ? alert?.facts : nil
  }

  private func state() throws -> [String: Any] {
    let state = try #require(try bridge.router(Agent.living)).state(home: "home")
    let json = Data(WireJSON().encode(state))
    return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
  }

  @Test("A router that is configured for the preferred network and runs on another is a mismatch")
  func elsewhere() throws {
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    try bridge.announce(Agent.garage, .guest, at: 1)
    try bridge.say(.heartbeat, Agent.living, ["ext_pan_id": guest, "thread_state": "child"])
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    try bridge.pass(30)
    let facts = try #require(try facts(.preferredNetworkMismatch))
    #expect(
      facts.summary == #""Living room" is on "guest-thread" (\#(guest)) and configured for "home""#)
    #expect(facts.remedy.contains(#"Disable and enable Thread on "Living room""#))
    #expect(facts.extendedPANID == guest && facts.networkName == "guest-thread")
    #expect(facts.differs == ["ext_pan_id"])
    let state = try state()
    #expect(state["ext_pan_id"] as? String == home)
    #expect(state["current_ext_pan_id"] as? String == guest)
    #expect(state["thread_state"] as? String == "child")
    // A heartbeat that does not say where it is changes nothing; one that does ends it.
    try bridge.say(.heartbeat, Agent.living)
    #expect(try facts.summary == self.facts(.preferredNetworkMismatch)?.summary)
    try bridge.say(.heartbeat, Agent.living, ["ext_pan_id": home])
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    #expect(try self.facts(.preferredNetworkMismatch) == nil)
  }

  @Test("One that runs on the preferred network and is configured for another is a mismatch, too")
  func configuredElsewhere() throws {
    try bridge.say(
      .dataset, Agent.living,
      [
        "dataset": try SampleNetwork.guest.dataset(at: 1).hex, "ext_pan_id": home,
        "thread_state": "leader",
      ])
    try bridge.pass(30)
    let facts = try #require(try facts(.preferredNetworkMismatch))
    #expect(
      facts.summary
        == #""Living room" is on "home" (\#(home)) and configured for "guest-thread""#)
    #expect(
      facts.remedy.contains(
        #"Disable Thread on "Living room", give it the credentials of "home""#))
  }

  @Test("A publisher that reports neither is judged by its datasets, also after one that did")
  func unreported() throws {
    try bridge.say(.heartbeat, Agent.living, ["ext_pan_id": guest, "thread_state": "detached"])
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    #expect(try state()["thread_state"] == nil && state()["current_ext_pan_id"] == nil)
    try bridge.pass(30)
    #expect(try facts(.preferredNetworkMismatch) == nil && facts(.routerDetached) == nil)
  }

  @Test("Detached for longer than the hold is an alert that says since when, until it is attached")
  func detached() throws {
    let since = bridge.clock.now()
    try bridge.say(.heartbeat, Agent.living, ["thread_state": "detached"])
    try bridge.pass(29)
    try bridge.say(.heartbeat, Agent.living, ["thread_state": "detached"])
    #expect(try facts(.routerDetached) == nil)
    try bridge.pass(1)
    let facts = try #require(try facts(.routerDetached))
    #expect(
      facts.summary
        == #""Living room" has Thread detached since \#(since): it is not connected to "home""#
    )
    #expect(facts.remedy.contains("within radio range"))
    #expect(try state()["thread_state_since"] as? String == since.description)
    #expect(AlertName.routerDetached.severity == .warning)
    try bridge.restart()
    try bridge.pass(1)
    #expect(try self.facts(.routerDetached)?.summary == facts.summary)
    try bridge.say(.heartbeat, Agent.living, ["thread_state": "child"])
    #expect(try self.facts(.routerDetached) == nil)
  }

  @Test("A router that is offline is not called detached as well")
  func offlineAndDetached() throws {
    try bridge.say(.heartbeat, Agent.living, ["thread_state": "detached"])
    try bridge.pass(30)
    try bridge.say(.offline, Agent.living, ["reason": "unreachable"])
    try bridge.pass(30)
    #expect(try facts(.routerDetached) == nil && facts(.borderRouterOffline) != nil)
  }

  @Test(
    "Offline says why, and the remedy fits",
    arguments: [
      ("stopped", #"Thread is stopped on "Living room""#, "ot-ctl thread start"),
      ("unreachable", "nothing accepts connections", "systemctl status otbr-agent"),
      ("frozen", "does not answer", "systemctl restart otbr-agent"),
    ])
  func offline(reason: String, summary: String, remedy: String) throws {
    try bridge.say(.offline, Agent.living, ["reason": reason])
    try bridge.pass(30)
    let facts = try #require(try facts(.borderRouterOffline))
    #expect(facts.reason == reason)
    #expect(facts.summary.contains(summary), "\(facts.summary)")
    #expect(facts.remedy.contains(remedy), "\(facts.remedy)")
    #expect(try state()["offline_reason"] as? String == reason)
    #expect(try state()["thread_state"] as? String == (reason == "stopped" ? "disabled" : "router"))
    // Another reason is news.
    let other = reason == "frozen" ? "unreachable" : "frozen"
    try bridge.say(.offline, Agent.living, ["reason": other])
    #expect(try self.facts(.borderRouterOffline)?.reason == other)
    try bridge.say(.heartbeat, Agent.living, ["thread_state": "router"])
    #expect(try self.facts(.borderRouterOffline) == nil && state()["offline_reason"] == nil)
  }

  @Test("Heartbeats that stopped differ from a router that reported offline")
  func silent() throws {
    let last = bridge.clock.now()
    try bridge.say(.heartbeat, Agent.living)
    for seconds in [301, 1, 30] { try bridge.pass(seconds) }
    let facts = try #require(try facts(.borderRouterOffline))
    #expect(facts.summary == #""Living room" has sent no heartbeat since \#(last)"#)
    #expect(facts.reason == "silent" && facts.remedy.contains("its publisher runs"))
  }

  @Test("A router whose Thread is disabled counts as offline, until it reports something else")
  func disabled() throws {
    try bridge.say(.heartbeat, Agent.living, ["ext_pan_id": guest, "thread_state": "disabled"])
    #expect(try bridge.router(Agent.living)?.isOnline == false)
    #expect(try bridge.router(Agent.living)?.offlineReason == .stopped)
    // The agent of a stopped router goes on naming a network.
    #expect(try bridge.router(Agent.living)?.preferred == "match")
    try bridge.say(.heartbeat, Agent.living)
    #expect(try bridge.router(Agent.living)?.isOnline == true)
    #expect(try state()["thread_state"] == nil)
  }
}
