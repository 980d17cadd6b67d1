// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The agent of an SSID beside a broker and a daemon.
@Suite("The agent of an SSID", .inTurns, .timeLimit(.minutes(30)))
struct SSIDAgentTests {
  private let broker: TestBroker
  private let installation: Installation
  private let router = BorderRouter(number: 1)
  private let home: ThreadNetwork

  init() throws {
    broker = try TestBroker(persistence: true)
    installation = try Installation(broker, hold: 1)
    home = try ThreadNetwork("home")
  }

  private var directory: TemporaryDirectory { installation.directory }

  private func ssid(_ audience: Audience) -> String? { audience.state(router.topic)?["ssid"]?.text }

  /// How many events of the agent are on the broker.
  private func published(_ audience: Audience) -> Int {
    audience.look { $0.messages.count { $0.topic == "threadkeeper/in/hall/ssid" } }
  }

  @Test("A change of what the command prints is an ssid_changed, and in the router's state")
  func command() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }
    try directory.put("home-wifi\n", "ssid")
    let agent = try AgentProcess(
      .ssid, ["--command", "cat '\(directory.file("ssid"))'", "--router", router.agent],
      broker: broker,
      in: directory)
    try await audience.until("the first") { $0.state(router.topic)?["ssid"] == "home-wifi" }
    #expect(audience.look { $0.events("ssid_changed").isEmpty })
    // None, and trouble: nothing is published for either.
    try directory.put("\n", "ssid")
    try await eventually("none") { agent.output.contains("there is no SSID") }
    try FileManager.default.removeItem(atPath: directory.file("ssid"))
    try await eventually("trouble") { agent.output.contains("the command ended with 1") }
    try directory.put("home \"wifi\" é 6\nnoise\n", "ssid")
    try await audience.until("the change") { $0.events("ssid_changed").count == 1 }
    let event = try #require(audience.look { $0.events("ssid_changed").first })
    #expect(event["ssid"] == "home \"wifi\" é 6" && event["previous_ssid"] == "home-wifi")
    #expect(ssid(audience) == "home \"wifi\" é 6")
    // The broker goes, and the Wi-Fi changes meanwhile.
    broker.stop()
    try await eventually("the end of the connection") { agent.output.contains("warning") }
    try directory.put("another\n", "ssid")
    try broker.start()
    try await eventually("the change, after the broker is back") {
      agent.output.contains("another")
    }
    let later = try await Audience.start(broker)
    try await later.until("the new one") { $0.state(router.topic)?["ssid"] == "another" }
    #expect(agent.end() == .exit(0))
    #expect(later.look { $0.events("message_rejected").isEmpty })
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A router that is unknown is logged once, and its SSID published when it has appeared")
  func unknownRouter() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let agent = try AgentProcess(
      .ssid, ["--command", "echo home-wifi", "--router", router.agent], broker: broker,
      in: directory)
    // Tried more than once, and logged once.
    try await audience.until("two rejections") { heard in
      heard.events("message_rejected").count { $0["code"] == "not_found" } >= 2
    }
    // Its answer may come after what all hear.
    try await eventually("the log") { agent.output.contains("(not_found)") }
    #expect(agent.output.components(separatedBy: "(not_found)").count == 2, "\(agent.output)")
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the SSID", within: .seconds(120)) {
      $0.state(router.topic)?["ssid"] == "home-wifi"
    }
    try await eventually("the log") { agent.output.contains("threadkeeper accepts the SSID") }
    #expect(agent.output.components(separatedBy: "(not_found)").count == 2, "\(agent.output)")
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("An enrolled login seals: the broker sees neither the name of the Wi-Fi nor the router")
  func sealed() async throws {
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([router.announces(try home.hex())])
    let key = directory.file("hall.key")
    let made = try await installation.clientKeygen(key)
    #expect(
      try await installation.command("clients", "enroll", "hall", made, "--trust", "signed").status
        == 0)
    let line = try await installation.daemonLine()
    let agent = try AgentProcess(
      .ssid,
      [
        "--command", "echo sealed-wifi", "--router", router.agent, "--daemon", line, "--key", key,
      ], broker: broker, in: directory)
    try await audience.until("the SSID") { $0.state(router.topic)?["ssid"] == "sealed-wifi" }
    audience.look { heard in
      for message in heard.messages where message.topic.hasPrefix("threadkeeper/in/hall/") {
        let text = String(decoding: message.payload, as: UTF8.self)
        #expect(text.hasPrefix("{\"sealed\":") && !text.contains("sealed-wifi"))
      }
    }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("nmcli, iw and a file of hostapd are read as they are")
  func tools() async throws {
    let audience = try await Audience.start(broker)
    try directory.putScript(
      """
      [ "$LC_ALL" = C.UTF-8 ] || exit 9
      case "$*" in *'ifname wlan0') cat '\(directory.file("nmcli.txt"))' ;; *) exit 10 ;; esac
      """, "nmcli")
    try directory.put("no:00FF:wlan0\nyes:6E6D2D77696669:wlan0\n", "nmcli.txt")
    try directory.putScript(
      """
      case "$*" in
        'dev wlan0 info') printf 'Interface wlan0\\n\\ttype managed\\n' ;;
        'dev wlan0 link') printf 'Connected to 02:00:5e:10:20:30 (on wlan0)\\n\\tSSID: iw\\\\x2dwifi\\n' ;;
        *) exit 237 ;;
      esac
      """, "iw")
    try directory.put("interface=wlan0\nssid=ap-wifi\nwpa_passphrase=Sesame-4711\n", "hostapd.conf")
    func heard(_ ssid: String, _ source: [String]) async throws {
      let agent = try AgentProcess(
        .ssid, source + ["--access-point", "hall"], broker: broker, in: directory)
      try await audience.until(ssid) { heard in
        heard.messages.contains {
          String(decoding: $0.payload, as: UTF8.self)
            == #"{"access_point":"hall","ssid":"\#(ssid)"}"#
        }
      }
      if ssid == "ap-wifi" {
        try directory.put("interface=wlan0\nssid=ap-wifi-2\n", "hostapd.conf")
        try await audience.until("the changed file") { heard in
          heard.messages.contains {
            String(decoding: $0.payload, as: UTF8.self).contains("ap-wifi-2")
          }
        }
      }
      #expect(agent.end() == .exit(0))
      #expect(!agent.output.contains("Sesame-4711"))
    }
    try await heard("nm-wifi", ["--networkmanager", "wlan0"])
    try await heard("iw-wifi", ["--iw", "wlan0"])
    try await heard("ap-wifi", ["--hostapd", directory.file("hostapd.conf")])
  }

  @Test("SIGTERM ends it at once, also while a command runs or without a broker")
  func stop() async throws {
    let started = directory.file("started")
    let agent = try AgentProcess(
      .ssid,
      ["--command", "touch '\(started)'; sleep 600", "--timeout", "60", "--router", router.agent],
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

  private func run(_ arguments: [String]) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(
      AgentProcess.arguments(.ssid, arguments, broker),
      environment: AgentProcess.environment(directory).merging(["PATH": directory.path]) { $1 })
  }

  @Test("A dry run prints what would be published, and publishes nothing")
  func dryRun() async throws {
    let audience = try await Audience.start(broker)
    let outcome = try await run(
      ["--command", "echo home-wifi", "--router", router.agent, "--dry-run"])
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(
      outcome.output
        == "threadkeeper/in/hall/ssid {\"border_agent_id\":\"\(router.agent)\",\"ssid\":\"home-wifi\"}\n"
    )
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
    #expect(published(audience) == 0)
  }

  @Test("A missing tool ends it with 69")
  func missingTool() async throws {
    for (source, tool) in [(["--networkmanager"], "nmcli"), (["--iw", "wlan0"], "iw")] {
      let outcome = try await run(source + ["--router", router.agent])
      #expect(
        outcome.status == 69 && outcome.error.contains("\(tool) is not installed"), "\(outcome)")
    }
  }

  @Test("No source or two, no router or two, and numbers out of range are wrong usage")
  func usage() async throws {
    let good = ["--router", router.agent, "--command", "echo a"]
    for (wrong, words) in [
      (["--router", router.agent], "--command"), (good + ["--iw", "wlan0"], "Give one of"),
      (good + ["--networkmanager"], "Give one of"), (good + ["wlan0"], "--networkmanager"),
      (good + ["--bss", "wlan0"], "--hostapd"), (["--command", "echo a"], "--router"),
      (good + ["--access-point", "hall"], "Give one of"),
      (["--command", "echo a", "--router", "hub"], "hex digits"),
      (good + ["--timeout", "0"], "--timeout"), (good + ["--timeout", "61"], "--timeout"),
      (["--router", router.agent, "--iw", "--help-me"], "--iw"),
      (["--router", router.agent, "--iw", "a/b"], "interface"),
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
