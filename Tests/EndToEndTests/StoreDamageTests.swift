// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import TestKit
import Testing

@Suite("A damaged or missing store", .inTurns, .timeLimit(.minutes(30)))
struct StoreDamageTests {
  private static let health = "threadkeeper/bridge/health"

  @Test(
    "A damaged table stops the intake, and the log says once each what fails and what to do",
    arguments: ["records", "messages"])
  func table(_ table: String) async throws {
    let scene = try await Scene.start()
    try await scene.damage(table, until: "is damaged")
    try await scene.stopped(saying: "is damaged")
    // Without the time: what is found at first, and that nothing is taken from then on.
    let lines = scene.daemon.log.split(separator: "\n").map { $0.drop { $0 != " " } }
      .filter { $0.hasPrefix(" error ") && $0.contains("is damaged") }
    #expect((1...2).contains(lines.count) && Set(lines).count == lines.count, "\(lines)")
    #expect(try await scene.daemon.stop() == .exit(0))
    // At the next start it stands still again, or does not open the store at all.
    let again = try scene.installation.launch()
    try await eventually("the damage to be logged") { again.log.contains("damaged") }
    #expect(again.log.contains("restore"))
  }

  @Test("What cannot be read of a home is reported, the rest is served, and a person gives it up")
  func record() async throws {
    let scene = try await Scene.start()
    #expect(try await scene.daemon.stop() == .exit(0))
    let database = try SQLiteDatabase(path: scene.database, access: .readWrite(create: false))
    // The last one with a secret: the router's. The manifest has the last 16 bytes of it.
    let altered = try database.write {
      try $0.execute(
        """
        UPDATE records
        SET state = CAST(zeroblob(length(state) - 16) || substr(state, -16) AS BLOB)
        WHERE id = (SELECT max(id) FROM records WHERE secret_version <> 0)
        """)
    }
    database.close()
    #expect(altered == 1)
    let daemon = try await scene.installation.start()
    try await scene.audience.until("the alert") {
      !$0.alerts("alert_raised", "StoreDamaged").isEmpty
    }
    let alert = try #require(
      scene.audience.look { $0.alerts("alert_raised", "StoreDamaged") }.first)
    #expect(alert["severity"] == "critical")
    #expect(alert["remedy"]?.text?.contains("threadkeeper store forget-damaged") == true)

    let verified = try await scene.installation.command("store", "verify")
    #expect(verified.status == 65 && verified.output.hasPrefix("1 of "), "\(verified)")
    let remedy = "give it up with `threadkeeper store forget-damaged --home home`"
    #expect(verified.output.contains(remedy), "\(verified)")
    let rotated = try await scene.installation.command("keys", "rotate")
    #expect(rotated.status == 65, "\(rotated)")
    #expect(rotated.error.contains("`threadkeeper store forget-damaged`"), "\(rotated)")
    for list in [["credentials", "list"], ["clients", "list"], ["consent", "list", "--grants"]] {
      let listed = try await scene.installation.command(list)
      let words = "1 record of the home home cannot be read, and each may be of one more"
      #expect(listed.status == 65 && listed.error.contains(words), "\(listed)")
    }
    let unsure = try await scene.installation.command("store", "forget-damaged")
    #expect(unsure.status == 64 && unsure.error.contains("--yes"), "\(unsure)")
    #expect(scene.audience.look { $0.alerts("alert_resolved", "StoreDamaged").isEmpty })
    let report = try await scene.installation.json("store", "forget-damaged", "--yes")
    #expect(report["forgotten"]?.list.map { $0["home"] } == ["home"], "\(report)")
    #expect(report["remaining"] == 0, "\(report)")
    try await scene.audience.until("the end of the alert") {
      !$0.alerts("alert_resolved", "StoreDamaged").isEmpty
    }
    let none = try await scene.installation.json("store", "forget-damaged", "--yes")
    #expect(none["forgotten"]?.list.isEmpty == true, "\(none)")
    #expect(try await scene.installation.command("keys", "rotate").status == 0)
    #expect(try await scene.installation.command("clients", "list").status == 0)
    #expect(try scene.installation.audit().contains { $0.hasSuffix(": deleted") })
    try await scene.publish(scene.router)
    try await scene.serves()
    #expect(try await daemon.stop() == .exit(0))
    #expect(try scene.installation.verify().unreadable.isEmpty)
  }

  @Test("A store that is deleted takes no message, and goes on when it is put back")
  func deleted() async throws {
    let scene = try await Scene.start()
    let away = scene.installation.directory.file("away")
    try FileManager.default.moveItem(atPath: scene.installation.storePath, toPath: away)
    let later = BorderRouter(number: 2)
    try await scene.publish(later)
    try await scene.audience.until("health with the reason, and the alert") { heard in
      heard.state(Self.health)?["intake"] == "backing_off"
        && heard.state(Self.health)?["reason"]?.text?.contains("deleted or replaced") == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
    let status = try await scene.installation.command("status")
    #expect(status.status == 69 && status.error.contains("no daemon runs"), "\(status)")
    #expect(scene.audience.look { $0.state(later.topic) == nil })

    try FileManager.default.moveItem(atPath: away, toPath: scene.installation.storePath)
    try await scene.audience.until("what has waited", within: .seconds(120)) {
      $0.state(later.topic) != nil && !$0.alerts("alert_resolved", "StoreReadOnly").isEmpty
    }
    try await scene.serves()
    #expect(try await scene.daemon.stop() == .exit(0))
    #expect(try scene.installation.verify().matchesManifest)
  }
}

/// A daemon with one router, and a listener.
private struct Scene {
  let broker: TestBroker
  let installation: Installation
  let audience: Audience
  let publisher: TestPublisher
  let daemon: DaemonProcess
  let home: ThreadNetwork
  let router = BorderRouter(number: 1)

  var database: String { installation.location.databasePath }

  static func start() async throws -> Scene {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let scene = Scene(
      broker: broker, installation: installation, audience: try await Audience.start(broker),
      publisher: try await TestPublisher.start(broker), daemon: try await installation.start(),
      home: try ThreadNetwork("home"))
    try await scene.publish(scene.router)
    try await scene.audience.until("the first router") { $0.state(scene.router.topic) != nil }
    return scene
  }

  func publish(_ router: BorderRouter) async throws {
    try await publisher.publish([router.announces(try home.hex())])
  }

  /// Damages a table and has the daemon use it. A page that the daemon has in memory may be written
  /// over the damage, so it may take more than one attempt.
  func damage(_ table: String, until words: String) async throws {
    for attempt in 1...10 where !daemon.log.contains(words) {
      try DamagedPage.root(of: table, in: database)
      try await publish(BorderRouter(number: 100 + attempt))
      try? await eventually(within: .seconds(6)) { daemon.log.contains(words) }
    }
    try #require(daemon.log.contains(words), "\(daemon.log)")
  }

  /// A router that is new is published, and so is everything that was there before.
  func serves() async throws {
    let new = BorderRouter(number: 77)
    try await publish(new)
    try await audience.until("a new router", within: .seconds(120)) { $0.state(new.topic) != nil }
    try await audience.until("health") {
      $0.state("threadkeeper/bridge/health")?["intake"] == "running"
    }
    let routers = try await installation.json("routers").list.compactMap {
      $0["border_agent_id"]?.text
    }
    #expect(Set(routers).isSuperset(of: [router.agent, new.agent]))
  }

  func stopped(saying words: String) async throws {
    try await audience.until("health with the reason, and the alert") { heard in
      heard.state("threadkeeper/bridge/health")?["intake"] == "backing_off"
        && heard.state("threadkeeper/bridge/health")?["reason"]?.text?.contains(words) == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
    }
  }
}
