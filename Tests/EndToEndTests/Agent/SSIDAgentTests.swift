import Foundation
import TestKit
import Testing

/// The agent of an SSID beside a broker and a daemon. What it publishes when: `SSIDMachineTests`; what is read:
/// `SSIDOutputTests` and `HostapdFileTests`.
@Suite("The agent of an SSID", .inTurns, .timeLimit(.minutes(30))) struct SSIDAgentTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let router = BorderRouter(number: 1)

  init() throws {
    broker = try TestBroker(persistence: true)
    directory = try TemporaryDirectory()
  }

  @Test("A change of what the command prints is an ssid_changed, and in the router's state; it is sealed")
  func command() async throws {
    let running = try await RunningHome(on: broker, more: "ssid: {reporters: [hall]}")
    let (installation, audience) = (running.installation, running.audience)
    try await running.publish(router.announces(try ThreadNetwork("home").hex()))
    let key = try await installation.enrolledKey(of: "hall")
    try directory.put("home-wifi\n", "ssid")
    let agent = try AgentProcess(
      .ssid,
      [
        "--command", "cat '\(directory.file("ssid"))'", "--router", router.agent, "--daemon",
        try await installation.daemonLine(), "--key", key,
      ], broker: broker, in: directory)
    try await running.until("the first") { $0.state(router.topic)?["ssid"] == "home-wifi" }
    #expect(audience.look { $0.events("ssid_changed").isEmpty })
    // None, and trouble: nothing is published for either.
    try directory.put("\n", "ssid")
    try await eventually("none") { agent.output.contains("there is no SSID") }
    try FileManager.default.removeItem(atPath: directory.file("ssid"))
    try await eventually("trouble") { agent.output.contains("the command ended with 1") }
    try directory.put("home \"wifi\" é 6\nnoise\n", "ssid")
    try await running.until("the change") {
      $0.events("ssid_changed").count == 1 && $0.state(router.topic)?["ssid"] == "home \"wifi\" é 6"
    }
    let event = try #require(audience.look { $0.events("ssid_changed").first })
    #expect(event["ssid"] == "home \"wifi\" é 6" && event["previous_ssid"] == "home-wifi")
    audience.look { heard in
      for message in heard.messages where message.topic.hasPrefix("threadkeeper/in/hall/") {
        let text = String(decoding: message.payload, as: UTF8.self)
        #expect(text.hasPrefix("{\"sealed\":") && !text.contains("wifi"))
      }
    }
    // The broker goes, and the Wi-Fi changes meanwhile.
    broker.stop()
    try await eventually("the end of the connection") { agent.output.contains("warning") }
    try directory.put("another\n", "ssid")
    try broker.start()
    let later = try await Audience.start(broker)
    try await later.until("the new one") { $0.state(router.topic)?["ssid"] == "another" }
    #expect(agent.end() == .exit(0))
    #expect(later.look { $0.events("message_rejected").isEmpty })
    try await running.stop()
  }

  @Test("SIGTERM ends it at once, also while a command runs or without a broker") func stop() async throws {
    let started = directory.file("started")
    let agent = try AgentProcess(
      .ssid, ["--command", "touch '\(started)'; sleep 600", "--timeout", "60", "--router", router.agent],
      broker: broker, in: directory)
    try await eventually("the command") { FileManager.default.fileExists(atPath: started) }
    let start = ContinuousClock.now
    #expect(agent.end() == .exit(0))
    // Far less than what the command may take.
    #expect(ContinuousClock.now - start < .seconds(45))
    broker.stop()
    let other = try AgentProcess(
      .ssid, ["--command", "echo a", "--router", router.agent], broker: broker, in: directory)
    try await eventually("the warning") { other.output.contains("warning") }
    #expect(other.end() == .exit(0))
  }

  // MARK: The command

  /// Programs of the test's directory come before those of the system.
  private func run(_ arguments: [String]) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      AgentProcess.arguments(.ssid, arguments, broker),
      environment: AgentProcess.environment(directory).merging(["PATH": "\(directory.path):/usr/bin:/bin"]) { $1 })
  }

  @Test("A dry run prints what would be published, as hostapd or a command have it") func dryRun() async throws {
    let audience = try await Audience.start(broker)
    try directory.put("interface=wlan0\nssid=ap-wifi\nwpa_passphrase=Sesame-4711\n", "hostapd.conf")
    for (source, ssid) in [
      (["--command", "echo home-wifi"], "home-wifi"), (["--hostapd", directory.file("hostapd.conf")], "ap-wifi"),
    ] {
      let outcome = try await run(source + ["--access-point", "hall", "--dry-run"])
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(outcome.output == "threadkeeper/in/hall/ssid {\"access_point\":\"hall\",\"ssid\":\"\(ssid)\"}\n")
      #expect(!outcome.error.contains("Sesame-4711"))
    }
    try directory.put("ssid=secret-wifi\nignore_broadcast_ssid=1\n", "hidden.conf")
    for (arguments, status, words) in [
      (["--command", "true"], 69, "there is no SSID"),
      (["--hostapd", directory.file("hidden.conf")], 69, "there is no SSID"),
      (["--command", "exit 4"], 69, "ended with 4"),
      (["--command", "/bin/sleep 600", "--timeout", "1"], 69, "within 1 s"),
      (["--hostapd", directory.file("none")], 66, "can't read"),
    ] as [([String], Int32, String)] {
      let outcome = try await run(arguments + ["--router", router.agent, "--dry-run"])
      #expect(outcome.status == status && outcome.error.contains(words), "\(outcome)")
      #expect(!(outcome.output + outcome.error).contains("secret-wifi"))
    }
    try await audience.caughtUp()
    #expect(audience.look { !$0.messages.contains { $0.topic == "threadkeeper/in/hall/ssid" } })
  }

  @Test("The guide's commands read what iw and nmcli escape, and fail as these do") func documentedCommands()
    async throws
  {
    let guide = try ProjectFiles.text(of: "docs/guides/ssid.md")
    let commands = guide.matches(of: #/(?m)^--command '(?<command>[^']+)'$/#).map { String($0.output.command) }
    try #require(commands.count == 3)
    // It means something to a shell, `printf` and `sed`.
    let name = #"Café \x41 SSID: %s `$0`  "#
    for (command, tool, output) in [
      (
        commands[0], "iw",
        """
        Connected to 02:00:5e:10:20:30 (on wlan0)
        \tSSID: Caf\\xc3\\xa9 \\x5cx41 SSID: %s `$0` \\x20
        \tfreq: 5180.0
        """
      ),
      (
        commands[1], "iw",
        """
        Interface wlan0
        \tssid Caf\\xc3\\xa9 \\x5cx41 SSID: %s `$0` \\x20
        \ttype AP
        """
      ),
      (
        commands[2], "nmcli",
        """
        no:4E656967686275757273
        yes:
        yes:436166C3A9205C78343120535349443A20257320602430602020
        yes:63616D70
        """
      ),
    ] {
      let arguments = ["--command", command, "--access-point", "hall", "--dry-run"]
      try directory.put(output + "\n", "output")
      // nmcli speaks the language of its user.
      try directory.putScript(
        """
        [ "$0" = "${0%nmcli}" ] || [ "$LC_ALL" = C ] || exit 9
        case "$*" in *wlan0*) cat '\(directory.file("output"))' ;; *) exit 9 ;; esac
        """, tool)
      let outcome = try await run(arguments)
      let json = try #require(outcome.output.firstRange(of: "{").map { outcome.output[$0.lowerBound...] }, "\(outcome)")
      #expect(try JSONDecoder().decode([String: String].self, from: Data(json.utf8))["ssid"] == name)
      // No SSID: what the tool prints of an interface without one.
      try directory.put("Not connected.\n", "output")
      let none = try await run(arguments)
      #expect(none.status == 69 && none.error.contains("there is no SSID"), "\(none)")
      try directory.putScript("exit 8", tool)
      let failed = try await run(arguments)
      #expect(failed.status == 69 && failed.error.contains("the command ended with 8"), "\(failed)")
    }
  }

  @Test("No source or two, no router or two, and numbers out of range are wrong usage") func usage() async throws {
    let good = ["--router", router.agent, "--command", "echo a"]
    for (wrong, words) in [
      (["--router", router.agent], "--command"), (good + ["--hostapd", "file"], "Give one of"),
      (good + ["--bss", "wlan0"], "--hostapd"), (["--command", "echo a"], "--router"),
      (good + ["--access-point", "hall"], "Give one of"), (["--command", "echo a", "--router", "hub"], "hex digits"),
      (good + ["--timeout", "0"], "--timeout"), (good + ["--timeout", "61"], "--timeout"),
      (["--router", router.agent, "--command", ""], "empty"),
      (["--access-point", "", "--command", "echo a"], "1 to 128"),
      (good + ["--key", "/dev/null/none"], "--key needs --daemon"),
    ] {
      let outcome = try await run(wrong)
      #expect(outcome.status == 64 && outcome.error.contains(words), "\(wrong): \(outcome.error)")
    }
    for interval in ["0", "3601"] {
      let outcome = try await ThreadkeeperBinary.run(
        ["agent", "ssid"] + good + ["--username", "hall", "--interval", interval])
      #expect(outcome.status == 64 && outcome.error.contains("1 to 3600"), "\(outcome.error)")
    }
    let wrongBroker = try await ThreadkeeperBinary.run(
      ["agent", "ssid"] + good + ["--username", "hall", "--base-topic", "a/#"])
    #expect(wrongBroker.status == 78 && wrongBroker.error.contains("--base-topic"))
  }
}
