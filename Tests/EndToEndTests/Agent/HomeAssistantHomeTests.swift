import Foundation
import TestKit
import Testing
import ThreadDataset

/// The agent between a Home Assistant and a daemon, as an enrolled login: no key is on the broker at any time. After a
/// no: `HomeAssistantAgentTests` of `BorderRouterAgent`.
@Suite("A home with Home Assistant's agent", .inTurns, .timeLimit(.minutes(30))) struct HomeAssistantHomeTests {
  private static let token = "eyJhbGciOiJIUzI1NiJ9.a-token-of-an-administrator.Wm4kqDcqTe7Y"
  private let running: RunningHome
  private let home: ThreadNetwork
  private let guest: ThreadNetwork
  private let fake: FakeHomeAssistant
  private var installation: Installation { running.installation }

  init() async throws {
    Recorder.current?.allPublishersAreEnrolled()
    running = try await RunningHome(variables: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/dev/null/none"])
    home = try ThreadNetwork("home")
    guest = try ThreadNetwork("guest")
    fake = try FakeHomeAssistant(token: Self.token)
    Recorder.current?.note("the token", Self.token)
  }

  /// Enrolled, and reading.
  private func agent(_ more: String...) async throws -> AgentProcess {
    let key = try await installation.enrolledKey(of: "phones")
    return try AgentProcess(
      .homeAssistant,
      [
        "--url", fake.url, "--token-file", try installation.directory.putSecret(Self.token, "token"), "--daemon",
        try await installation.daemonLine(), "--key", key,
      ] + more, broker: running.broker, in: installation.directory)
  }

  private func add(_ network: ThreadNetwork, at seconds: UInt64 = 1, channel: UInt16? = nil, isPreferred: Bool = false)
    throws
  {
    let hex = try network.hex(at: seconds, channel: channel)
    fake.add(try OperationalDataset(hex: hex), isPreferred: isPreferred)
  }

  private func topic(_ network: ThreadNetwork) -> String { "threadkeeper/network/\(network.extendedPANID)" }

  @Test("What Home Assistant prefers becomes the preferred network, follows it, and stays when it is deleted there")
  func mirrored() async throws {
    try add(guest)
    try add(home, isPreferred: true)
    let agent = try await agent()
    try await running.until("the preferred network") {
      $0.state(topic(home))?["preferred"] == true && $0.state(topic(guest)) != nil
    }
    #expect(running.state(topic(guest))?["shared_by"]?.list == ["phones"])
    try add(home, at: 2, channel: 25)
    try await running.until("the new channel") { $0.state(topic(home))?["channel"]?.number == 25 }
    for id in fake.ids { fake.delete(id) }
    let count = fake.commands.count
    try await eventually("two more looks") { fake.commands.count > count + 2 }
    try await running.audience.caughtUp()
    #expect(running.state(topic(home))?["preferred"] == true)
    #expect(running.audience.look { $0.events("message_rejected").isEmpty })
    #expect(agent.end() == .exit(0))
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    try await running.stop()
  }

  @Test(
    "Border routers that Home Assistant sees are listed as those of the local network, and one that goes is offline")
  func watched() async throws {
    let address = "a1b2c3d4e5f60718"
    let seen = FakeHomeAssistant.router(
      address, ["extended_pan_id": home.extendedPANID, "network_name": "home", "instance_name": "Attic"])
    fake.see([seen])
    let agent = try await agent()
    let topic = "threadkeeper/router/\(address)"
    try await running.until("the router") { $0.state(topic)?["availability"] == "online" }
    #expect(running.state(topic)?["source"] == "mdns" && running.state(topic)?["name"] == "Attic")
    #expect(running.state(topic)?["ext_pan_id"]?.text == home.extendedPANID)
    fake.see([FakeHomeAssistant.gone(address)])
    try await running.until("it has gone") { $0.state(topic)?["availability"] == "offline" }
    #expect(running.audience.look { $0.events("message_rejected").isEmpty })
    #expect(agent.end() == .exit(0))
    try await running.stop()
  }

  @Test("A token that is refused is an alert, with why and when the agent worked last, until it is replaced")
  func refusedToken() async throws {
    try add(home)
    let agent = try await agent()
    try await running.until("the network") { $0.state(topic(home)) != nil }
    func alert(_ event: String) async throws -> JSON {
      try await running.until("the alert") { !$0.alerts(event, "AgentNotWorking").isEmpty }
      return try #require(running.audience.look { $0.alerts(event, "AgentNotWorking").last })
    }
    _ = try installation.directory.putSecret("another", "token")
    let raised = try await alert("alert_raised")
    #expect(raised["user"] == "phones" && raised["severity"] == "warning")
    let words = raised["summary"]?.text ?? ""
    #expect(
      words.contains("of login phones cannot do its work: \"it does not accept the token; make a")
        && words.contains("\"; it worked last at 20"), "\(words)")
    _ = try installation.directory.putSecret(Self.token, "token")
    _ = try await alert("alert_resolved")
    #expect(running.audience.look { $0.events("message_rejected").isEmpty })
    #expect(agent.end() == .exit(0))
    try await running.stop()
  }

  @Test("With --write a person is asked once, and what the home prefers is preferred there") func written() async throws
  {
    let hub = try SealingLogin("hub", "a1b2c3d4e5f60701")
    try await installation.enroll(hub)
    try await running.publish(hub.says("announce", home.hex(at: 3), to: try await installation.daemonLine()))
    try await running.until("the preferred network") { $0.state(hub.state)?["preferred"] == "match" }
    try add(guest, isPreferred: true)
    try add(home)
    let agent = try await agent("--write")
    #expect(try await installation.question()["command"] == "preferred/write")
    #expect(fake.preferred == guest.extendedPANID)
    try await installation.decide("approve")
    try await eventually("the home's network there") { fake.preferred == home.extendedPANID }
    #expect(fake.datasets[home.extendedPANID] == (try home.hex(at: 3)))
    #expect(fake.datasets[guest.extendedPANID] == (try guest.hex()))
    let count = fake.commands.count
    try await eventually("two more looks") { fake.commands.count > count + 2 }
    #expect(try await installation.questions().isEmpty)
    #expect(!fake.commands.contains("thread/delete_dataset"))
    // What it has written is not left in its memory, which only root can read.
    if geteuid() == 0 {
      try await ProcessMemory.expectNone(
        of: ProcessMemory.needles("the network key", home.networkKey), in: agent.identifier, after: "it was written")
    }
    #expect(agent.end() == .exit(0))
    #expect(agent.output.contains("it prefers the home's network"), "\(agent.output)")
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    try await running.stop()
  }
}
