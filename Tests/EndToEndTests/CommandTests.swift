import Broker
import Foundation
import TestKit
import Testing

/// That the program, the daemon and the broker are joined. What each command prints, and how it ends, is in the golden
/// files of ThreadkeeperTests.
@Suite("Each command, and the daemon that it asks", .inTurns, .timeLimit(.minutes(30))) struct CommandTests {
  @Test("What looks at a home and what changes it is done by the daemon, and is on the broker at once") func home()
    async throws
  {
    let running = try await RunningHome()
    let (installation, audience, daemon) = (running.installation, running.audience, running.daemon)
    let (home, guests) = (try ThreadNetwork("home"), try ThreadNetwork("guest-thread"))
    let (hub, stray) = (BorderRouter(number: 1), BorderRouter(number: 2))
    try await running.publish(
      hub.says("announce", ("name", #""Hub""#), ("dataset", "\"\(try home.hex())\"")),
      stray.says("announce", ("name", #""Stray""#), ("dataset", "\"\(try guests.hex())\"")))
    try await audience.until("the alert") { !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty }
    // A second daemon is refused, and does the first one no harm.
    let second = try installation.launch()
    #expect(try await second.end() == .exit(75))
    #expect(second.log.contains("process \(daemon.identifier)"))

    let line = try Identity().keys.line
    let dataset = installation.directory.file("home.hex")
    try installation.directory.put(try home.hex(at: 9), "home.hex")
    for (command, part) in [
      ("status", "running as process \(daemon.identifier)"), ("routers", "Stray"), ("networks", guests.extendedPANID),
      ("alerts", #""Stray" is on "guest-thread", not on"#), ("credentials list", hub.agent),
      ("credentials get \(hub.agent) --show-secrets", try home.hex()), ("preferred show", "home"),
      ("preferred check @\(dataset)", "match"), ("networks accept \(guests.extendedPANID)", "is accepted"),
      ("preferred set \(guests.extendedPANID)", "is changed"), ("preferred show --history", home.extendedPANID),
      ("routers accept \(hub.agent)", "accept"), ("routers rename \(hub.agent) Hall", #"called "Hall" now"#),
      ("routers", "Hall"), ("routers show \(hub.agent)", "last 30 days"),
      ("networks forget \(home.extendedPANID)", "home"), ("preferred forget", "is kept as p-"),
      ("clients enroll phone \(line)", "phone is enrolled"), ("clients list", "phone"),
      ("clients revoke phone", "forgotten"), ("consent list", "Nothing waits"),
      ("credentials delete \(hub.agent)", "deleted"), ("routers remove \(stray.agent)", "removed"),
      ("audit", "router_removed \(stray.agent)"), ("keys list", "key_file"), ("store verify", "are as they were left"),
    ] as [(String, String)] {
      let outcome = try await installation.command(command.split(separator: " ").map(String.init))
      #expect(outcome.status == 0 && outcome.error.isEmpty, "\(command): \(outcome)")
      #expect(outcome.output.contains(part), "\(command): \(outcome.output)")
    }
    try await audience.until("what they have changed") { heard in
      heard.state(hub.topic)?["credentials"] == "missing" && heard.state(hub.topic)?["preferred"] == "none"
        && heard.latest[stray.topic] == "" && heard.events("router_left").last?["reason"] == "removed"
        && heard.events("preferred_changed").contains { $0["network_name"] == "guest-thread" }
        && !heard.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
    }
    #expect(try await installation.json("routers").list == [audience.state(hub.topic) ?? .null])
    try await running.stop()
    let none = try await installation.command("status")
    #expect(none.status == 69 && none.output.isEmpty, "\(none)")
    #expect(none.error.hasPrefix("error: no daemon runs"), "\(none.error)")
    #expect(try installation.verify().matchesManifest)
  }

  @Test("A person is asked by list --follow, decides by command, and the broker and the audit have it") func consent()
    async throws
  {
    let scene = try await AskingHome.start()
    let (installation, topic) = (scene.installation, "threadkeeper/bridge/consent")
    let audience = scene.running.audience
    let followed = installation.directory.file("followed")
    let follower = try ChildProcess(
      ThreadkeeperBinary.executable.path, ["consent", "list", "--follow", "--config", installation.configuration],
      environment: installation.environment,
      streams: (.nothing, .file(followed), .file(installation.directory.file("follower.log"))))
    defer { follower.signal(SIGKILL) }
    func lines() throws -> [Substring] { try String(contentsOfFile: followed, encoding: .utf8).split(separator: "\n") }
    for (verb, given) in [(["deny"], false), (["approve", "--always"], true)] {
      // Each asks for a network of its own: what was refused holds for a while.
      if given { try await preferAnother(installation) }
      let asked = Task { try await SocketRequest.ask("preferred/get", at: installation.socketPath) }
      let id = try await scene.question()
      try await audience.until("the question") { $0.state(topic)?["head"]?.text == id }
      // Decided before the follower has begun, it would never be shown.
      try await eventually("it is shown") { try lines().contains { $0.contains(id) } }
      let decided = try await installation.command(["consent"] + verb + [id])
      #expect(decided.status == 0 && decided.output.contains("uid \(geteuid())"), "\(decided)")
      #expect((try await asked.value.error == nil) == given)
      try await audience.until("the decision") { heard in
        heard.state(topic)?["pending"] == 0
          && heard.events("consent_\(given ? "approved" : "denied")").last?["id"]?.text == id
      }
    }
    try await eventually("all lines") { try lines().count == 4 }
    #expect(try lines().last?.contains("approved always by uid \(geteuid())") == true)
    follower.signal(SIGINT)
    #expect(follower.wait() == .signal(SIGINT))
    let grant = try await installation.json("consent", "list", "--grants")["grants"]?.list.first
    let id = try #require(grant?["id"]?.text)
    #expect(try await installation.command("consent", "revoke", id).status == 0)
    #expect(try await scene.history().map { $0["outcome"] } == ["revoked", "approved", "denied"])
    try await scene.running.stop()
    let actor = "uid \(geteuid()) (command line)"
    #expect(
      try Set(installation.audit()).isSuperset(
        of: ["approved", "granted", "revoked"].map { "\(actor): consent_\($0)" }))
  }

  private func preferAnother(_ installation: Installation) async throws {
    let other = try ThreadNetwork("attic").hex()
    #expect(try await installation.command("preferred", "set", other).status == 0)
  }

  @Test("audit --follow goes on with the next daemon, shows nothing twice, and ends with Ctrl-C") func audit()
    async throws
  {
    let installation = try Installation(try TestBroker())
    var daemon = try await installation.start()
    let session = try TerminalSession(
      ["audit", "--follow", "--config", installation.configuration], environment: installation.environment)
    func enroll(_ user: String) async throws {
      let line = try Identity().keys.line
      #expect(try await installation.command("clients", "enroll", user, line).status == 0)
      try await session.until(user)
    }
    try await enroll("bert")
    #expect(try await daemon.stop() == .exit(0))
    let spare = installation.directory.file("spare.key")
    #expect(try await installation.command("keys", "add", "--key-file", spare).status == 0)
    daemon = try await installation.start()
    try await session.until("key_slot_added")
    try await enroll("carl")
    #expect(try await installation.command("keys", "rotate", "--yes").status == 0)
    try await session.until("keys_rotated")
    session.type("\u{3}")
    _ = try await session.end()
    let lines = session.screen.split(separator: "\r\n").filter { $0.contains("  command of user ") }
    #expect(lines.count >= 4 && Set(lines).count == lines.count, "\(session.screen)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Commands that need no daemon print what they make, and run refuses settings with mistakes") func alone()
    async throws
  {
    let directory = try TemporaryDirectory()
    let environment = ["HOME": directory.path]
    let file = directory.file("bad.yaml")
    try directory.put("mqtt: {host: broker.local, port: 99999, password: Sesame-9c1d}\n", "bad.yaml")
    for (command, status, output, error) in [
      ("client keygen", 0, "tk1:", ""), ("client keygen", 73, "", "already"), ("acl", 0, "user threadkeeper", ""),
      ("acl --daemon a/b", 64, "", "a/b"), ("check-config --config \(file)", 78, "bad.yaml:1:34: error: mqtt.port", ""),
      ("run --config \(file)", 78, "", "bad.yaml:1:34: error: mqtt.port"),
    ] as [(String, Int32, String, String)] {
      let outcome = try await ThreadkeeperBinary.run(
        command.split(separator: " ").map(String.init), environment: environment)
      #expect(outcome.status == status, "\(command): \(outcome)")
      for (text, part) in [(outcome.output, output), (outcome.error, error)] {
        #expect(part.isEmpty ? text.isEmpty : text.contains(part), "\(command): \(text)")
        #expect(!text.contains("Sesame"), "\(command)")
      }
    }
    let missing = directory.file("home")
    let homeless = try await ThreadkeeperBinary.run("client", "keygen", environment: ["HOME": missing])
    #expect(homeless.status == 73 && homeless.error.contains("home is missing"), "\(homeless)")
    #expect(!FileManager.default.fileExists(atPath: missing))
    let key = directory.file(".config/threadkeeper/client.key")
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }
}
