// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// Another login that may write where the daemon announces its devices has a person's press decide about something else.
@Suite("Altered devices of Home Assistant", .inTurns, .timeLimit(.minutes(30)))
struct AlteredDeviceTests {
  private static let bridge =
    "homeassistant/device/threadkeeper/threadkeeper_threadkeeper/config"
  private static let start = "homeassistant/device/threadkeeper/threadkeeper_threadkeeper_c-"
  private static let answer = "threadkeeper/out/homeassistant/response/consent/approve"

  @Test(
    "An altered button is published again, is an alert, and for a minute no button decides",
    arguments: ["5", "'3.1.1'"])
  func altered(version: String) async throws {
    let place = try AdoptingHome(
      more: "home_assistant:\n  login: homeassistant\n", mqtt: ["protocol: \(version)"])
    let (scene, daemon) = try await place.start()
    func topic(_ heard: Audience.Heard) -> String? {
      heard.latest.keys.first { $0.hasPrefix(Self.start) && heard.latest[$0] != "" }
    }
    func pressed(_ heard: Audience.Heard) -> String? {
      topic(heard).flatMap { heard.state($0) }?["components"]?["consent_approve"]?["payload_press"]?
        .text
    }
    try await scene.audience.until("the button") { pressed($0) != nil }
    let device = try #require(scene.audience.look(topic))
    let own = try #require(scene.audience.look { $0.latest[device] })
    let press = try #require(scene.audience.look(pressed))
    // Its own text that comes back, or that somebody deletes a device, is no alteration; and what waits keeps its
    // buttons. When they are there for the second time, an alert about the first would have come.
    try await scene.publisher.publish(Self.bridge, "", retain: true)
    let start = scene.audience.look { $0.messages.count }
    for times in 1...2 {
      try await scene.publisher.publish(device, "", retain: true)
      try await scene.audience.until("the button again") { heard in
        let texts = heard.messages.dropFirst(start).filter { $0.topic == device }
          .map { String(decoding: $0.payload, as: UTF8.self) }
        return texts.filter { $0 == own }.count >= times && texts.last == own
      }
    }
    #expect(scene.audience.look { $0.alerts("alert_raised", "DiscoveryAltered").isEmpty })

    // The attacker has a request of its own, and gives the button its id.
    let id = String(device.dropFirst(Self.start.count).prefix(16))
    let foreign = own.replacing("c-\(id)", with: "c-\(String(id.reversed()))")
    let before = scene.audience.look { $0.messages.count }
    try await scene.publisher.publish(device, foreign, retain: true)
    try await scene.audience.until("the alert, and the daemon's text again") { heard in
      let texts = heard.messages.dropFirst(before).filter { $0.topic == device }
        .map { String(decoding: $0.payload, as: UTF8.self) }
      return texts.contains(foreign) && texts.last == own
        && heard.alerts("alert_raised", "DiscoveryAltered").count == 1
    }
    try await scene.publisher.publish(
      "threadkeeper/in/homeassistant/request/consent/approve", press)
    try await scene.audience.until("the refusal") {
      $0.state(Self.answer)?["error"]?["code"] == "not_authorized"
    }
    #expect(scene.audience.look(place.messages).isEmpty)
    _ = try await place.waiting()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("What a broker that has lost the session keeps is replaced without an alert")
  func away() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    var daemon = try await installation.start()
    var audience = try await Audience.start(broker)
    try await audience.until("the device") { !$0.latest[Self.bridge, default: ""].isEmpty }
    let own = try #require(audience.look { $0.latest[Self.bridge] })
    #expect(try await daemon.stop() == .exit(0))
    // As if the broker brought back what an earlier version of the daemon has published.
    Recorder.current?.brokersMayForget()
    broker.kill()
    try broker.start()
    audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish(
      Self.bridge, own.replacing("Threadkeeper", with: "Threads"), retain: true)
    try await audience.until("the other text") { $0.latest[Self.bridge, default: own] != own }
    daemon = try await installation.start()
    try await audience.until("the device as it was") { $0.latest[Self.bridge] == own }
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try ThreadNetwork("home").hex())])
    try await audience.until("what comes later") { $0.latest[router.topic] != nil }
    #expect(audience.look { $0.alerts("alert_raised", "DiscoveryAltered").isEmpty })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A press without the request's token decides about nothing, as a button of another client has none"
  )
  func withoutToken() async throws {
    let place = try AdoptingHome(more: "home_assistant:\n  login: homeassistant\n")
    let (scene, daemon) = try await place.start()
    let id = try #require(try await place.waiting()["id"]?.text)
    try await scene.publisher.publish(
      "threadkeeper/in/homeassistant/request/consent/approve",
      "{\"id\":\"\(id)\",\"scope\":\"once\"}")
    try await scene.audience.until("the refusal") {
      $0.state(Self.answer)?["error"]?["field"] == "token"
    }
    #expect(scene.audience.look(place.messages).isEmpty)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("With the printed access list only Home Assistant's login and the daemon reach the devices")
  func accessList() async throws {
    let installation = try Installation(port: 1883)
    let list = try await installation.command(
      "acl", "--daemon", "threadkeeper", "--keep", "nodered", "--keep", "homeassistant",
      "--monitor", "homeassistant")
    try #require(list.status == 0, "\(list.error)")
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: "acl_file /etc/mosquitto/threadkeeper.acl\n",
      files: ["threadkeeper.acl": list.output],
      logins: ["threadkeeper", "hub", "nodered", "homeassistant"])
    let topic = "homeassistant/device/threadkeeper/x/config"
    let readers = [
      ("threadkeeper", true), ("homeassistant", true), ("nodered", false), ("hub", false),
    ]
    var audiences: [(String, Audience, Bool)] = []
    for (login, reads) in readers {
      audiences.append((login, try await broker.audience(login, topic), reads))
    }
    for login in ["nodered", "hub"] {
      let outcome = try await broker.publisher(login).publish(topic, "{}")
      #expect(outcome != .delivered, "\(login)")
    }
    #expect(
      try await broker.publisher("nodered").publish("homeassistant/lamp/config", "{}") == .delivered
    )
    #expect(try await broker.publisher("threadkeeper").publish(topic, "own") == .delivered)
    for (login, audience, reads) in audiences where reads {
      try await audience.until("what the daemon publishes, as \(login)") {
        $0.latest[topic] == "own"
      }
    }
    #expect(audiences.allSatisfy { $2 || $1.look { $0.messages.isEmpty } })
  }
}
