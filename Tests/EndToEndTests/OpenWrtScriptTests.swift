// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The script for OpenWrt, with programs that answer as those of OpenWrt do, and a real broker.
@Suite("The example for OpenWrt", .inTurns, .timeLimit(.minutes(30)))
struct OpenWrtScriptTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory

  init() throws {
    broker = try TestBroker(logins: [.init("hall", role: .client)], persistence: true)
    directory = try TemporaryDirectory()
    try directory.putScript(
      "[ \"$*\" = '-q get wireless.default_radio0.ssid' ] && cat '\(directory.file("ssid"))'\n",
      "uci")
    try directory.putScript(
      """
      printf '%s     ESSID: "%s"\\n' "$1" "$(cat '\(directory.file("ssid"))')"
      printf '          Access Point: 02:00:5E:10:20:30\\n'

      """, "iwinfo")
    let password = try #require(broker.broker.password(of: "hall"))
    Recorder.current?.note("the password of hall", password)
    try directory.put(password + "\n", "password")
    #expect(chmod(directory.file("password"), 0o600) == 0)
    try FileManager.default.createDirectory(
      atPath: directory.file("temporary"), withIntermediateDirectories: false)
  }

  private func start(_ more: [String: String]) throws -> ChildProcess {
    try ChildProcess(
      "/bin/sh",
      [ProjectFiles.root.appendingPathComponent("examples/openwrt/threadkeeper-ssid").path],
      environment: [
        "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path,
        "TMPDIR": directory.file("temporary"), "MQTT_HOST": "127.0.0.1",
        "MQTT_PORT": "\(broker.port)", "MQTT_USERNAME": "hall",
        "MQTT_PASSWORD_FILE": directory.file("password"), "INTERVAL": "1",
      ].merging(more) { $1 },
      streams: (.nothing, .file(directory.file("log")), .sameAsOutput))
  }

  private var log: String {
    (try? String(contentsOfFile: directory.file("log"), encoding: .utf8)) ?? ""
  }

  @Test(
    "The SSID is published at the start and when it changes, nothing for none; SIGTERM ends it",
    arguments: [[:], ["WIFI_INTERFACE": "wlan0"]])
  func changes(source: [String: String]) async throws {
    let audience = try await Audience.start(broker, user: broker.observerLogin, "threadkeeper/in/#")
    func payloads() -> [String] {
      audience.look { $0.messages.map { String(decoding: $0.payload, as: UTF8.self) } }
    }
    try directory.put("home \"wifi\" \\6\n", "ssid")
    let script = try start(source.merging(["BORDER_AGENT_ID": "a1b2c3d4e5f60718"]) { $1 })
    defer { if script.isRunning { script.signal(SIGKILL) } }
    let first = #"{"border_agent_id":"a1b2c3d4e5f60718","ssid":"home \"wifi\" \\6"}"#
    try await eventually("the first: \(log)") { payloads() == [first] }
    try directory.put("", "ssid")
    try directory.put("home-wifi-2\n", "ssid")
    let second = #"{"border_agent_id":"a1b2c3d4e5f60718","ssid":"home-wifi-2"}"#
    try await eventually("the change: \(log)") { payloads() == [first, second] }
    script.signal(SIGTERM)
    #expect(script.wait(within: 60) == .exit(0))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory.file("temporary")) == [])
    #expect(!log.contains(try #require(broker.broker.password(of: "hall"))))
  }

  @Test("An unchanged SSID is published again, and one that the broker does not take as well")
  func repetition() async throws {
    let audience = try await Audience.start(broker, user: broker.observerLogin, "threadkeeper/in/#")
    try directory.put("home-wifi\n", "ssid")
    let script = try start(["ACCESS_POINT": "hall", "REPEAT": "1"])
    defer { if script.isRunning { script.signal(SIGKILL) } }
    try await audience.until("two") { $0.messages.count >= 2 }
    let text = audience.look { String(decoding: $0.messages[1].payload, as: UTF8.self) }
    #expect(text == #"{"access_point":"hall","ssid":"home-wifi"}"#)
    broker.stop()
    try await eventually("the warning") { log.contains("it is tried again") }
    try broker.start()
    let later = try await Audience.start(broker, user: broker.observerLogin, "threadkeeper/in/#")
    try await later.until("one more") { !$0.messages.isEmpty }
    script.signal(SIGTERM)
    #expect(script.wait(within: 60) == .exit(0))
  }

  @Test("A missing variable ends it with 78, a missing program with 69, an argument with 64")
  func usage() throws {
    for (variables, status, words) in [
      (["MQTT_USERNAME": ""], 78, "MQTT_USERNAME"), ([:], 78, "BORDER_AGENT_ID"),
      (["ACCESS_POINT": "hall", "INTERVAL": "x"], 78, "INTERVAL"),
      (["ACCESS_POINT": "hall", "PATH": directory.path], 69, "mosquitto_pub"),
    ] as [([String: String], Int32, String)] {
      #expect(try start(variables).wait(within: 60) == .exit(status))
      #expect(log.contains(words), "\(log)")
    }
    let script = ProjectFiles.root.appendingPathComponent("examples/openwrt/threadkeeper-ssid").path
    #expect(try Program.run("/bin/sh", [script, "now"]).status == 64)
    #expect(try Program.run("/bin/sh", [script, "--help"]).output.hasPrefix("Usage: "))
  }

  @Test("The init script is a shell script, and shellcheck finds nothing where it is installed")
  func lint() throws {
    let folder = ProjectFiles.root.appendingPathComponent("examples/openwrt").path
    for name in ["threadkeeper-ssid", "threadkeeper-ssid.init"] {
      try Program.check("/bin/sh", ["-n", "\(folder)/\(name)"])
      guard try Program.run("sh", ["-c", "command -v shellcheck"]).status == 0 else { continue }
      try Program.check("shellcheck", ["--shell", "dash", "\(folder)/\(name)"])
    }
  }
}
