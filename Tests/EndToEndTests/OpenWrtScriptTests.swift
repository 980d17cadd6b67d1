import Foundation
import TestKit
import Testing

/// The script for OpenWrt, with programs that answer as those of OpenWrt do, and a real broker.
@Suite("The example for OpenWrt", .inTurns, .timeLimit(.minutes(30))) struct OpenWrtScriptTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory

  init() throws {
    broker = try TestBroker(logins: [.init("hall", role: .client)], persistence: true)
    directory = try TemporaryDirectory()
    try directory.putScript(
      """
      echo "$*" >>'\(directory.file("uci.calls"))'
      case "$*" in
        '-q get wireless.default_radio0.ssid') cat '\(directory.file("ssid"))' ;;
        '-q get wireless.default_radio0.device') echo radio0 ;;
        '-q get wireless.default_radio0.hidden') cat '\(directory.file("hidden"))' 2>/dev/null ;;
        *) exit 1 ;;
      esac
      """, "uci")
    try directory.putScript(
      """
      echo "$*" >>'\(directory.file("uci.calls"))'
      printf '%s     ESSID: "%s"\\n' "$1" "$(cat '\(directory.file("ssid"))')"
      printf '          Access Point: 02:00:5E:10:20:30\\n'

      """, "iwinfo")
    let password = try #require(broker.broker.password(of: "hall"))
    Recorder.current?.note("the password of hall", password)
    try directory.putSecret(password, "password")
    try FileManager.default.createDirectory(atPath: directory.file("temporary"), withIntermediateDirectories: false)
  }

  /// What runs the script: the system's shell, and that of OpenWrt where it is to be had.
  static let shells = [["/bin/sh"]] + (DebianTool.busybox.map { [[$0, "ash"]] } ?? [])

  /// With the programs of BusyBox before those of the system, where its shell runs the script.
  private func start(by shell: [String] = ["/bin/sh"], _ more: [String: String]) throws -> ChildProcess {
    if shell.count > 1 {
      for name in ["cat", "head", "mktemp", "rm", "sed", "sleep", "tr"] {
        let place = directory.file(name)
        guard !FileManager.default.fileExists(atPath: place) else { continue }
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: try #require(shell.first))
      }
    }
    return try ChildProcess(
      shell[0],
      shell.dropFirst() + [ProjectFiles.root.appendingPathComponent("examples/openwrt/threadkeeper-ssid").path],
      environment: [
        "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.file("temporary"),
        "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(broker.port)", "MQTT_USERNAME": "hall",
        "MQTT_PASSWORD_FILE": directory.file("password"), "INTERVAL": "1",
      ].merging(more) { $1 }, streams: (.nothing, .file(directory.file("log")), .sameAsOutput))
  }

  /// When the script has looked once more from its beginning.
  private func untilLooked() async throws {
    func looks() -> Int {
      let calls = try? String(contentsOfFile: directory.file("uci.calls"), encoding: .utf8)
      return calls?.split(separator: "\n").count { !$0.contains("hidden") } ?? 0
    }
    let before = looks()
    // A look asks four times at most, and the first may have begun before.
    try await eventually("two looks") { looks() >= before + 8 }
  }

  private func audience() async throws -> Audience {
    try await Audience.start(broker, user: broker.observerLogin, "threadkeeper/in/#")
  }

  private func end(_ script: ChildProcess) throws {
    script.signal(SIGTERM)
    #expect(script.wait(within: 60) == .exit(0))
  }

  private var log: String { (try? String(contentsOfFile: directory.file("log"), encoding: .utf8)) ?? "" }

  @Test(
    "The SSID is published at the start and when it changes, nothing for none or a hidden one; SIGTERM ends it",
    arguments: zip([["WIFI_INTERFACE": "wlan0"], [:]], [shells[0], shells[shells.count - 1]])) func changes(
      source: [String: String], shell: [String]
    ) async throws
  {
    let audience = try await audience()
    func payloads() -> [String] { audience.look { $0.messages.map { String(decoding: $0.payload, as: UTF8.self) } } }
    try directory.put("home \"wifi\" \\6\n", "ssid")
    let script = try start(by: shell, source.merging(["BORDER_AGENT_ID": "a1b2c3d4e5f60718"]) { $1 })
    defer { if script.isRunning { script.signal(SIGKILL) } }
    let first = #"{"border_agent_id":"a1b2c3d4e5f60718","ssid":"home \"wifi\" \\6"}"#
    try await eventually("the first: \(log)") { payloads() == [first] }
    if source.isEmpty {
      // By the settings, also with a word for it.
      try directory.put("true\n", "hidden")
      try directory.put("secret-wifi\n", "ssid")
    } else {
      try directory.put("", "ssid")
    }
    try await untilLooked()
    #expect(payloads() == [first])
    try directory.put("0\n", "hidden")
    try directory.put("home-wifi-2\n", "ssid")
    let second = #"{"border_agent_id":"a1b2c3d4e5f60718","ssid":"home-wifi-2"}"#
    try await eventually("the change: \(log)") { payloads().last == second }
    #expect(payloads().first == first)
    try end(script)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("temporary")) == [])
    #expect(!log.contains(try #require(broker.broker.password(of: "hall"))))
  }

  @Test("An unchanged SSID is published again, and one that the broker does not take as well") func repetition()
    async throws
  {
    let audience = try await audience()
    try directory.put("home-wifi\n", "ssid")
    let script = try start(["ACCESS_POINT": "hall", "REPEAT": "1"])
    defer { if script.isRunning { script.signal(SIGKILL) } }
    try await audience.until("two") { $0.messages.count >= 2 }
    let text = audience.look { String(decoding: $0.messages[1].payload, as: UTF8.self) }
    #expect(text == #"{"access_point":"hall","ssid":"home-wifi"}"#)
    broker.stop()
    try await eventually("the warning") { log.contains("the broker cannot be reached") }
    try broker.start()
    let later = try await self.audience()
    try await later.until("one more") { !$0.messages.isEmpty }
    try end(script)
  }

  @Test("A topic that the broker refuses is a warning, once, and not published") func refused() async throws {
    try directory.put("home-wifi\n", "ssid")
    let script = try start(by: Self.shells.last ?? [], ["ACCESS_POINT": "hall", "BASE_TOPIC": "other"])
    defer { if script.isRunning { script.signal(SIGKILL) } }
    try await eventually("the warning") { log.contains("the broker refuses user hall") }
    try await untilLooked()
    #expect(log.components(separatedBy: "the broker refuses").count == 2, "\(log)")
    #expect(!log.contains("published"))
    try end(script)
  }

  @Test(
    "The init script starts an agent for each section, and none for a router that has one already", arguments: shells)
  func sections(shell: [String]) throws {
    // What /etc/rc.common and procd do, as far as the script asks for it.
    try directory.put(
      """
      config_load() { [ "$1" = threadkeeper-ssid ]; }
      config_foreach() { for section in first second third; do "$1" "$section"; done; }
      config_get() { # variable, section, option, default
        case $2.$3 in
          *.username) eval "$1=hall" ;;
          first.border_agent_id | third.border_agent_id) eval "$1=a1b2c3d4e5f60718" ;;
          second.access_point) eval "$1='the hall'" ;;
          second.repeat) eval "$1=60" ;;
          *) eval "$1=\\${4:-}" ;;
        esac
      }
      procd_open_instance() { echo "open $1"; }
      procd_set_param() { echo "$@"; }
      procd_close_instance() { echo close; }
      logger() { echo "$*"; }
      . '\(ProjectFiles.root.path)/examples/openwrt/threadkeeper-ssid.init'
      start_service
      """, "rc.common")
    let outcome = try Program.run(shell[0], shell.dropFirst() + [directory.file("rc.common")])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("third: a1b2c3d4e5f60718 has a section already"))
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("open ") } == ["open first", "open second"])
    let environments = lines.filter { $0.hasPrefix("env ") }
    try #require(environments.count == 2)
    #expect(environments[0].contains("BORDER_AGENT_ID=a1b2c3d4e5f60718 ACCESS_POINT= "))
    #expect(environments[1].contains("ACCESS_POINT=the hall WIFI_SECTION=default_radio0"))
    #expect(environments[1].contains("INTERVAL=10 REPEAT=60 BASE_TOPIC=threadkeeper"))
  }

  @Test("A missing variable ends it with 78, a missing program with 69, an argument with 64") func usage() throws {
    for (variables, status, words) in [
      (["MQTT_USERNAME": ""], 78, "MQTT_USERNAME"), ([:], 78, "BORDER_AGENT_ID"),
      (["ACCESS_POINT": "hall", "INTERVAL": "x"], 78, "INTERVAL"),
      (["ACCESS_POINT": "hall", "PATH": directory.path], 69, "mosquitto_pub"),
      (["ACCESS_POINT": "hall", "MQTT_PASSWORD_FILE": "/dev/null/none"], 78, "/dev/null/none cannot be read"),
    ] as [([String: String], Int32, String)] {
      #expect(try start(variables).wait(within: 60) == .exit(status))
      #expect(log.contains(words), "\(log)")
    }
    let script = ProjectFiles.root.appendingPathComponent("examples/openwrt/threadkeeper-ssid").path
    #expect(try Program.run("/bin/sh", [script, "now"]).status == 64)
    #expect(try Program.run("/bin/sh", [script, "--help"]).output.hasPrefix("Usage: "))
  }

  @Test("Shells read the scripts of the examples, and shellcheck finds nothing in them") func syntax() throws {
    let folder = ProjectFiles.root.appendingPathComponent("examples").path
    let paths = try #require(FileManager.default.subpaths(atPath: folder)).map { "\(folder)/\($0)" }.filter {
      (try? String(contentsOfFile: $0, encoding: .utf8))?.hasPrefix("#!/bin/sh") == true
    }
    try #require(paths.count >= 6)
    for shell in Self.shells { for path in paths { try Program.check(shell[0], shell.dropFirst() + ["-n", path]) } }
    if let shellcheck = DebianTool.shellcheck { try Program.check(shellcheck, ["--shell", "dash"] + paths) }
  }
}
