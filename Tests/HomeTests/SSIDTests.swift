// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// The Wi-Fi of access points that routers are in or beside.
@Suite struct SSIDTests {
  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.accessPoint = "ap" }
    return scene
  }

  @Test(
    "A name is a change where it differs from the one before, and the first one is remembered",
    arguments: [
      (String?.none, String?.none, String?.none), (nil, "old", "old"), (nil, "new", nil),
      ("old", nil, "old"), ("old", "other", "other"), ("old", "new", "old"), ("new", "old", nil),
      ("ne\u{301}w", nil, "ne\u{301}w"),
    ])
  func change(_ remembered: String?, _ said: String?, _ previous: String?) {
    var scene = Self.scene()
    if let remembered { scene.publish(.ssid, 1) { $0.ssid = remembered } }
    let output = scene.publish(.ssid, 1) {
      $0.ssid = "new"
      $0.previousSSID = said
    }
    #expect(scene.router(1)?.ssid == "new")
    #expect(output.types == (previous == nil ? [] : .ssidChanged))
    guard let previous, case .router(let event) = output.events.first else { return }
    #expect(event.ssid == "new" && event.previousSSID == previous && event.check == .match)
    #expect(event.router == .number(1) && event.user == nil)
  }

  @Test("A change says whether the router is on the preferred network")
  func check() {
    var scene = Self.scene()
    scene.announce(2, .of(2))
    let output = scene.publish(.ssid, 2, from: "watcher") {
      $0.ssid = "a"
      $0.previousSSID = "b"
    }
    guard case .router(let event) = output.events.first else {
      Issue.record("an event")
      return
    }
    #expect(event.check == .mismatch([.extendedPANID, .networkName]))
    #expect(scene.router(2)?.user == "otbr", "a watcher becomes owner of nothing")
  }

  @Test("An access point stands for the routers of the sender's team that named it, and no others")
  func accessPoint() {
    var scene = Self.scene()
    scene.announce(2, .of(1)) { $0.accessPoint = "ap" }
    scene.announce(3, .of(1), from: "other") { $0.accessPoint = "ap" }
    scene.announce(4, .of(1)) { $0.accessPoint = "another" }
    func report(_ name: ExactName, from user: ExactName = "otbr") -> HomeOutput {
      var message = RouterMessage(.ssid, .accessPoint(name))
      message.ssid = "new"
      message.previousSSID = "old"
      return scene.handle(.message(message, from: user))
    }
    #expect(report("none").rejection == .unknownAccessPoint)
    #expect(report("ap", from: "third").rejection == .unknownAccessPoint)
    let output = report("ap")
    #expect(output.types(of: 1) == .ssidChanged && output.types(of: 2) == .ssidChanged)
    #expect(output.types(of: 3) == [] && output.types(of: 4) == [])
    for agent: UInt64 in [1, 2] { scene.publish(.leave, agent) }
    #expect(report("ap").rejection == .unknownAccessPoint)
  }

  @Test("Sixteen routers may be behind an access point, with one more none is touched")
  func most() {
    var scene = HomeScene()
    var message = RouterMessage(.ssid, .accessPoint("ap"))
    message.ssid = "new"
    for agent: UInt64 in 1...16 { scene.announce(agent, .of(1)) { $0.accessPoint = "ap" } }
    #expect(scene.handle(.message(message, from: "otbr")).rejection == nil)
    scene.announce(17, .of(1)) { $0.accessPoint = "ap" }
    message.ssid = "newer"
    #expect(
      scene.handle(.message(message, from: "otbr")).rejection == .tooManyBehindAccessPoint(16))
    #expect(scene.router(1)?.ssid == "new")
  }
}
