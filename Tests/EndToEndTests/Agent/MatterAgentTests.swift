import Foundation
import TestKit
import Testing

/// The agent between a Matter server and a daemon. After a no, and what the server refuses: `MatterAgentTests` of
/// `BorderRouterAgent`.
@Suite("A home with a Matter server", .inTurns, .timeLimit(.minutes(30))) struct MatterServerHomeTests {
  private let running: RunningHome
  private let home: ThreadNetwork
  private let server: FakeMatterServer
  private var installation: Installation { running.installation }

  init() async throws {
    Recorder.current?.allPublishersAreEnrolled()
    running = try await RunningHome(variables: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/dev/null/none"])
    home = try ThreadNetwork("home")
    server = try FakeMatterServer()
  }

  @Test("A person is asked once; until then an alert says what it lacks, then it has the preferred credentials")
  func given() async throws {
    let hub = try SealingLogin("hub", "a1b2c3d4e5f60701")
    try await installation.enroll(hub)
    try await running.publish(hub.says("announce", home.hex(at: 3), to: try await installation.daemonLine()))
    try await running.until("the preferred network") { $0.state(hub.state)?["preferred"] == "match" }
    let key = try await installation.enrolledKey(of: "matter")
    func start() async throws -> AgentProcess {
      try AgentProcess(
        .matter, ["--url", server.url, "--daemon", try await installation.daemonLine(), "--key", key],
        broker: running.broker, in: installation.directory)
    }
    let agent = try await start()
    #expect(try await installation.question()["command"] == "preferred/write")
    try await running.until("the alert") { !$0.alerts("alert_raised", "MatterServerDiffers").isEmpty }
    let raised = try #require(running.audience.look { $0.alerts("alert_raised", "MatterServerDiffers").last })
    #expect(raised["user"] == "matter" && raised["severity"] == "warning")
    let words = raised["summary"]?.text ?? ""
    #expect(words.contains("a person has to agree") && words.contains("it has never been given it"), "\(words)")
    #expect(server.dataset == nil)
    try await installation.decide("approve", "--always")
    try await eventually("the credentials there") { server.dataset == (try home.hex(at: 3)) }
    try await running.until("the end of the alert") { !$0.alerts("alert_resolved", "MatterServerDiffers").isEmpty }
    #expect(agent.end() == .exit(0))
    #expect(agent.output.contains("it has the home's network \(home.extendedPANID) now"), "\(agent.output)")
    // A server that has forgotten it, and an agent that does not know: nobody is asked.
    server.set(nil)
    let again = try await start()
    try await eventually("the credentials there again") { server.dataset == (try home.hex(at: 3)) }
    #expect(try await installation.questions().isEmpty)
    #expect(again.end() == .exit(0))
    var needles = Needles()
    needles.add(home)
    #expect(needles.found(in: agent.output + again.output) == [])
    try await running.stop()
  }
}

@Suite("The command of a Matter server's agent", .inTurns, .timeLimit(.minutes(30))) struct MatterAgentCommandTests {
  @Test("Without keys, with plaintext to another machine, and with another URL it is wrong usage") func usage()
    async throws
  {
    let broker = try TestBroker()
    let directory = try TemporaryDirectory()
    for (wrong, words) in [
      (["--url", "ws://127.0.0.1:5580/ws"], "--daemon is needed"),
      (["--url", "ws://192.0.2.1:5580/ws", "--daemon", "tk1:x"], "--allow-plaintext"),
      (["--url", "ws://127.0.0.1:5580/other", "--daemon", "tk1:x"], "--url is ws://HOST"),
      (["--url", "127.0.0.1:5580", "--daemon", "tk1:x"], "--url is ws://HOST"), (["--daemon", "tk1:x"], "--url"),
      (["--url", "ws://127.0.0.1", "--daemon", "tk1:x", "--server-user", "nobody-has-this-name"], "There is no user"),
    ] {
      let outcome = try await ThreadkeeperBinary.run(
        AgentProcess.arguments(.matter, wrong, broker), environment: ["HOME": directory.path])
      #expect(outcome.status == 64 && outcome.error.contains(words), "\(wrong): \(outcome.error)")
    }
  }
}
