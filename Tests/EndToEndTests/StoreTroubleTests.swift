// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing

@Suite("Trouble with the store", .inTurns, .timeLimit(.minutes(30)))
struct StoreTroubleTests {
  private static let health = "threadkeeper/bridge/health"

  @Test(
    "A full disk: intake backs off and says why, and goes on by itself with nothing lost",
    .enabled(if: PrivateMount.isPossible, "this machine lets nobody mount a file system"))
  func diskFull() async throws {
    let directory = try TemporaryDirectory()
    let disk = try PrivateMount(in: directory, megabytes: 24)
    let broker = try TestBroker()
    let installation = try Installation(
      broker, storePath: "\(disk.path)/store", launcher: disk.launcher)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let first = BorderRouter(number: 1)
    try await publisher.publish([first.announces(try home.hex())])
    try await audience.until("the first router") { $0.state(first.topic) != nil }

    try disk.fill()
    let routers = (2...2000).map { BorderRouter(number: $0) }
    try await publisher.publish(try routers.map { $0.announces(try home.hex()) })
    try await audience.until("health with the reason, and the alert") { heard in
      heard.state(Self.health)?["intake"] == "backing_off"
        && heard.state(Self.health)?["reason"]?.text?.contains("is full") == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
    try await says("is full", audience, installation, daemon)

    try disk.empty()
    try await resumed(audience, installation)
    try await eventually(within: .seconds(60), "all 2000 routers") {
      try await installation.json("status")["routers"] == 2000
    }
    #expect(try await installation.json("status")["store"]?["condition"] == "healthy")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A disk that fails while the daemon runs: intake backs off and says why, and resumes with nothing lost",
    .enabled(if: FailingFiles.isPossible, "there is no C compiler"),
    arguments: FailingFiles.Fault.allCases)
  func diskFails(_ fault: FailingFiles.Fault) async throws {
    let disk = try FailingFiles()
    let broker = try TestBroker()
    let installation = try Installation(
      broker, storePath: disk.storePath, variables: disk.variables)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let first = BorderRouter(number: 1)
    try await publisher.publish([first.announces(try home.hex())])
    try await audience.until("the first router") { $0.state(first.topic) != nil }

    try disk.begin(fault)
    // What it has in memory it need not read.
    if fault == .reads { try DamagedPage.dropCaches(of: installation.location.databasePath) }
    let routers = (2...20).map { BorderRouter(number: $0) }
    try await publisher.publish(try routers.map { $0.announces(try home.hex()) })
    let reason = fault == .readOnly ? "cannot be written" : "check it"
    try await audience.until("health with the reason, and the alert") { heard in
      heard.state(Self.health)?["intake"] == "backing_off"
        && heard.state(Self.health)?["reason"]?.text?.contains(reason) == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
    try await says(reason, audience, installation, daemon)

    try disk.end(fault)
    try await resumed(audience, installation)
    try await eventually("all 20 routers") {
      try await installation.json("status")["routers"] == 20
    }
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }

  @Test(
    "On a file system that is read-only from the start, the daemon ends with words",
    .enabled(if: PrivateMount.isPossible, "this machine lets nobody mount a file system"))
  func readOnlyFromTheStart() async throws {
    let directory = try TemporaryDirectory()
    let disk = try PrivateMount(in: directory, megabytes: 24)
    let broker = try TestBroker()
    let installation = try Installation(
      broker, storePath: "\(disk.path)/store", launcher: disk.launcher)
    #expect(try await (try await installation.start()).stop() == .exit(0))
    try disk.run("mount -o remount,ro '\(disk.path)'")
    let refused = try installation.launch()
    #expect(try await refused.end() == .exit(74))
    #expect(refused.log.contains("/disk/store/store.lock: Read-only file system"))
    try disk.run("mount -o remount,rw '\(disk.path)'")
    #expect(try await (try await installation.start()).stop() == .exit(0))
  }

  @Test("An old copy in the store's place: nothing is taken, and that is said until it is accepted")
  func rolledBack() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let audience = try await Audience.start(broker)
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let first = BorderRouter(number: 1)
    let second = BorderRouter(number: 2)
    let third = BorderRouter(number: 3)
    var daemon = try await installation.start()
    try await publisher.publish([first.announces(try home.hex())])
    try await audience.until("the first router") { $0.state(first.topic) != nil }
    #expect(try await daemon.stop() == .exit(0))
    let copy = installation.directory.file("copy")
    try FileManager.default.copyItem(atPath: installation.storePath, toPath: copy)
    daemon = try await installation.start()
    try await publisher.publish([second.announces(try home.hex())])
    try await audience.until("the second router") { $0.state(second.topic) != nil }
    #expect(try await daemon.stop() == .exit(0))
    try FileManager.default.removeItem(atPath: installation.storePath)
    try FileManager.default.copyItem(atPath: copy, toPath: installation.storePath)

    daemon = try installation.launch()
    try await audience.until("health with the reason, and the alert") { heard in
      heard.state(Self.health)?["intake"] == "backing_off"
        && heard.state(Self.health)?["reason"]?.text?.contains("older than its anchor") == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
    try await says("threadkeeper store restore --in-place", audience, installation, daemon)
    try await publisher.publish([third.announces(try home.hex())])
    let status = try await installation.json("status")
    #expect(status["store"]?["condition"]?.text?.contains("older than its anchor") == true)
    // However often it tries, it goes on standing still.
    try await eventually("three more attempts") {
      daemon.log.components(separatedBy: "intake disconnected").count > 4
    }
    #expect(audience.look { $0.alerts("alert_resolved", "StoreReadOnly").isEmpty })
    #expect(try await installation.json("status")["routers"] == 1)
    #expect(try await daemon.stop() == .exit(0))

    let both = try await installation.command("store", "restore", "--in-place", copy)
    #expect(both.status == 64, "\(both.error)")
    let accepted = try await installation.command("store", "restore", "--in-place")
    #expect(accepted.status == 0, "\(accepted.error)")
    // Once: there is nothing more to accept.
    #expect(try await installation.command("store", "restore", "--in-place").status == 64)
    daemon = try await installation.start()
    try await audience.until("the third router, which has waited") { $0.state(third.topic) != nil }
    let topic = try #require(
      audience.look { $0.alerts("alert_raised", "StoreReadOnly") }.first?["fingerprint"]?.text)
    #expect(audience.look { $0.latest["threadkeeper/alert/\(topic)"] } == "", "it fires for ever")
    #expect(try await daemon.stop() == .exit(0))
    #expect(try installation.verify().matchesManifest)
  }

  /// Everyone who could ask is told the same.
  private func says(
    _ words: String, _ audience: Audience, _ installation: Installation, _ daemon: DaemonProcess
  ) async throws {
    try await audience.until("alert and overview") { heard in
      heard.state("threadkeeper/bridge/alerts")?["critical"] == 1
        && heard.latest.contains {
          $0.key.hasPrefix("threadkeeper/alert/")
            && JSON($0.value)?["alertname"] == "StoreReadOnly"
        }
    }
    let alert = try #require(audience.look { $0.alerts("alert_raised", "StoreReadOnly") }.first)
    #expect(alert["severity"] == "critical")
    #expect(alert["status"] == "firing")
    #expect(alert["remedy"]?.text?.contains(words) == true)
    let overview = audience.state("threadkeeper/bridge/alerts")
    #expect(overview?["alerts"]?.list.first?["alertname"] == "StoreReadOnly")
    #expect(daemon.log.contains(words))
    try await eventually("status with the reason") {
      let intake = try await installation.json("status")["intake"]
      return intake?["state"] == "backing_off" && intake?["reason"]?.text?.contains(words) == true
    }
    #expect(audience.state("threadkeeper/bridge/state") == ["state": "online"])
  }

  private func resumed(_ audience: Audience, _ installation: Installation) async throws {
    try await audience.until("intake to run again, and the alert's end", within: .seconds(60)) {
      $0.state(Self.health)?["intake"] == "running"
        && !$0.alerts("alert_resolved", "StoreReadOnly").isEmpty
        && $0.state("threadkeeper/bridge/alerts")?["critical"] == 0
    }
    #expect(audience.look { $0.alerts("alert_raised", "StoreReadOnly").count } == 1)
    try await eventually("status without the reason") {
      try await installation.json("status")["intake"]?["state"] == "running"
    }
  }
}
