// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@testable import Bridge

@Suite("The buttons of requests in Home Assistant")
struct HomeAssistantButtonsTests {
  private let scene: AdoptionScene
  private let broker: ButtonBroker
  private var bridge: TestBridge { scene.bridge }

  init() throws {
    scene = try AdoptionScene()
    scene.bridge.configuration.homeAssistant.isOn = true
    scene.bridge.configuration.homeAssistant.login = "ha"
    scene.bridge.configuration.homeAssistant.consent = .all
    try scene.restart()
    broker = try ButtonBroker(scene.bridge)
    try broker.publish()
  }

  private func restart(_ change: (inout BridgeConfiguration) -> Void = { _ in }) throws {
    change(&bridge.configuration)
    try scene.restart()
    try bridge.useEnrolments()
    try broker.restart()
  }

  /// A login asks for the preferred credentials.
  private func ask(_ user: String = "phone") throws -> String {
    try bridge.useEnrolments()
    try bridge.enroll(user, Identity().keys)
    try bridge.receive([bridge.request("preferred/get", user: user)])
    return try #require(
      try scene.waiting().first { $0.requester.identity == .mqttUser(user) }
    ).id.description
  }

  /// Home Assistant presses a button.
  private func deny(_ id: String) throws {
    let token = bridge.configuration.buttonTokens.token(for: id)
    try bridge.receive([bridge.request("consent/deny", user: "ha", ["id": id, "token": token])])
    #expect(bridge.published.last?.code == nil)
  }

  @Test("A request has two buttons in the daemon's device, with its login and its id")
  func appear() throws {
    try scene.raised()
    try broker.publish()
    let id = try #require(try scene.waiting().first).id.description
    let device = try #require(broker.devices[id]?["device"] as? [String: Any])
    #expect(device["identifiers"] as? [String] == ["threadkeeper_threadkeeper"])
    #expect(device["name"] as? String == "Threadkeeper")
    let buttons = try broker.buttons(of: id)
    #expect(
      buttons.map(\.uniqueID) == [
        "threadkeeper_threadkeeper_\(id)_consent_approve",
        "threadkeeper_threadkeeper_\(id)_consent_deny",
      ])
    #expect(
      buttons.map(\.name) == [#"anna "Living room": approve once"#, #"anna "Living room": deny"#])
    #expect(buttons.first?.pressed["scope"] as? String == "once")
    for button in buttons {
      let token = button.pressed["token"] as? String
      #expect(bridge.configuration.buttonTokens.isValid(token, for: id))
    }
    #expect(broker.listed == [id])
  }

  @Test("Two wait and the first is settled, with a restart between: no button changes its request")
  func twoAndRestart() throws {
    let (first, second) = (try ask("phone"), try ask("tablet"))
    try broker.publish()
    #expect(broker.asked == [first, second])
    try restart()
    try broker.publish()
    try deny(first)
    // Killed before the broker is sent anything of it.
    try restart()
    let third = try ask("laptop")
    try broker.publish()
    #expect(broker.asked == [second, third])
    #expect(broker.listed == [second, third])
    try deny(second)
    try deny(third)
    try broker.publish()
    try restart()
    try broker.publish()
    #expect(broker.asked.isEmpty)
    #expect(broker.announced == [first: 1, second: 1, third: 1])
    #expect(broker.emptied == [first: 1, second: 1, third: 1])
    #expect(broker.bridgeDevices == 1)
  }

  @Test("With nine requests the ninth has buttons when one of the others is settled")
  func nine() throws {
    let ids = try (0...HomeAssistantButton.mostRequests).map { try ask("phone\($0)") }
    try broker.publish()
    #expect(broker.asked == Set(ids.dropLast()))
    try deny(ids[3])
    try broker.publish()
    #expect(broker.asked == Set(ids).subtracting([ids[3]]))
    #expect(broker.emptied == [ids[3]: 1])
    for id in ids { #expect(broker.announced[id] == 1) }
  }

  @Test("They go when the request expires, also while the daemon is away")
  func expired() throws {
    let first = try ask("phone")
    try broker.publish()
    try bridge.pass(121)
    try broker.publish()
    #expect(!broker.asked.contains(first) && broker.emptied == [first: 1])
    let second = try ask("tablet")
    try broker.publish()
    #expect(broker.asked.contains(second))
    bridge.clock.advance(seconds: 200)
    try restart()
    try broker.publish()
    try bridge.pass(1)
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.emptied[second] == 1)
    #expect(broker.emptied.values.allSatisfy { $0 == 1 })
  }

  @Test("What is settled before the broker has answered leaves no buttons")
  func unacknowledged() throws {
    let outbox = try bridge.outbox()
    _ = try outbox.drain()
    let id = try ask()
    let sent = try outbox.next(50)
    let topic = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_\(id)/config"
    #expect(sent.contains { $0.topic == topic && !$0.payload.isEmpty })
    try deny(id)
    for publication in sent { outbox.acknowledge(publication.token) }
    #expect(try outbox.drain().last { $0.topic == topic }?.payload.isEmpty == true)
    try bridge.database.write { try outbox.deviceResults.write($0) }
    #expect(
      try bridge.database.read { try HomeAssistantLedger.all($0) }.allSatisfy { $0.topic != topic })
  }

  @Test(
    "Home Assistant enrolled as signed: no buttons, also after a restart; they come back after it")
  func signed() throws {
    let first = try ask()
    try broker.publish()
    try bridge.enroll("ha", Identity().keys, .signed)
    try bridge.pass(1)
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.listed.isEmpty)
    try restart()
    try broker.publish(republishing: true)
    let second = try ask("tablet")
    try bridge.pass(1)
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.listed.isEmpty && broker.announced == [first: 1])
    #expect(try scene.waiting().count == 2)
    // Once for the start, once for everything.
    #expect(broker.bridgeDevices == 2)
    try bridge.database.write {
      _ = try bridge.enrolments.revoke("ha", in: "home", forgets: true, $0)
    }
    try bridge.pass(1)
    try broker.publish()
    #expect(broker.asked == [first, second] && broker.listed == [first, second])
  }

  @Test("With other settings they go, or are on the new topic only")
  func settings() throws {
    let id = try ask()
    try broker.publish()
    try restart { $0.homeAssistant.prefix = "other" }
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.emptied == [id: 1])
    try restart { $0.homeAssistant.prefix = "homeassistant" }
    try broker.publish()
    #expect(broker.asked == [id])
    // That is not decided there any more.
    try restart { $0.homeAssistant.consent = .adoptions }
    try broker.publish()
    #expect(broker.asked.isEmpty)
    try restart { $0.homeAssistant.consent = .all }
    try broker.publish()
    #expect(broker.asked == [id])
    try restart { $0.homeAssistant.isOn = false }
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.emptied == [id: 3])
  }

  @Test("What Home Assistant is not asked about has no buttons, and hides no other request")
  func others() throws {
    try restart { $0.homeAssistant.consent = .adoptions }
    let key = try ask()
    try broker.publish()
    #expect(broker.asked.isEmpty && broker.emptied.isEmpty)
    try scene.raised()
    let adoption = try #require(try scene.waiting().first { $0.subject.isAdoption })
    try broker.publish()
    #expect(broker.asked == [adoption.id.description])
    try scene.consents.deny(key, by: .commandLine(user: 0))
    try broker.publish()
    #expect(broker.asked == [adoption.id.description])
    #expect(broker.bridgeDevices == 1)
  }

  @Test("When everything is published again, so are the buttons of what waits")
  func republished() throws {
    let id = try ask()
    try broker.publish()
    try broker.publish(republishing: true)
    #expect(broker.asked == [id] && broker.announced == [id: 2])
  }

  @Test("Whatever names a router and a network have, a button's name stays short and of one line")
  func bounded() throws {
    let long = String(repeating: "x", count: 128)
    try bridge.announce(AdoptionScene.router, .guest, at: 1, ["name": "\"\n\(long)"])
    try scene.raised()
    try broker.publish()
    let id = try #require(try scene.waiting().first).id.description
    let name = try #require(try broker.buttons(of: id).first).name
    #expect(name.count < 320 && !name.contains("\n") && !name.contains(long))
    let text = "\(broker.devices)"
    for dataset in [scene.home, scene.guest] { #expect(!text.contains(dataset.hex)) }
  }
}
