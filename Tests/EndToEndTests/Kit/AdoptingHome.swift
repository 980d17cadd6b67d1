// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// Where routers are given the credentials of the preferred network.
struct AdoptingHome: Sendable {
  let broker: TestBroker
  let installation: Installation
  let home: ThreadNetwork
  let guest: ThreadNetwork
  private static let topic = "threadkeeper/out/router/dataset/set"

  /// - Parameters:
  ///   - more: further sections of the settings.
  ///   - mqtt: further lines of the section `mqtt`.
  init(more: String = "", mqtt: [String] = []) throws {
    broker = try TestBroker()
    installation = try Installation(
      broker, mqtt: mqtt, hold: 1,
      more: "preferred:\n  on_mismatch: adopt\n\(more)")
    home = try ThreadNetwork("home-thread")
    guest = try ThreadNetwork("guest-thread")
  }

  /// What runs there.
  struct Scene {
    let audience: Audience
    let publisher: TestPublisher
    /// The daemon's.
    let line: String
    let router: SealingLogin
  }

  /// The home's network is preferred, and the router is on the other one; it seals what it says, or is not
  /// enrolled.
  func start(isEnrolled: Bool = true) async throws -> (Scene, DaemonProcess) {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await installation.start()
    let hub = try SealingLogin("hub", "a1b2c3d4e5f60701")
    let router = try SealingLogin("router", "a1b2c3d4e5f60702")
    try await enroll(hub)
    let line = try await installation.daemonLine()
    let scene = Scene(audience: audience, publisher: publisher, line: line, router: router)
    try await publisher.publish([hub.says("announce", home.hex(), to: line)])
    try await audience.until("the preferred network") {
      $0.state(hub.state)?["preferred"] == "match"
    }
    if isEnrolled {
      Recorder.current?.allPublishersAreEnrolled()
      try await enroll(router)
      try await publisher.publish([router.says("announce", guest.hex(), to: line)])
    } else {
      try await publisher.publish([
        BorderRouter(router.agent, user: "router").announces(try guest.hex())
      ])
    }
    return (scene, daemon)
  }

  func enroll(_ speaker: SealingLogin) async throws {
    let outcome = try await installation.command(
      "clients", "enroll", speaker.user, speaker.identity.keys.line)
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  /// The one request that waits.
  func waiting() async throws -> JSON {
    try await eventually("a request that waits") {
      try await installation.json("consent", "list")["pending"]?.list.count == 1
    }
    return try #require(try await installation.json("consent", "list")["pending"]?.list.first)
  }

  /// Approves it.
  func approve(_ more: String...) async throws {
    let id = try #require(try await waiting()["id"]?.text)
    let arguments = ["consent", "approve", id] + more + ["--config", installation.configuration]
    let outcome = try await ThreadkeeperBinary.run(arguments, environment: installation.environment)
    #expect(outcome.status == 0, "\(outcome.error)")
  }

  /// What the router was sent.
  func messages(_ heard: Audience.Heard) -> [IncomingMessage] {
    heard.messages.filter { $0.topic == Self.topic }
  }

  /// The bodies of what the router was sent.
  func opened(_ scene: Scene) throws -> [JSON] {
    let keys = try PublicIdentity(line: scene.line)
    return try scene.audience.look(messages).map { message in
      let payload = try #require(
        try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
      let opened = try Envelope.open(
        Array(JSONSerialization.data(withJSONObject: try #require(payload["sealed"]))),
        with: scene.router.identity, from: [keys], topic: Self.topic,
        now: Int64(Date().timeIntervalSince1970))
      return try #require(JSON(String(decoding: opened.body, as: UTF8.self)))
    }
  }

  /// The newest alert about it, once that is for this reason.
  func failed(_ reason: String, _ scene: Scene) async throws -> JSON {
    try await scene.audience.until("the alert \(reason)") {
      $0.alerts("alert_raised", "AdoptionFailed").last?["reason"]?.text == reason
    }
    return try #require(
      scene.audience.look { $0.alerts("alert_raised", "AdoptionFailed").last })
  }
}
