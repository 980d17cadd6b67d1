// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// `threadkeeper setup` without a terminal, and a Mosquitto that a house uses already.
@Suite("Setting up with a broker that is in use", .inTurns, .timeLimit(.minutes(30)))
struct SetupTests {
  private let installation: Installation

  init() throws { installation = try Installation(port: nil, hold: 0) }

  /// Home Assistant and Node-RED may do everything, as before threadkeeper.
  private func house() throws -> BrokerInUse {
    try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords", "acl_file $/own.acl"],
      addition: "",
      files: [
        "own.acl":
          "user homeassistant\ntopic readwrite #\n\nuser nodered\ntopic readwrite #\n\nuser lamp\ntopic readwrite lamp/#\n"
      ], logins: ["threadkeeper", "hub", "homeassistant", "nodered", "lamp"])
  }

  private func options(
    _ broker: BrokerInUse, login: String = "threadkeeper", password: String? = nil
  )
    throws -> [String]
  {
    [
      "setup", "--broker", "127.0.0.1", "--port", "\(broker.port)", "--login", login,
      "--password-file", try installation.passphraseFile(password ?? "\(login)-pw"),
      "--mosquitto-config", broker.file("mosquitto.conf"),
    ]
  }

  private func report(_ arguments: [String]) async throws -> JSON {
    let outcome = try await installation.command(arguments + ["--json"])
    try #require(outcome.status == 0, "\(outcome.error)")
    return try #require(JSON(outcome.output))
  }

  private var settings: String {
    get throws { try String(contentsOfFile: installation.configuration, encoding: .utf8) }
  }

  private var hasStore: Bool { FileManager.default.fileExists(atPath: installation.storePath) }

  private func isTaken(_ topic: String, _ publisher: TestPublisher) async throws -> Bool {
    try await publisher.publish(topic, "{}") == .delivered
  }

  private func lines(_ broker: JSON?) -> [String] {
    (broker?["steps"]?.list ?? []).flatMap { $0["lines"]?.list ?? [] }.compactMap(\.text)
  }

  @Test("What it prints lets the house do what it did, but not speak for routers; again: nothing")
  func inUse() async throws {
    let broker = try house()
    let before = try settings
    let home = try await broker.publisher("homeassistant")
    for topic in ["homeassistant/status", "house/lamp/set", "threadkeeper/in/hub/announce"] {
      #expect(try await isTaken(topic, home), "\(topic)")
    }

    let first = try await report(options(broker) + ["--home-assistant-login", "homeassistant"])
    #expect(first["written"] == true && first["store_made"] == true)
    #expect(first["password_stored"] == true)
    #expect(first["broker"]?["access"] == "incomplete")
    // It ends with what the doctor finds: the login that was just given is tried.
    #expect(
      first["doctor"]?["findings"]?.list.contains {
        $0["part"] == "broker" && $0["result"] == "ok"
      } == true, "\(first)")
    let reasons = (first["broker"]?["reasons"]?.list ?? []).compactMap(\.text)
    for login in ["homeassistant", "nodered"] {
      #expect(reasons.contains { $0.hasPrefix("the login `\(login)` reads") }, "\(reasons)")
    }
    #expect(!reasons.contains { $0.contains("`lamp`") || $0.contains("`hub`") }, "\(reasons)")
    let steps = lines(first["broker"])
    #expect(
      steps.contains {
        $0.contains("acl --config \(installation.configuration) --append")
          && $0.contains("--keep homeassistant --keep nodered --monitor homeassistant")
          && $0.contains("tee -a \(broker.file("own.acl"))")
      }, "\(steps)")
    #expect(!steps.contains { $0.contains("mosquitto_passwd") || $0.hasPrefix("password_file") })
    #expect(!steps.contains("persistence true") && steps.contains("max_queued_bytes 67108864"))
    #expect(steps.contains("message_size_limit 1048576"))

    // The settings: only what was answered, in its place.
    let after = try settings
    let expected = before.replacing(
      "host: embedded\n",
      with: "host: 127.0.0.1\n"
    ).split(separator: "\n")
    let added = after.split(separator: "\n").filter { !expected.contains($0) }
    #expect(added == ["  port: \(broker.port)", "  username: threadkeeper"], "\(after)")
    #expect(!after.contains("-pw"))

    // What it prints is what `acl` prints, and it goes to the end of the list.
    let list = try #require(first["broker"]?["access_list"]?.text)
    let printed = try await installation.command(
      "acl", "--append", "--keep", "homeassistant", "--keep", "nodered", "--monitor",
      "homeassistant")
    #expect(printed.output == list)
    let own = try String(contentsOfFile: broker.file("own.acl"), encoding: .utf8)
    try Data((own + list).utf8).write(to: URL(fileURLWithPath: broker.file("own.acl")))
    try await broker.reload()

    let nodered = try await broker.publisher("nodered")
    for publisher in [home, nodered] {
      for (topic, isAllowed) in [
        ("homeassistant/status", true), ("house/lamp/set", true),
        ("threadkeeper/in/hub/announce", false), ("threadkeeper/out/hub/dataset/set", false),
      ] {
        #expect(try await isTaken(topic, publisher) == isAllowed, "\(topic)")
      }
    }
    let daemon = try await installation.start()
    let audience = try await broker.audience("homeassistant")
    let router = BorderRouter(number: 1, user: "hub")
    let hub = try await broker.publisher("hub")
    #expect(
      try await hub.publish([router.announces(try ThreadNetwork("home").hex())]) == [.delivered])
    try await audience.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    #expect(audience.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/in/") } })

    // Again beside the daemon, with no answer at all: they are all there.
    let again = try await report(["setup", "--mosquitto-config", broker.file("mosquitto.conf")])
    #expect(again["written"] == false && again["changes"]?.list.isEmpty == true)
    #expect(again["password_stored"] == false && again["store_made"] == false)
    #expect(again["broker"]?["access"] == "complete", "\(again)")
    #expect(again["broker"]?["access_list"] == nil && lines(again["broker"]) == [])
    #expect(try settings == after)
    let words = try await installation.command(
      "setup", "--mosquitto-config", broker.file("mosquitto.conf"))
    #expect(words.output.contains("nothing to change"), "\(words.output)")
    #expect(words.output.contains("nothing to add"), "\(words.output)")
    let doctor = words.output.split(separator: "threadkeeper doctor, now:\n").last
    #expect(doctor?.contains(" well.") == true, "\(words.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Without an access list it prints one for all logins, and the lines that load it")
  func withoutList() async throws {
    let before = ["allow_anonymous false", "password_file $/passwords"]
    let logins = ["threadkeeper", "hub", "homeassistant", "zigbee2mqtt"]
    let broker = try BrokerInUse(house: before, addition: "", logins: logins)
    let report = try await report(options(broker) + ["--router", "hub"])
    #expect(report["broker"]?["access"] == "incomplete")
    let lines = lines(report["broker"])
    #expect(!lines.contains { $0.contains("mosquitto_passwd") || $0.hasPrefix("password_file") })
    let list = try #require(report["broker"]?["access_list"]?.text)
    let addition = lines.filter {
      $0.hasPrefix("acl_file ") || $0.hasPrefix("persistence ") || $0.hasPrefix("max_queued_")
        || $0.hasPrefix("message_size_limit ")
    }
    #expect(addition.first == "acl_file \(broker.file("threadkeeper.acl"))")
    let after = try BrokerInUse(
      house: before,
      addition: addition.joined(separator: "\n").replacing(
        broker.file(""), with: "/etc/mosquitto/") + "\n", files: ["threadkeeper.acl": list],
      logins: logins)
    for login in ["homeassistant", "zigbee2mqtt"] {
      let kept = try await after.publisher(login)
      #expect(try await isTaken("house/lamp", kept))
      #expect(try await !isTaken("threadkeeper/in/hub/announce", kept))
    }
    let hub = try await after.publisher("hub")
    #expect(try await isTaken("threadkeeper/in/hub/announce", hub))
  }

  @Test("Where everybody may connect it makes logins, and keeps clients without one")
  func withoutLogins() async throws {
    let broker = try BrokerInUse(house: ["allow_anonymous true"], addition: "", logins: [])
    let report = try await report(options(broker))
    #expect(report["broker"]?["access"] == "incomplete")
    let lines = lines(report["broker"])
    let file = broker.file("threadkeeper.passwd")
    #expect(lines.contains("sudo mosquitto_passwd -c \(file) threadkeeper"), "\(lines)")
    #expect(lines.contains("sudo mosquitto_passwd \(file) homeassistant"), "\(lines)")
    #expect(lines.contains("password_file \(file)"), "\(lines)")
    #expect(lines.contains { $0.contains("--keep-anonymous --monitor homeassistant") }, "\(lines)")
    let list = try #require(report["broker"]?["access_list"]?.text)
    #expect(list.hasPrefix("# Clients without a login:"))
    #expect(broker.log.contains(" running"))
  }

  @Test(
    "A wrong password, or a login that is not there: nothing is written, and it says what to do")
  func refused() async throws {
    let broker = try house()
    let before = try settings
    let wrong = try await installation.command(options(broker, password: "Sesame-wrong"))
    #expect(wrong.status == 77 && wrong.output == "", "\(wrong.output)")
    #expect(wrong.error.contains("user name or password of `threadkeeper`"), "\(wrong.error)")
    #expect(wrong.error.contains("nothing was written") && !wrong.error.contains("Sesame"))
    let unknown = try await installation.command(options(broker, login: "keeper"))
    #expect(unknown.status == 77)
    #expect(
      unknown.error.contains("mosquitto_passwd \(broker.file("passwords")) keeper"),
      "\(unknown.error)")
    #expect(try settings == before && !hasStore)
  }

  @Test("A broker that is away: nothing is written, but with --no-validate")
  func away() async throws {
    let broker = try house()
    let arguments = try options(broker)
    broker.kill()
    let before = try settings
    let refused = try await installation.command(arguments)
    #expect(refused.status == 69 && refused.error.contains("--no-validate"), "\(refused.error)")
    #expect(refused.error.contains("\(broker.port)"), "\(refused.error)")
    #expect(try settings == before && !hasStore)

    let trial = try await report(arguments + ["--no-validate", "--dry-run"])
    #expect(trial["written"] == false && trial["dry_run"] == true)
    #expect(trial["changes"]?.list.count == 3)
    #expect(try settings == before && !hasStore)

    let written = try await report(arguments + ["--no-validate"])
    #expect(written["written"] == true && hasStore)
    let login = try await installation.serving { try await installation.json("status")["login"] }
    #expect(login?["password_from"] == "keychain")
  }

  @Test("TLS with the right authorities works; with others nothing is written, and it says why")
  func tls() async throws {
    let certificates = try TestCertificates()
    let broker = try BrokerInUse(
      house: [
        "allow_anonymous false", "password_file $/passwords", "certfile \(certificates.server)",
        "keyfile \(certificates.serverKey)",
      ], addition: "", logins: ["threadkeeper"])
    let before = try settings
    for options in [[], ["--ca-file", certificates.strangeAuthority]] {
      let outcome = try await installation.command(self.options(broker) + options)
      #expect(outcome.status == 69, "\(options)")
      #expect(outcome.error.contains("TLS") || outcome.error.contains("tls"), "\(outcome.error)")
    }
    #expect(try settings == before && !hasStore)
    _ = try await report(options(broker) + ["--ca-file", certificates.authority])
    #expect(try settings.contains("  tls:\n    ca_file: /"))
    let again = try await report(["setup", "--mosquitto-config", broker.file("mosquitto.conf")])
    #expect(again["written"] == false && again["password_stored"] == false)
    #expect(broker.log.contains(" running"))
  }

  @Test("A new file is for its user alone, and makes a store; the private broker needs nothing")
  func embedded() async throws {
    let directory = try TemporaryDirectory()
    let environment = [
      "HOME": directory.path, "THREADKEEPER_SYSTEM_ROOT": directory.file("system"),
    ]
    let file = directory.file("new/threadkeeper.yaml")
    let arguments = [
      "setup", "--broker", "embedded", "--config", file, "--state-directory",
      directory.file("state"),
    ]
    let made = try await ThreadkeeperBinary.run(arguments, environment: environment)
    #expect(made.status == 0, "\(made.error)")
    #expect(made.output.contains("nothing to add") && made.output.contains("Back up its key"))
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    for command in [["check-config"], ["status"]] {
      let outcome = try await ThreadkeeperBinary.run(
        command + ["--config", file], environment: environment)
      #expect(outcome.status == (command == ["status"] ? 69 : 0), "\(outcome.error)")
      #expect(!outcome.output.contains("there is no store"))
    }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let again = try await ThreadkeeperBinary.run(
      arguments + ["--json"], environment: environment)
    #expect(JSON(again.output)?["written"] == false && JSON(again.output)?["store_made"] == false)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }

  @Test("A daemon with another broker has to stop first")
  func otherBroker() async throws {
    let former = try TestBroker()
    let installation = try Installation(former, mqtt: ["username: keeper"])
    let daemon = try await installation.start()
    let before = try String(contentsOfFile: installation.configuration, encoding: .utf8)
    let broker = try house()
    let outcome = try await installation.command(options(broker))
    #expect(broker.log.contains(" running"))
    #expect(
      outcome.status == 75 && outcome.error.contains("stop it with Ctrl-C"), "\(outcome.error)")
    #expect(
      outcome.error.contains("runs with another broker (127.0.0.1:\(former.port))"),
      "\(outcome.error)")
    #expect(try String(contentsOfFile: installation.configuration, encoding: .utf8) == before)
    // The same one, with another login.
    let login = try await installation.command(
      "setup", "--broker", "127.0.0.1", "--port", "\(former.port)", "--login", "other",
      "--no-validate", "--password-file", try installation.passphraseFile("other-pw"))
    #expect(login.status == 75 && login.error.contains("nothing was written"), "\(login.error)")
    #expect(login.error.contains("runs with another login (keeper)"), "\(login.error)")
    #expect(try String(contentsOfFile: installation.configuration, encoding: .utf8) == before)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("So has one with its private broker, which keeps no password")
  func privateBroker() async throws {
    let daemon = try await installation.start()
    let before = try settings
    let broker = try house()
    let outcome = try await installation.command(options(broker))
    #expect(broker.log.contains(" running"))
    #expect(
      outcome.status == 75
        && outcome.error.contains("threadkeeper runs with another broker (its private one)")
        && outcome.error.contains("nothing was written; stop it with Ctrl-C"), "\(outcome.error)")
    #expect(try settings == before)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Home Assistant's login that the settings let decide can do so by the lines that it prints")
  func approver() async throws {
    let installation = try Installation(
      port: nil, hold: 0, more: "home_assistant: {login: homeassistant}")
    let broker = try house()
    let outcome = try await installation.command(options(broker) + ["--json"])
    let printed = try #require(JSON(outcome.output)?["broker"], "\(outcome.error)")
    #expect(
      lines(printed).contains { $0.contains("--approver homeassistant | sudo tee") }, "\(printed)")
    let list = try #require(printed["access_list"]?.text)
    let own = try String(contentsOfFile: broker.file("own.acl"), encoding: .utf8)
    try Data((own + list).utf8).write(to: URL(fileURLWithPath: broker.file("own.acl")))
    try await broker.reload()
    let home = try await broker.publisher("homeassistant")
    for (topic, isAllowed) in [
      ("in/homeassistant/request/consent/approve", true), ("in/hub/announce", false),
      ("in/homeassistant/announce", false), ("out/hub/dataset/set", false),
    ] {
      #expect(try await isTaken("threadkeeper/\(topic)", home) == isAllowed, "\(topic)")
    }
    let again = try await installation.command(
      "setup", "--mosquitto-config", broker.file("mosquitto.conf"), "--json")
    #expect(JSON(again.output)?["broker"]?["access"] == "complete", "\(again.output)")
  }

  @Test("Where the password cannot be stored, the settings stay as they were")
  func unusableStore() async throws {
    let before = try settings
    try Data("no directory".utf8).write(to: URL(fileURLWithPath: installation.storePath))
    let outcome = try await installation.command(
      "setup", "--broker", "127.0.0.1", "--port", "9", "--login", "tk", "--no-validate",
      "--password-file", try installation.passphraseFile("tk-pw"))
    #expect(outcome.status != 0 && outcome.output == "", "\(outcome.output)")
    #expect(try settings == before)
  }

  @Test(
    "Root makes the store for the user whose directory it lies in", .enabled(if: geteuid() == 0))
  func owner() async throws {
    let directory = try TemporaryDirectory()
    chmod(directory.path, 0o711)
    let state = directory.file("state")
    mkdir(state, 0o700)
    chown(state, 65_534, 65_534)
    let file = directory.file("threadkeeper.yaml")
    let outcome = try await ThreadkeeperBinary.run(
      "setup", "--broker", "127.0.0.1", "--port", "9", "--login", "tk", "--no-validate",
      "--password-file", try installation.passphraseFile("tk-pw"), "--config", file,
      "--state-directory", state,
      environment: [
        "HOME": directory.path, "THREADKEEPER_SYSTEM_ROOT": directory.file("system"),
      ])
    #expect(outcome.status == 0, "\(outcome.error)")
    var status = stat()
    for path in ["store", "store/store.sqlite3", "store.key"] {
      #expect(stat("\(state)/\(path)", &status) == 0 && status.st_uid == 65_534, "\(path)")
    }
    #expect(stat(file, &status) == 0 && status.st_uid == 0)
  }
}
