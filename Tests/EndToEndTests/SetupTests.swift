import Foundation
import TestKit
import Testing
import ThreadDataset

/// `threadkeeper setup` without a terminal, and a Mosquitto that a house uses already.
@Suite("Setting up with a broker that is in use", .inTurns, .timeLimit(.minutes(30))) struct SetupTests {
  private let installation: Installation

  init() throws { installation = try Installation(port: nil, hold: 0) }

  /// Home Assistant and Node-RED may do everything, as before threadkeeper.
  private func house() throws -> BrokerInUse {
    try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords", "acl_file $/own.acl"], addition: "",
      files: [
        "own.acl":
          "user homeassistant\ntopic readwrite #\n\nuser nodered\ntopic readwrite #\n\nuser lamp\ntopic readwrite lamp/#\n"
      ], logins: ["threadkeeper", "hub", "homeassistant", "nodered", "lamp"])
  }

  private func options(_ broker: BrokerInUse, login: String = "threadkeeper", password: String? = nil) throws
    -> [String]
  {
    [
      "setup", "--broker", "127.0.0.1", "--port", "\(broker.port)", "--login", login, "--password-file",
      try installation.passphraseFile(password ?? "\(login)-pw"), "--mosquitto-config", broker.file("mosquitto.conf"),
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

  @Test("What it prints lets the house do what it did, but not speak for routers; again: nothing") func inUse()
    async throws
  {
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
      first["doctor"]?["findings"]?.list.contains { $0["part"] == "broker" && $0["result"] == "ok" } == true, "\(first)"
    )
    let reasons = (first["broker"]?["reasons"]?.list ?? []).compactMap(\.text)
    for login in ["homeassistant", "nodered"] {
      #expect(reasons.contains { $0.hasPrefix("the login `\(login)` reads") }, "\(reasons)")
    }
    #expect(!reasons.contains { $0.contains("`lamp`") || $0.contains("`hub`") }, "\(reasons)")
    let steps = lines(first["broker"])
    #expect(
      steps.contains {
        $0.contains(
          "acl --config \(installation.configuration) --state-directory \(installation.directory.file("state")) --append"
        ) && $0.contains("--keep homeassistant --keep nodered --monitor homeassistant")
          && $0.contains("tee -a \(broker.file("own.acl"))")
      }, "\(steps)")
    #expect(!steps.contains { $0.contains("mosquitto_passwd") || $0.hasPrefix("password_file") })
    #expect(!steps.contains("persistence true") && steps.contains("max_queued_bytes 67108864"))
    #expect(steps.contains("message_size_limit 1048576"))

    // Where the settings let Home Assistant decide, the command for the list says so.
    let deciding = try Installation(port: nil, more: "home_assistant: {login: homeassistant}")
    let trial = try await deciding.command(options(broker) + ["--dry-run", "--json"])
    #expect(
      lines(JSON(trial.output)?["broker"]).contains { $0.contains("--approver homeassistant | sudo tee") }, "\(trial)")

    // The settings: only what was answered, in its place.
    let after = try settings
    let expected = before.replacing("host: embedded\n", with: "host: 127.0.0.1\n").split(separator: "\n")
    let added = after.split(separator: "\n").filter { !expected.contains($0) }
    #expect(added == ["  port: \(broker.port)", "  username: threadkeeper"], "\(after)")
    #expect(!after.contains("-pw"))

    // What it prints is what `acl` prints, and it goes to the end of the list.
    let list = try #require(first["broker"]?["access_list"]?.text)
    let printed = try await installation.command(
      "acl", "--append", "--keep", "homeassistant", "--keep", "nodered", "--monitor", "homeassistant")
    #expect(printed.output == list)
    let own = try String(contentsOfFile: broker.file("own.acl"), encoding: .utf8).replacing(
      "topic readwrite #\n", with: "topic read #\ntopic write homeassistant/#\ntopic write house/#\n")
    try Data((own + list).utf8).write(to: URL(fileURLWithPath: broker.file("own.acl")))
    try await broker.reload()

    let nodered = try await broker.publisher("nodered")
    for publisher in [home, nodered] {
      for (topic, isAllowed) in [
        ("homeassistant/status", true), ("house/lamp/set", true), ("threadkeeper/in/hub/announce", false),
        ("threadkeeper/out/hub/dataset/set", false),
      ] { #expect(try await isTaken(topic, publisher) == isAllowed, "\(topic)") }
    }
    let daemon = try await installation.start()
    let audience = try await broker.audience("homeassistant")
    let router = BorderRouter(number: 1, user: "hub")
    let hub = try await broker.publisher("hub")
    #expect(try await hub.publish([router.announces(try ThreadNetwork("home").hex())]) == [.delivered])
    try await audience.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }
    #expect(audience.look { $0.messages.allSatisfy { !$0.topic.hasPrefix("threadkeeper/in/") } })

    // Again beside the daemon, with no answer at all: they are all there.
    let again = try await report(["setup", "--mosquitto-config", broker.file("mosquitto.conf")])
    #expect(again["written"] == false && again["changes"]?.list.isEmpty == true)
    #expect(again["password_stored"] == false && again["store_made"] == false)
    #expect(again["broker"]?["access"] == "complete", "\(again)")
    #expect(again["broker"]?["access_list"] == nil && lines(again["broker"]) == [])
    #expect(try settings == after)
    let words = try await installation.command("setup", "--mosquitto-config", broker.file("mosquitto.conf"))
    #expect(words.output.contains("nothing to change"), "\(words.output)")
    #expect(words.output.contains("nothing to add"), "\(words.output)")
    let doctor = words.output.split(separator: "threadkeeper doctor, now:\n").last
    #expect(doctor?.contains(" well.") == true, "\(words.output)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A login that is to decide later has its denial taken away: the own list is replaced whole, the doctor sees it, and a button works"
  ) func decidesLater() async throws {
    func printed(_ more: String...) async throws -> String {
      let outcome = try await installation.command(
        ["acl", "--keep", "homeassistant", "--monitor", "homeassistant"] + more + ["--writes", "house/#"])
      try #require(outcome.status == 0, "\(outcome.error)")
      return outcome.output
    }
    let broker = try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"],
      addition: "acl_file /etc/mosquitto/threadkeeper.acl\n", files: ["threadkeeper.acl": try await printed()],
      logins: ["threadkeeper", "hub", "homeassistant"])
    let list = broker.file("threadkeeper.acl")
    let again = ["setup", "--mosquitto-config", broker.file("mosquitto.conf")]
    #expect(try await report(options(broker))["broker"]?["access"] == "complete")
    let text = try settings + "\nhome_assistant: {login: homeassistant}\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: installation.configuration))

    // The doctor sees it in the broker's files, and with the login's password without them.
    let root = installation.directory.file("root")
    try FileManager.default.createDirectory(atPath: "\(root)/etc/mosquitto", withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: broker.file("mosquitto.conf"), toPath: "\(root)/etc/mosquitto/mosquitto.conf")
    let password = try installation.passphraseFile("homeassistant-pw")
    func doctor() async throws -> [[String]] {
      var answers: [[String]] = []
      for (arguments, environment) in [
        ([], ["THREADKEEPER_SYSTEM_ROOT": root]), (["--login", "homeassistant", "--password-file", password], [:]),
        ([], [:]),
      ] as [([String], [String: String])] {
        let outcome = try await installation.command(["doctor", "--json"] + arguments, environment: environment)
        answers.append(
          (JSON(outcome.output)?["findings"]?.list ?? []).filter { $0["check"] == "promises" }.compactMap {
            $0["result"]?.text
          })
      }
      return answers
    }
    #expect(try await doctor() == [["problem"], ["problem"], ["not_checked"]])

    let report = try await report(again)
    #expect(report["broker"]?["access"] == "incomplete")
    let steps = lines(report["broker"])
    #expect(
      steps.contains {
        $0.hasSuffix("--approver homeassistant --writes 'house/#' | sudo tee \(list) >/dev/null")
          && !$0.contains("--append")
      }, "\(steps)")
    let replaced = try #require(report["broker"]?["access_list"]?.text)
    #expect(try await printed("--approver", "homeassistant") == replaced)
    try Data(replaced.utf8).write(to: URL(fileURLWithPath: list))
    try await broker.reload()
    #expect(try await self.report(again)["broker"]?["access"] == "complete")

    let daemon = try await installation.start()
    #expect(try await doctor() == [["ok"], ["ok"], ["not_checked"]])
    #expect(!daemon.log.contains("messages rejected"), "\(daemon.log)")
    let assistant = try await broker.audience("homeassistant")
    let hub = try await broker.publisher("hub")
    let router = BorderRouter(number: 1, user: "hub")
    try await hub.publish([router.announces(try ThreadNetwork("home").hex())])
    try await assistant.until("the router") { $0.state(router.topic)?["preferred"] == "match" }
    try await installation.run("preferred", "forget")
    func button(_ heard: Audience.Heard) -> JSON? {
      heard.latest.keys.lazy.compactMap { heard.state($0)?["components"]?["prefer"] }.first
    }
    try await assistant.until("the button") { button($0) != nil }
    let found = try #require(assistant.look(button))
    let topic = try #require(found["command_topic"]?.text)
    let home = try await broker.publisher("homeassistant")
    #expect(try await home.publish(topic, try #require(found["payload_press"]?.text)) == .delivered)
    try await eventually("the preferred network") {
      let preferred = try await installation.status()["preferred_networks"]
      return preferred?.list.first?["network_name"] == "home"
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  // MARK: Login and list made by setup

  /// Logins, and no list.
  private func open() throws -> BrokerInUse {
    try BrokerInUse(
      house: ["allow_anonymous false", "password_file $/passwords"], addition: "",
      logins: ["hub", "homeassistant", "nodered"])
  }

  private func making(_ broker: BrokerInUse, restart: String? = nil, _ more: String...) -> [String] {
    [
      "setup", "--broker", "127.0.0.1", "--port", "\(broker.port)", "--login", "threadkeeper", "--mosquitto-config",
      broker.file("mosquitto.conf"), "--make-login", "--restart-broker", restart ?? broker.restart, "--router", "hub",
      "--home-assistant-login", "homeassistant", "--writes", "homeassistant/#",
    ] + more
  }

  /// All files of the broker that setup may change, by name.
  private func files(_ broker: BrokerInUse) throws -> [String: String] {
    var files: [String: String] = [:]
    for directory in ["", "conf.d/"] {
      for name in try FileManager.default.contentsOfDirectory(atPath: broker.file(directory)) {
        let path = "\(directory)\(name)"
        guard path == "passwords" || path.hasSuffix(".conf") || path.contains("threadkeeper") else { continue }
        files[path] = try String(contentsOfFile: broker.file(path), encoding: .utf8)
      }
    }
    return files
  }

  @Test("It makes login and list: both hold, again changes only what differs, and --undo puts all back") func makes()
    async throws
  {
    let broker = try open()
    let before = try files(broker)
    let trial = try await report(making(broker, "--dry-run"))
    #expect(try files(broker) == before && !hasStore)
    let shown = (trial["broker"]?["files"]?.list ?? []).flatMap { $0["difference"]?.list ?? [] }.compactMap(\.text)
    #expect(
      shown.contains("+threadkeeper:…") && shown.contains("+acl_file \(broker.file("threadkeeper.acl"))"), "\(shown)")

    let made = try await report(making(broker))
    #expect(made["broker"]?["access"] == "complete" && made["password_stored"] == true, "\(made)")
    #expect(made["broker"]?["steps"]?.list.isEmpty == true, "\(made)")
    #expect(made["broker"]?["copies"]?.list.count == 2, "\(made)")
    #expect(made["doctor"]?["findings"]?.list.contains { $0["result"] == "problem" && $0["part"] == "broker" } == false)
    try await eventually("the new list") { broker.log.contains("Reloading config") }
    for (login, topic, isAllowed) in [
      ("homeassistant", "homeassistant/status", true), ("homeassistant", "threadkeeper/in/hub/announce", false),
      ("nodered", "house/lamp/set", true), ("nodered", "threadkeeper/in/hub/announce", false),
      ("hub", "threadkeeper/in/hub/announce", true),
    ] {
      let publisher = try await broker.publisher(login)
      #expect(try await isTaken(topic, publisher) == isAllowed, "\(login) \(topic)")
    }
    let daemon = try await installation.start()
    try await eventually("the connection") { try await installation.status()["broker"]?["state"] == "connected" }
    #expect(try await daemon.stop() == .exit(0))

    // Again: nothing. Where Home Assistant is to decide: the own list alone, whole.
    let after = try files(broker)
    #expect(try await report(making(broker))["broker"]?["files"]?.list.isEmpty == true)
    #expect(try files(broker) == after)
    try Data((try settings + "\nhome_assistant: {login: homeassistant}\n").utf8).write(
      to: URL(fileURLWithPath: installation.configuration))
    let changed = try await report(making(broker))
    let written = (changed["broker"]?["files"]?.list ?? []).compactMap { $0["path"]?.text }
    #expect(written == [broker.file("threadkeeper.acl")], "\(changed)")

    let undone = try await report([
      "setup", "--undo", "--mosquitto-config", broker.file("mosquitto.conf"), "--restart-broker", broker.restart,
    ])
    #expect(
      (undone["files"]?.list ?? []).compactMap { $0["action"]?.text }.sorted() == ["removed", "restored", "restored"])
    #expect(try files(broker) == before)
    let none = try await installation.command("setup", "--undo", "--mosquitto-config", broker.file("mosquitto.conf"))
    #expect(none.status == 0 && none.output.contains("nothing to undo"), "\(none)")
  }

  @Test("Its agents publish sealed under logins of their own; again: nothing to change; --undo takes them away")
  func agents() async throws {
    let (broker, fake) = (try open(), try FakeHomeAssistant(token: "an-administrators-token"))
    let routers = try await ThreadRouters(1)
    let home = try ThreadNetwork("home")
    let router = try routers.order(0, "form", home.hex()).agent
    fake.add(try OperationalDataset(hex: home.hex()), isPreferred: true)
    let (before, directory) = (try files(broker), installation.directory.file("root/etc/threadkeeper-agent"))
    _ = try await report(making(broker))
    let daemon = try await installation.start()
    func setup(_ more: [String]) async throws -> ThreadkeeperBinary.Outcome {
      try await installation.command(
        [
          "setup", "--mosquitto-config", broker.file("mosquitto.conf"), "--restart-broker", broker.restart,
          "--home-assistant-url", fake.url, "--home-assistant-user", "\(getuid())", "--openthread-url", routers.url(0),
          "--router-user", "\(getuid())",
        ] + more, environment: ["THREADKEEPER_SYSTEM_ROOT": installation.directory.file("root")])
    }
    let wrong = try installation.directory.putSecret("wrong", "wrong-token")
    let refused = try await setup(["--home-assistant-token-file", wrong])
    #expect(refused.status == 77 && refused.error.contains("token"), "\(refused)")
    let token = try installation.directory.putSecret("an-administrators-token", "token")
    let named = ["--home-assistant-token-file", token, "--agent", "openthread", "--json"]
    let trial = try await setup(named + ["--dry-run"])
    #expect(JSON(trial.output)?["agents"]?.list.count == 2, "\(trial)")
    #expect(!FileManager.default.fileExists(atPath: directory))

    let made = try await setup(named)
    let reports = JSON(made.output)?["agents"]?.list ?? []
    #expect(made.status == 0 && !made.output.contains("an-administrators-token"), "\(made)")
    #expect(reports.compactMap { $0["agent"]?.text } == ["home-assistant", "openthread"], "\(made)")
    #expect(reports.allSatisfy { $0["enrolled"] == true && $0["problem"] == nil }, "\(made)")

    // As the units have it.
    var processes: [ChildProcess] = []
    for name in ["home-assistant", "otbr"] {
      let text = try String(contentsOfFile: "\(directory)/\(name).env", encoding: .utf8)
      let values = text.split(separator: "\n").filter { $0.hasPrefix("AGENT_") }.map { $0.split(separator: "\"")[1] }
      processes.append(
        try ChildProcess(
          ThreadkeeperBinary.executable.path,
          ["agent", name] + values.flatMap { $0.split(separator: " ") }.map(String.init),
          environment: ["HOME": installation.directory.path],
          streams: (.nothing, .nothing, .file(installation.directory.file("\(name).log")))))
    }
    defer { for process in processes { process.signal(SIGKILL) } }
    try await eventually("what both publish") {
      let (networks, rows) = (try await installation.run("networks"), try await installation.run("routers"))
      return networks.contains("home-assistant") && rows.contains(router)
    }
    let clients = try await installation.json("clients", "list")["clients"]?.list ?? []
    #expect(clients.compactMap { $0["user"]?.text }.sorted() == ["home-assistant", "openthread"])
    #expect(clients.allSatisfy { $0["trust"] == "signed" })

    let (passwords, again) = (
      try files(broker), try await setup(["--agent", "home-assistant", "--agent", "openthread"])
    )
    #expect(again.output.contains("The agent for Home Assistant: nothing to change."), "\(again)")
    #expect(again.output.contains("The agent for this OpenThread router: nothing to change."), "\(again)")
    #expect(try files(broker) == passwords)

    let undone = try await setup(["--undo", "--json"])
    #expect(undone.status == 0, "\(undone)")
    #expect(JSON(undone.output)?["agents"]?.list.allSatisfy { $0["revoked"] == true } == true, "\(undone)")
    #expect(try files(broker) == before && FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    #expect(try await installation.json("clients", "list")["clients"]?.list.isEmpty == true)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("At a terminal all lines are shown before the last question, and a no leaves all as it was") func declines()
    async throws
  {
    let broker = try open()
    let (before, settings) = (try files(broker), try settings)
    let session = try TerminalSession(
      [
        "setup", "--config", installation.configuration, "--mosquitto-config", broker.file("mosquitto.conf"),
        "--restart-broker", broker.restart, "--router", "hub",
      ],
      environment: installation.environment.merging(["THREADKEEPER_SYSTEM_ROOT": installation.directory.file("system")])
      { $1 })
    for (question, answer) in [
      ("Broker [127.0.0.1]: ", ""), ("Port [1883]: ", "\(broker.port)"), ("Login [threadkeeper]: ", ""),
      ("Make the login and the access list? [yes]: ", ""), ("Announce them to Home Assistant? [yes]: ", ""),
      ("Serve the status page? [no]: ", ""), ("Home Assistant's login at the broker [homeassistant]: ", ""),
      ("Topics [homeassistant/#]: ", ""), ("Write it? [yes]: ", "no"),
    ] {
      try await session.until(question)
      session.type(answer + "\n")
    }
    #expect(try await session.end() == 130, "\(session.screen)")
    for line in ["+threadkeeper:…", "+user threadkeeper", "+acl_file ", "Nothing was written"] {
      #expect(session.screen.contains(line), "\(line) \(session.screen)")
    }
    #expect(try files(broker) == before && self.settings == settings && !hasStore)
  }

  @Test("What was changed since stays, and its lines are named") func changedSince() async throws {
    let broker = try open()
    _ = try await report(making(broker))
    let passwords = try #require(try files(broker)["passwords"])
    try Data("\(passwords)attic:x\n".utf8).write(to: URL(fileURLWithPath: broker.file("passwords")))
    let outcome = try await installation.command(
      "setup", "--undo", "--mosquitto-config", broker.file("mosquitto.conf"), "--restart-broker", broker.restart)
    #expect(outcome.status == 0 && outcome.output.contains("  +threadkeeper:…\n"), "\(outcome)")
    let left = try files(broker)
    #expect(left["passwords"]?.hasSuffix("attic:x\n") == true && left["threadkeeper.acl"] == nil)
    #expect(left["conf.d/threadkeeper.conf"] == "")
  }

  @Test(
    "A broker that does not take it, or cannot be restarted, has its files as before, and nothing is written",
    arguments: ["exit 1", "true"]) func refuses(_ restart: String) async throws
  {
    let broker = try open()
    let (before, settings) = (try files(broker), try settings)
    let outcome = try await installation.command(making(broker, restart: restart))
    #expect(outcome.status == (restart == "true" ? 77 : 69), "\(outcome)")
    #expect(outcome.error.contains("as they were"), "\(outcome.error)")
    #expect(try files(broker) == before && settings == self.settings && !hasStore)
  }

  @Test("What fails after the broker got an agent's password leaves that for the next run") func keepsPasswords()
    async throws
  {
    let (broker, fake) = (try open(), try FakeHomeAssistant(token: "an-administrators-token"))
    let token = try installation.directory.putSecret("an-administrators-token", "token")
    let file = installation.directory.file("root/etc/threadkeeper-agent/home-assistant.password")
    func setup(restart: String) async throws -> ThreadkeeperBinary.Outcome {
      try await installation.command(
        making(broker, restart: restart) + [
          "--home-assistant-url", fake.url, "--home-assistant-user", "\(getuid())", "--home-assistant-token-file",
          token,
        ], environment: ["THREADKEEPER_SYSTEM_ROOT": installation.directory.file("root")])
    }
    #expect(try await setup(restart: "exit 1").status == 69)
    let password = try String(contentsOfFile: file, encoding: .utf8)
    #expect(password.count > 20 && !hasStore)
    let made = try await setup(restart: broker.restart)
    #expect(made.status == 0 && hasStore, "\(made)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == password)
  }

  @Test("Where the broker's files are not here, --make-login says so, and nothing is written") func notHere()
    async throws
  {
    let broker = try open()
    let outcome = try await installation.command(
      making(broker).map { $0 == broker.file("mosquitto.conf") ? broker.file("none.conf") : $0 })
    #expect(outcome.status == 64 && outcome.error.contains("--make-login: no configuration"), "\(outcome)")
    #expect(!hasStore)
  }

  @Test("TLS with the right authorities works; with others nothing is written, and it says why") func tls() async throws
  {
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

  @Test("A new file is for its user alone, and makes a store; the private broker needs nothing") func embedded()
    async throws
  {
    let directory = try TemporaryDirectory()
    let environment = ["HOME": directory.path, "THREADKEEPER_SYSTEM_ROOT": directory.file("system")]
    let file = directory.file("new/threadkeeper.yaml")
    let arguments = ["setup", "--broker", "embedded", "--config", file, "--state-directory", directory.file("state")]
    let made = try await ThreadkeeperBinary.run(arguments, environment: environment)
    #expect(made.status == 0, "\(made.error)")
    #expect(made.output.contains("nothing to add") && made.output.contains("Back up its key"))
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    for (path, mode) in [("store", 0o700), ("store/store.sqlite3", 0o600), ("store.key", 0o400)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("state/\(path)"))
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
    }
    let check = try await ThreadkeeperBinary.run("check-config", "--config", file, environment: environment)
    #expect(check.status == 0 && check.output.hasSuffix("can be used.\n"), "\(check)")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let again = try await ThreadkeeperBinary.run(arguments + ["--json"], environment: environment)
    #expect(JSON(again.output)?["written"] == false && JSON(again.output)?["store_made"] == false)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }

  @Test("The page is opened with a token, and its link is drawn where there is a tool for it") func openPage()
    async throws
  {
    let directory = try TemporaryDirectory()
    let file = directory.file("threadkeeper.yaml")
    try FileManager.default.createDirectory(atPath: directory.file("bin"), withIntermediateDirectories: false)
    let tool = directory.file("bin/qrencode")
    try Data("#!/bin/sh\necho \"[$*]\"\ncat\n".utf8).write(to: URL(fileURLWithPath: tool))
    chmod(tool, 0o755)
    let environment = [
      "HOME": directory.path, "THREADKEEPER_SYSTEM_ROOT": directory.file("system"),
      "PATH": "\(directory.file("bin")):/usr/sbin:/usr/bin:/sbin:/bin",
    ]
    let arguments = [
      "setup", "--broker", "embedded", "--open-page", "--config", file, "--state-directory", directory.file("state"),
    ]
    let made = try await ThreadkeeperBinary.run(arguments, environment: environment)
    #expect(made.status == 0, "\(made.error)")
    let token = try String(contentsOfFile: directory.file("state/store.http-token"), encoding: .utf8)
    #expect(made.output.contains("[-t UTF8 -o -]\nhttp://"), "\(made.output)")
    #expect(made.output.hasSuffix("?token=\(token.dropLast())") || made.output.contains("?token=\(token.dropLast())\n"))
    let check = try await ThreadkeeperBinary.run(
      "check-config", "--config", file, "--state-directory", directory.file("state"), environment: environment)
    #expect(check.status == 0, "\(check)")
    let again = try await ThreadkeeperBinary.run(arguments + ["--json"], environment: environment)
    #expect(JSON(again.output)?["written"] == false)
    #expect(JSON(again.output)?["page"]?["link"]?.text?.hasSuffix("?token=\(token.dropLast())") == true)
  }

  @Test("Where the password cannot be stored, the settings stay as they were") func unusableStore() async throws {
    let before = try settings
    try Data("no directory".utf8).write(to: URL(fileURLWithPath: installation.storePath))
    let outcome = try await installation.command(
      "setup", "--broker", "127.0.0.1", "--port", "9", "--login", "tk", "--no-validate", "--password-file",
      try installation.passphraseFile("tk-pw"))
    #expect(outcome.status != 0 && outcome.output == "", "\(outcome.output)")
    #expect(try settings == before)
  }

  @Test("At a terminal it asks, changes nothing where it is broken off, and writes what is answered") func terminal()
    async throws
  {
    let broker = try PasswordBroker("keeper", "Sesame-51d0-right")
    let before = try settings
    for isCancelled in [true, false] {
      let session = try TerminalSession(
        ["setup", "--config", installation.configuration],
        environment: installation.environment.merging([
          "THREADKEEPER_SYSTEM_ROOT": installation.directory.file("system")
        ]) { $1 })
      for (question, answer) in [
        ("Broker [127.0.0.1]: ", ""), ("Port [1883]: ", "\(broker.port)"), ("Login [threadkeeper]: ", "keeper"),
      ] {
        try await session.until(question)
        session.type(answer + "\n")
      }
      try await session.until("Password of keeper: ")
      try await session.untilHidden()
      guard !isCancelled else {
        session.type("\u{3}")
        #expect(try await session.end() == 130, "\(session.screen)")
        #expect(session.isEchoing && session.screen.contains("Nothing was written"))
        #expect(try settings == before && !hasStore)
        continue
      }
      session.type("Sesame-51d0-right\n")
      for (question, answer) in [
        ("Announce them to Home Assistant? [yes]: ", "no"), ("Serve the status page? [no]: ", ""),
        ("Other logins [none]: ", ""), ("Write it? [yes]: ", ""),
      ] {
        try await session.until(question)
        session.type(answer + "\n")
      }
      #expect(try await session.end() == 0, "\(session.screen)")
      #expect(session.isEchoing && !session.screen.contains("Sesame"))
      #expect(session.screen.contains("all that it needs is listed"), "\(session.screen)")
    }
    #expect(try settings.contains("  username: keeper\n"))
    #expect(try !settings.contains("Sesame"))
    let daemon = try await installation.start()
    #expect(try await daemon.stop() == .exit(0))
  }
}
