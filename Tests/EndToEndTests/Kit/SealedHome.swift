// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

/// Where all who publish are enrolled, and a phone may ask for credentials.
struct SealedHome: Sendable {
  let broker: TestBroker
  let installation: Installation
  let home: ThreadNetwork
  let dataset: String
  private let agent = "a1b2c3d4e5f60701"

  /// What runs there.
  struct Scene {
    let audience: Audience
    let publisher: TestPublisher
    let daemon: DaemonProcess
    /// The daemon's.
    let line: String
  }

  init() throws {
    Recorder.current?.allPublishersAreEnrolled()
    broker = try TestBroker()
    installation = try Installation(broker, hold: 0, more: "consent:\n  approvers: [anna]")
    home = try ThreadNetwork("home-thread")
    dataset = try home.hex()
  }

  /// With a router that is on the home's network.
  func start() async throws -> Scene {
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let daemon = try await installation.start()
    let line = try await announced(audience, publisher)
    return Scene(audience: audience, publisher: publisher, daemon: daemon, line: line)
  }

  /// The daemon's line, with a router enrolled that has announced itself.
  private func announced(_ audience: Audience, _ publisher: TestPublisher) async throws -> String {
    let router = try SealingLogin("router", agent)
    #expect(
      try await installation.command(
        "clients", "enroll", router.user, router.identity.keys.line, "--trust", "signed"
      ).status == 0)
    let line = try await installation.daemonLine()
    try await publisher.publish([router.says("announce", dataset, to: line)])
    try await audience.until("the router") {
      $0.state(router.state)?["preferred"] == "match"
    }
    return line
  }

  func request(
    _ command: String, as user: String = "phone", key: String, line: String? = nil,
    _ more: String...
  ) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      [
        "client", "request", command, "--username", user, "--host", "127.0.0.1", "--port",
        "\(broker.port)", "--key", key,
      ] + (line.map { ["--daemon", $0] } ?? []) + more, input: .text(""),
      environment: ["HOME": installation.directory.path])
  }

  /// The id of the one request that waits.
  func waiting() async throws -> String {
    try await eventually("a request that waits") {
      try await installation.json("consent", "list")["pending"]?.list.count == 1
    }
    return try #require(
      try await installation.json("consent", "list")["pending"]?.list.first?["id"]?.text)
  }

  /// The phone is enrolled; returns its key file.
  func enrollPhone() async throws -> String {
    let key = installation.directory.file("phone.key")
    let line = try await installation.clientKeygen(key)
    #expect(
      try await installation.command("clients", "enroll", "phone", line, "--trust", "signed").status
        == 0)
    return key
  }
}
