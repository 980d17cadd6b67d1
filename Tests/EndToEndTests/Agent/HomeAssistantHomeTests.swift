// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// The agent between a Home Assistant and a daemon, as an enrolled login: no key is on the broker at any time.
@Suite("A home with Home Assistant's agent", .inTurns, .timeLimit(.minutes(30)))
struct HomeAssistantHomeTests {
  private static let token = "eyJhbGciOiJIUzI1NiJ9.a-token-of-an-administrator.Wm4kqDcqTe7Y"
  private let broker: TestBroker
  private let installation: Installation
  private let home: ThreadNetwork
  private let guest: ThreadNetwork
  private let fake: FakeHomeAssistant

  init() throws {
    Recorder.current?.allPublishersAreEnrolled()
    broker = try TestBroker()
    installation = try Installation(broker, hold: 0)
    home = try ThreadNetwork("home")
    guest = try ThreadNetwork("guest")
    fake = try FakeHomeAssistant(token: Self.token)
    Recorder.current?.note("the token", Self.token)
    try installation.directory.putSecret(Self.token, "token")
  }

  /// Enrolled, and reading.
  private func agent(_ more: String...) async throws -> AgentProcess {
    let own = try await installation.clientKeygen(installation.directory.file("phones.key"))
    let enrolled = try await installation.command(
      "clients", "enroll", "phones", own, "--trust", "signed")
    #expect(enrolled.status == 0, "\(enrolled.error)")
    return try await start(more)
  }

  private func start(_ more: [String]) async throws -> AgentProcess {
    try AgentProcess(
      .homeAssistant,
      [
        "--url", fake.url, "--token-file", installation.directory.file("token"), "--daemon",
        try await installation.daemonLine(), "--key", installation.directory.file("phones.key"),
      ] + more, broker: broker, in: installation.directory)
  }

  private func add(
    _ network: ThreadNetwork, at seconds: UInt64 = 1, channel: UInt16? = nil,
    isPreferred: Bool = false
  ) throws {
    let hex = try network.hex(at: seconds, channel: channel)
    fake.add(try OperationalDataset(hex: hex), isPreferred: isPreferred)
  }

  private func topic(_ network: ThreadNetwork) -> String {
    "threadkeeper/network/\(network.extendedPANID)"
  }

  @Test(
    "What Home Assistant prefers becomes the preferred network, follows it, and stays when it is deleted there"
  )
  func mirrored() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try add(guest)
    try add(home, isPreferred: true)
    let agent = try await agent()
    try await audience.until("the preferred network") {
      $0.state(topic(home))?["preferred"] == true && $0.state(topic(guest)) != nil
    }
    #expect(audience.state(topic(guest))?["shared_by"]?.list == ["phones"])
    try add(home, at: 2, channel: 25)
    try await audience.until("the new channel") {
      $0.state(topic(home))?["channel"]?.number == 25
    }
    for id in fake.ids { fake.delete(id) }
    let count = fake.commands.count
    try await eventually("two more looks") { fake.commands.count > count + 2 }
    try await audience.caughtUp()
    #expect(audience.state(topic(home))?["preferred"] == true)
    #expect(audience.look { $0.events("message_rejected").isEmpty })
    #expect(agent.end() == .exit(0))
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("With --write a person is asked once, and what the home prefers is preferred there")
  func written() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let hub = try SealingLogin("hub", "a1b2c3d4e5f60701")
    let enrolled = try await installation.command(
      "clients", "enroll", "hub", hub.identity.keys.line)
    #expect(enrolled.status == 0, "\(enrolled.error)")
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([
      hub.says("announce", home.hex(at: 3), to: try await installation.daemonLine())
    ])
    try await audience.until("the preferred network") {
      $0.state(hub.state)?["preferred"] == "match"
    }
    try add(guest, isPreferred: true)
    try add(home)
    let agent = try await agent("--write")
    var waiting: [JSON] = []
    try await eventually("a question") {
      waiting = try await installation.json("consent", "list")["pending"]?.list ?? []
      return waiting.count == 1
    }
    #expect(waiting[0]["command"] == "preferred/get")
    #expect(fake.preferred == guest.extendedPANID)
    let approved = try await installation.command(
      "consent", "approve", try #require(waiting[0]["id"]?.text))
    #expect(approved.status == 0, "\(approved.error)")
    try await eventually("the home's network there") { fake.preferred == home.extendedPANID }
    #expect(fake.datasets[home.extendedPANID] == (try home.hex(at: 3)))
    #expect(fake.datasets[guest.extendedPANID] == (try guest.hex()))
    let count = fake.commands.count
    try await eventually("two more looks") { fake.commands.count > count + 2 }
    #expect(try await installation.json("consent", "list")["pending"]?.list.isEmpty == true)
    #expect(!fake.commands.contains("thread/delete_dataset"))
    // What it has written is not left in its memory, which only root can read.
    if geteuid() == 0 {
      let needles = ProcessMemory.needles("the network key", home.networkKey)
      try await eventually(within: .seconds(60), "no key in its memory") {
        try ProcessMemory.finds(of: needles, in: agent.identifier).isEmpty
      }
    }
    #expect(agent.end() == .exit(0))
    #expect(agent.output.contains("it prefers the home's network"), "\(agent.output)")
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("After a no a person is not asked again, also after a restart, until something changes")
  func denied() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    try add(home, isPreferred: true)
    let agent = try await agent("--write")
    try await audience.until("the preferred network") {
      $0.state(topic(home))?["preferred"] == true
    }
    try add(guest, isPreferred: true)
    var waiting: [JSON] = []
    try await eventually("a question") {
      waiting = try await installation.json("consent", "list")["pending"]?.list ?? []
      return waiting.count == 1
    }
    let denied = try await installation.command(
      "consent", "deny", try #require(waiting[0]["id"]?.text))
    #expect(denied.status == 0, "\(denied.error)")
    try await eventually("the refusal") { agent.output.contains("(consent_denied)") }
    func lists() -> Int {
      audience.look { heard in
        heard.messages.count { $0.topic == "threadkeeper/out/phones/response/networks/list" }
      }
    }
    func looksOn(_ what: String) async throws {
      let count = lists()
      try await eventually("\(what)") { lists() > count + 2 }
      #expect(
        audience.look { heard in
          heard.messages.count { $0.topic == "threadkeeper/in/phones/request/preferred/get" }
        } == 1)
    }
    try await looksOn("three more answers")
    #expect(fake.preferred == guest.extendedPANID)
    #expect(agent.end() == .exit(0))
    let next = try await start(["--write"])
    try await looksOn("three answers after a restart")
    #expect(next.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }
}
