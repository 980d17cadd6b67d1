import Foundation
import SQLiteDatabase
import TestKit
import Testing

/// A daemon with one router, and a listener.
private struct Scene {
  static let health = "threadkeeper/bridge/health"

  let running: RunningHome
  let home: ThreadNetwork
  let router = BorderRouter(number: 1)

  var installation: Installation { running.installation }
  var audience: Audience { running.audience }
  var daemon: DaemonProcess { running.daemon }

  static func start(storePath: String? = nil, launcher: [String] = [], variables: [String: String] = [:]) async throws
    -> Scene
  {
    let scene = Scene(
      running: try await RunningHome(hold: 1, storePath: storePath, launcher: launcher, variables: variables),
      home: try ThreadNetwork("home"))
    try await scene.announce(scene.router)
    return scene
  }

  func publish(_ routers: [BorderRouter]) async throws {
    try await running.publisher.publish(try routers.map { $0.announces(try home.hex()) })
  }

  func announce(_ router: BorderRouter) async throws {
    try await publish([router])
    try await audience.until("router \(router.agent)", within: .seconds(120)) { $0.state(router.topic) != nil }
  }

  /// Waits until the intake stands still, and topics, alerts and the log have the reason.
  func stands(_ reason: String, advising remedy: String? = nil) async throws {
    let remedy = remedy ?? reason
    try await audience.until("health with the reason, the alert and the overview") { heard in
      heard.state(Self.health)?["intake"] == "backing_off"
        && heard.state(Self.health)?["reason"]?.text?.contains(reason) == true
        && !heard.alerts("alert_raised", "StoreReadOnly").isEmpty
        && heard.state("threadkeeper/bridge/alerts")?["critical"] == 1
    }
    let alert = try #require(audience.look { $0.alerts("alert_raised", "StoreReadOnly") }.first)
    #expect(alert["severity"] == "critical" && alert["status"] == "firing")
    #expect(alert["remedy"]?.text?.contains(remedy) == true, "\(alert)")
    let overview = audience.state("threadkeeper/bridge/alerts")
    #expect(overview?["alerts"]?.list.first?["alertname"] == "StoreReadOnly")
    #expect(daemon.log.contains(remedy))
    #expect(audience.state("threadkeeper/bridge/state") == ["state": "online"])
  }

  /// The same by command, of a daemon that can still be asked.
  func reports(_ words: String) async throws {
    try await eventually("status with the reason") {
      let intake = try await installation.json("status")["intake"]
      return intake?["state"] == "backing_off" && intake?["reason"]?.text?.contains(words) == true
    }
  }

  func resumed(routers: Int64? = nil) async throws {
    try await audience.until("the intake, and the alert's end", within: .seconds(120)) {
      $0.state(Self.health)?["intake"] == "running" && !$0.alerts("alert_resolved", "StoreReadOnly").isEmpty
        && $0.state("threadkeeper/bridge/alerts")?["critical"] == 0
    }
    #expect(audience.look { $0.alerts("alert_raised", "StoreReadOnly").count } == 1)
    try await eventually("status without the reason, and all routers") {
      let status = try await installation.json("status")
      return status["intake"]?["state"] == "running" && status["store"]?["condition"] == "healthy"
        && (routers == nil || status["routers"]?.number == routers)
    }
  }
}

@Suite("Trouble with the store", .inTurns, .timeLimit(.minutes(30))) struct StoreTroubleTests {
  @Test(
    "A full disk: intake backs off and says why, and goes on by itself with nothing lost",
    .enabled(if: PrivateMount.isPossible, "this machine lets nobody mount a file system")) func diskFull() async throws
  {
    let directory = try TemporaryDirectory()
    let disk = try PrivateMount(in: directory, megabytes: 24)
    let scene = try await Scene.start(storePath: "\(disk.path)/store", launcher: disk.launcher)
    try disk.fill()
    try await scene.publish((2...1000).map { BorderRouter(number: $0) })
    try await scene.stands("is full")
    try await scene.reports("is full")
    // What the broker has, every command has.
    let status = try await scene.installation.json("status")
    #expect(status["store"]?["condition"]?.text?.hasPrefix("not writable: the disk") == true)
    #expect(status["alerts_firing"]?.list.first?["alertname"] == "StoreReadOnly", "\(status)")
    let alerts = try await scene.installation.command("alerts")
    #expect(alerts.output.contains("critical StoreReadOnly"), "\(alerts)")
    let doctor = try await scene.installation.command("doctor")
    #expect(doctor.status == 74, "\(doctor)")
    #expect(doctor.output.contains("is not writable: the disk"), "\(doctor.output)")
    #expect(doctor.output.contains("Alerts fire: StoreReadOnly"), "\(doctor.output)")
    // Deleting has space of its own, also more than once.
    for number in 1...3 {
      let agent = scene.router.agent
      let deleted = try await scene.installation.command(
        number == 1 ? ["credentials", "delete", agent] : ["routers", "remove", agent])
      #expect(deleted.status == (number == 3 ? 66 : 0), "\(deleted)")
    }
    try disk.empty()
    try await scene.resumed(routers: 999)
    try await scene.running.stop()

    // Where it is read-only from the start, the daemon ends with words.
    try disk.run("mount -o remount,bind,ro '\(disk.path)'")
    let refused = try scene.installation.launch()
    #expect(try await refused.end() == .exit(74))
    #expect(refused.log.contains("/disk/store/store.lock: Read-only file system"))
  }

  @Test(
    "A disk that fails while the daemon runs: intake backs off and says why, and resumes with nothing lost",
    .enabled(if: FailingFiles.isPossible, "there is no C compiler"), arguments: FailingFiles.Fault.allCases)
  func diskFails(_ fault: FailingFiles.Fault) async throws {
    let disk = try FailingFiles()
    let scene = try await Scene.start(storePath: disk.storePath, variables: disk.variables)
    try disk.begin(fault)
    // What it has in memory it need not read.
    if fault == .reads { try DamagedPage.dropCaches(of: scene.installation.location.databasePath) }
    try await scene.publish((2...20).map { BorderRouter(number: $0) })
    let reason = fault == .readOnly ? "cannot be written" : "check it"
    try await scene.stands(reason)
    try await scene.reports(reason)
    try disk.end(fault)
    try await scene.resumed(routers: 20)
    try await scene.running.stop()
    #expect(try scene.installation.verify().matchesManifest)
  }

  @Test("A damaged table stops the intake, and the log says once each what fails and what to do") func table()
    async throws
  {
    let scene = try await Scene.start()
    // A page that the daemon has in memory may be written over the damage, so it may take more than one attempt.
    for attempt in 1...10 where !scene.daemon.log.contains("is damaged") {
      try DamagedPage.root(of: "records", in: scene.installation.location.databasePath)
      try await scene.publish([BorderRouter(number: 100 + attempt)])
      try? await eventually(within: .seconds(6)) { scene.daemon.log.contains("is damaged") }
    }
    try await scene.stands("is damaged", advising: "restore")
    // Without the time: what is found at first, and that nothing is taken from then on.
    let lines = scene.daemon.log.split(separator: "\n").map { $0.drop { $0 != " " } }.filter {
      $0.hasPrefix(" error ") && $0.contains("is damaged")
    }
    #expect((1...2).contains(lines.count) && Set(lines).count == lines.count, "\(lines)")
    try await scene.running.stop()
    // At the next start it stands still again, or does not open the store at all.
    let again = try scene.installation.launch()
    try await eventually("the damage to be logged") { again.log.contains("damaged") }
    #expect(again.log.contains("restore"))
  }

  @Test("What cannot be read of a home is reported, the rest is served, and a person gives it up") func record()
    async throws
  {
    let scene = try await Scene.start()
    let installation = scene.installation
    try await scene.running.stop()
    let database = try SQLiteDatabase(path: installation.location.databasePath, access: .readWrite(create: false))
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
    try await scene.running.start()
    try await scene.audience.until("the alert") { heard in
      heard.alerts("alert_raised", "StoreDamaged").contains {
        $0["severity"] == "critical" && $0["remedy"]?.text?.contains("threadkeeper store forget-damaged") == true
      }
    }
    let verified = try await installation.command("store", "verify")
    #expect(verified.status == 65 && verified.output.hasPrefix("1 of "), "\(verified)")
    let rotated = try await installation.command("keys", "rotate")
    #expect(rotated.status == 65, "\(rotated)")
    #expect(rotated.error.contains("`threadkeeper store forget-damaged`"), "\(rotated)")
    #expect(scene.audience.look { $0.alerts("alert_resolved", "StoreDamaged").isEmpty })
    let report = try await installation.json("store", "forget-damaged", "--yes")
    #expect(report["forgotten"]?.list.map { $0["home"] } == ["home"], "\(report)")
    try await scene.audience.until("the end of the alert") { !$0.alerts("alert_resolved", "StoreDamaged").isEmpty }
    #expect(try await installation.command("keys", "rotate").status == 0)
    try await scene.announce(scene.router)
    try await scene.running.stop()
    #expect(try installation.audit().contains { $0.hasSuffix(": deleted") })
    #expect(try installation.verify().unreadable.isEmpty)
  }

  @Test("A store that is deleted takes no message, and goes on when it is put back") func deleted() async throws {
    let scene = try await Scene.start()
    let (place, away) = (scene.installation.storePath, scene.installation.directory.file("away"))
    try FileManager.default.moveItem(atPath: place, toPath: away)
    let later = BorderRouter(number: 2)
    try await scene.publish([later])
    try await scene.stands("deleted or replaced")
    let status = try await scene.installation.command("status")
    #expect(status.status == 69 && status.error.contains("no daemon runs"), "\(status)")
    #expect(scene.audience.look { $0.state(later.topic) == nil })
    try FileManager.default.moveItem(atPath: away, toPath: place)
    try await scene.resumed(routers: 2)
    try await scene.running.stop()
    #expect(try scene.installation.verify().matchesManifest)
  }

  @Test("An anchor that is removed or altered is an alert, at the start and while the daemon runs") func anchor()
    async throws
  {
    let scene = try await Scene.start()
    let installation = scene.installation
    let anchors = installation.location.anchorDirectory
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: anchors).first)
    let path = "\(anchors)/\(name)"
    try Data("altered\n".utf8).write(to: URL(fileURLWithPath: path))
    try await scene.announce(BorderRouter(number: 2))
    try await scene.audience.until("the alert") {
      $0.alerts("alert_raised", "AnchorAltered").contains {
        $0["severity"] == "critical" && $0["summary"]?.text?.contains("\(path) was altered") == true
      }
    }
    #expect(try await installation.command("alerts").output.contains("AnchorAltered"))
    try await scene.running.stop()
    try FileManager.default.removeItem(atPath: path)
    try await scene.running.start()
    try await scene.audience.until("the news of it") {
      $0.alerts("alert_updated", "AnchorAltered").contains {
        $0["summary"]?.text?.contains("there was no anchor at \(path)") == true
      }
    }
    try await scene.running.stop()
  }

  /// What somebody takes away; the rest is left.
  enum Loss: CaseIterable { case directory, database, emptied, allButKey, allButAnchor, allButCredential, logAlone }

  @Test(
    "A store that is gone is not replaced: the daemon ends with 66, says what is left, and clears nothing",
    arguments: Loss.allCases) func gone(_ loss: Loss) async throws
  {
    let scene = try await Scene.start()
    let installation = scene.installation
    try await scene.running.stop()
    func kept(_ heard: Audience.Heard) -> [String: String] {
      heard.latest.filter { $0.key.hasPrefix(scene.router.topic) }
    }
    let before = scene.audience.look(kept)
    let (files, away) = (FileManager.default, installation.directory.file("away"))
    let (key, anchors) = (installation.directory.file("store.key"), installation.location.anchorDirectory)
    try files.createDirectory(atPath: away, withIntermediateDirectories: false)
    var taken = [installation.storePath]
    switch loss {
    case .directory, .emptied, .logAlone: break
    case .database: taken = [installation.location.databasePath]
    case .allButKey: taken.append(anchors)
    case .allButAnchor: taken.append(key)
    case .allButCredential: taken += [anchors, key]
    }
    let credential = installation.directory.file("credentials/threadkeeper.store_key")
    var variables: [String: String] = [:]
    if loss == .allButCredential {
      variables["CREDENTIALS_DIRECTORY"] = installation.directory.file("credentials")
      try files.createDirectory(atPath: installation.directory.file("credentials"), withIntermediateDirectories: false)
      try files.copyItem(atPath: key, toPath: credential)
    }
    func name(_ path: String) -> String { "\(away)/\((path as NSString).lastPathComponent)" }
    for path in taken { try files.moveItem(atPath: path, toPath: name(path)) }
    let database = installation.location.databasePath
    if loss == .emptied || loss == .logAlone {
      try files.createDirectory(
        atPath: installation.storePath, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      let path = loss == .emptied ? database : database + "-wal"
      _ = files.createFile(atPath: path, contents: Data(), attributes: [.posixPermissions: 0o600])
    }
    let left =
      switch loss {
      case .allButKey: [key]
      case .allButAnchor: [anchors + "/"]
      case .allButCredential: [credential]
      case .emptied: [database, key, anchors + "/"]
      case .logAlone: [database + "-wal", key, anchors + "/"]
      case .directory, .database: [key, anchors + "/"]
      }
    let refused = try installation.launch(environment: variables)
    #expect(try await refused.end() == .exit(66))
    for path in left { #expect(refused.log.contains(path), "\(refused.log)") }
    #expect(refused.log.contains("threadkeeper store restore FILE"), "\(refused.log)")
    for command in [["setup", "--broker", "embedded"], ["store", "verify"]] {
      let outcome = try await installation.command(command, environment: variables)
      #expect(outcome.status == 66, "\(command): \(outcome)")
    }
    let doctor = try await installation.command("doctor", environment: variables)
    #expect(doctor.output.contains(left[0]), "\(doctor.output)")
    #expect(!files.fileExists(atPath: database) || loss == .emptied, "a new store was made")
    #expect(scene.audience.look(kept) == before)

    if loss == .directory {
      // On purpose: what is named is moved away, and a new store is made.
      for path in [key, anchors] { try files.moveItem(atPath: path, toPath: name(path)) }
      try await scene.running.start()
      #expect(try await installation.json("status")["routers"] == 0)
      try await scene.running.stop()
      for path in [installation.storePath, key, anchors] { try files.removeItem(atPath: path) }
      for path in [key, anchors] { try files.moveItem(atPath: name(path), toPath: path) }
    } else if loss == .emptied || loss == .logAlone {
      try files.removeItem(atPath: installation.storePath)
    }
    // It is put back.
    for path in taken { try files.moveItem(atPath: name(path), toPath: path) }
    try await scene.running.start()
    #expect(try await installation.json("status")["routers"] == 1)
    try await scene.running.stop()
  }

  @Test("A message with a number that none can have ends nothing, is named, and goes") func impossibleNumber()
    async throws
  {
    let scene = try await Scene.start()
    let installation = scene.installation
    try await scene.running.stop()
    try RawSQL.run(
      "INSERT INTO messages (id, bytes) VALUES (9223372036854775807, x'00')", in: installation.location.databasePath)
    let verified = try await installation.command("store", "verify")
    #expect(verified.status == 65, "\(verified)")
    #expect(verified.output.contains("1 message for the broker cannot be of the daemon"), "\(verified)")
    try await scene.running.start()
    try await scene.announce(BorderRouter(number: 2))
    try await eventually("the message to go") { try await installation.command("store", "verify").status == 0 }
    try await scene.running.stop()
  }

  @Test("An old copy in the store's place: nothing is taken, and that is said until it is accepted") func rolledBack()
    async throws
  {
    let scene = try await Scene.start()
    let installation = scene.installation
    try await scene.running.stop()
    let copy = installation.directory.file("copy")
    try FileManager.default.copyItem(atPath: installation.storePath, toPath: copy)
    try await scene.running.start()
    try await scene.announce(BorderRouter(number: 2))
    try await scene.running.stop()
    try FileManager.default.removeItem(atPath: installation.storePath)
    try FileManager.default.copyItem(atPath: copy, toPath: installation.storePath)

    try scene.running.launch()
    let daemon = scene.daemon
    try await scene.stands("older than its anchor", advising: "threadkeeper store restore --in-place")
    try await scene.reports("threadkeeper store restore --in-place")
    let third = BorderRouter(number: 3)
    try await scene.publish([third])
    let status = try await installation.json("status")
    #expect(status["store"]?["condition"]?.text?.contains("older than its anchor") == true)
    // However often it tries, it goes on standing still.
    try await eventually("three more attempts") { daemon.log.components(separatedBy: "intake disconnected").count > 4 }
    #expect(scene.audience.look { $0.alerts("alert_resolved", "StoreReadOnly").isEmpty })
    #expect(try await installation.json("status")["routers"] == 1)
    #expect(try await daemon.stop() == .exit(0))

    let accepted = try await installation.command("store", "restore", "--in-place")
    #expect(accepted.status == 0, "\(accepted.error)")
    // Once: there is nothing more to accept.
    #expect(try await installation.command("store", "restore", "--in-place").status == 64)
    try await scene.running.start()
    try await scene.audience.until("the third router, which has waited") { $0.state(third.topic) != nil }
    let topic = try #require(
      scene.audience.look { $0.alerts("alert_raised", "StoreReadOnly") }.first?["fingerprint"]?.text)
    #expect(scene.audience.look { $0.latest["threadkeeper/alert/\(topic)"] } == "", "it fires for ever")
    try await scene.running.stop()
    #expect(try installation.verify().matchesManifest)
  }
}
