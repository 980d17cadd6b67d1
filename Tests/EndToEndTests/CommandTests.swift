// SPDX-License-Identifier: Apache-2.0

import Foundation
import MosquittoClient
import TestKit
import Testing

@Suite("Commands on an installation", .inTurns, .timeLimit(.minutes(30)))
struct CommandTests {
  @Test("init makes everything for this user alone, says what to back up, and does it once")
  func initialize() async throws {
    let directory = try TemporaryDirectory()
    let state = directory.file("state")
    func run(_ arguments: String...) async throws -> ThreadkeeperBinary.Outcome {
      try await ThreadkeeperBinary.run(
        arguments + ["--state-directory", state], environment: ["HOME": directory.path])
    }
    let made = try await run("init")
    #expect(made.status == 0)
    for path in ["store.key", "store", "threadkeeper.yaml"] {
      #expect(made.output.contains("/state/\(path)"), "\(path)")
    }
    #expect(made.output.contains("Back up"))
    for (path, mode) in [
      ("store", 0o700), ("store/store.sqlite3", 0o600), ("store.key", 0o400),
      ("threadkeeper.yaml", 0o600),
    ] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(state)/\(path)")
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
    }
    let key = try Data(contentsOf: URL(fileURLWithPath: "\(state)/store.key"))
    let again = try await run("init", "--json")
    #expect(again.status == 73)
    #expect(again.output.isEmpty)
    #expect(again.error.contains("already"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(state)/store.key")) == key)

    // What it wrote is a configuration, and what it made is a store.
    let check = try await ThreadkeeperBinary.run(
      "check-config", "--config", "\(state)/threadkeeper.yaml",
      environment: ["HOME": directory.path])
    #expect(check.status == 0, "\(check.output)")
    let status = JSON(try await run("status", "--json").output)
    #expect(status?["running"] == false)
    #expect(status?["store"]?["condition"] == "healthy")
    #expect(status?["routers"] == 0)

    let other = try await ThreadkeeperBinary.run(
      ["init", "--json", "--state-directory", directory.file("other")],
      environment: ["HOME": directory.path])
    #expect(JSON(other.output)?["back_up"]?.list.count == 3)
    #expect(JSON(other.output)?["key_file"]?.text?.hasSuffix("/other/store.key") == true)
  }

  @Test("check-config ends with 78 and names all problems at once; run refuses to start with them")
  func checkConfig() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("bad.yaml")
    let text = """
      mqtt:
        host: broker.local
        port: 99999
        prot: 5
        password: Sesame-9c1d
      alerts:
        hold: soon
      nonsense: 1
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    for command in [["check-config"], ["run"], ["status"], ["init"]] {
      let outcome = try await ThreadkeeperBinary.run(
        command + ["--config", file], environment: ["HOME": directory.path])
      #expect(outcome.status == 78, "\(command)")
      let said = outcome.output + outcome.error
      for problem in [
        "bad.yaml:3:9: error: mqtt.port", "bad.yaml:4:3: error: unknown key `mqtt.prot`",
        "bad.yaml:5:13: error: mqtt.password", "bad.yaml:7:9: error: alerts.hold",
        "bad.yaml:8:1: error: unknown key `nonsense`",
      ] {
        #expect(said.contains(problem), "\(command): \(problem) in \(said)")
      }
      #expect(!said.contains("Sesame"), "\(command)")
    }
    let json = try await ThreadkeeperBinary.run(
      "check-config", "--json", "--config", file, environment: ["HOME": directory.path])
    #expect(json.status == 78)
    #expect(JSON(json.output)?["usable"] == false)
    #expect(JSON(json.output)?["problems"]?.list.filter { $0["severity"] == "error" }.count == 5)
    #expect(JSON(json.output)?["problems"]?.list.first?["line"] == 3)
    let missing = try await ThreadkeeperBinary.run(
      "check-config", "--config", directory.file("missing.yaml"))
    #expect(missing.status == 78)
  }

  @Test("What looks at the store works beside the daemon and without it, and says the same")
  func looking() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker, hold: 0)
    for command in ["status", "routers", "networks", "alerts"] {
      let outcome = try await keeper.command(command)
      #expect(outcome.status == 66, "\(command)")
      #expect(outcome.error.contains("there is no store"), "\(command)")
      #expect(outcome.error.contains("threadkeeper init"), "\(command)")
    }
    let audience = try await Audience.start(broker)
    let daemon = try await keeper.start()
    let empty = try await keeper.command("routers")
    #expect(empty.output == "No border router has announced itself yet.\n")
    #expect(try await keeper.json("routers") == [])
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter(number: 1)
    let stray = BorderRouter(number: 2)
    try await publisher.publish([
      hub.says("announce", ("name", #""Hub""#), ("dataset", "\"\(try home.hex())\"")),
      stray.says("announce", ("name", #""Stray""#), ("dataset", "\"\(try guests.hex())\"")),
    ])
    try await audience.until("the alert") {
      !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty
    }

    var answers: [[JSON]] = []
    for isRunning in [true, false] {
      let status = try await keeper.json("status")
      #expect(status["running"] == .bool(isRunning))
      #expect(status["pid"]?.number == (isRunning ? Int64(daemon.identifier) : nil))
      #expect(status["routers"] == 2)
      #expect(status["networks"] == 2)
      #expect(status["credentials"] == 2)
      #expect(status["alerts"] == 2)
      #expect(status["broker"]?["state"]?.text == (isRunning ? "connected" : "not_running"))
      #expect(status["broker"]?["port"]?.number == Int64(broker.port))
      #expect(status["intake"]?["state"]?.text == (isRunning ? "running" : "not_running"))
      #expect(status["preferred_networks"]?.list.first?["network_name"] == "home")
      var lists: [JSON] = []
      for command in [["routers"], ["networks"], ["alerts"], ["credentials", "list"]] {
        let outcome = try await keeper.command(
          command[0], command.count > 1 ? command[1] : "--json", "--json")
        lists.append(try #require(JSON(outcome.output), "\(command)"))
      }
      #expect(lists.map(\.list.count) == [2, 2, 2, 2])
      answers.append(lists)
      let text = try await keeper.command("status").output
      #expect(text.contains(isRunning ? "running as process \(daemon.identifier)" : "not running"))
      #expect(try await keeper.command("routers").output.contains("Stray"))
      #expect(try await keeper.command("networks").output.contains(guests.extendedPANID))
      #expect(
        try await keeper.command("alerts").output.contains("Stray is on guest-thread, not on"))
      #expect(try await keeper.command("credentials", "list").output.contains(hub.agent))
      #expect(try await keeper.dataset(of: hub.agent) == (try home.hex()))
      #expect(try await keeper.command("store", "verify").status == 0)
      if isRunning { #expect(try await daemon.stop() == .exit(0)) }
    }
    #expect(answers[0] == answers[1])
    // The lists hold what is published, field for field.
    #expect(answers[1][0].list.first { $0["name"] == "Stray" } == audience.state(stray.topic))
  }

  @Test("Deleting works beside the daemon, which tells at once, and without it")
  func deleting() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await keeper.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter(number: 1)
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }

    let beside = try await keeper.command("credentials", "delete", router.agent)
    #expect(beside.status == 0, "\(beside.error)")
    try await audience.until("the deleted credentials") {
      $0.state(router.topic)?["credentials"] == "missing"
    }
    let none = try await keeper.command("credentials", "delete", router.agent)
    #expect(none.status == 66)
    #expect(none.error.contains(router.agent))
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router again") {
      $0.state(router.topic)?["credentials"] == "stored"
    }
    #expect(try await keeper.dataset(of: router.agent) == (try home.hex()))
    // A second daemon is refused, and does the first one no harm.
    let second = try keeper.launch()
    #expect(try await second.end() == .exit(75))
    #expect(second.log.contains("process \(daemon.identifier)"))
    #expect(try await daemon.stop() == .exit(0))

    let deleted = try await keeper.command("credentials", "delete", router.agent, "--json")
    #expect(deleted.status == 0)
    #expect(JSON(deleted.output) == ["deleted": .text(router.agent)])
    #expect(try await keeper.command("credentials", "delete", router.agent).status == 66)
    #expect(try await keeper.command("credentials", "get", router.agent).status == 66)
    #expect(try await keeper.command("credentials", "get", "xyz").status == 64)
    #expect(try await keeper.json("routers").list.first?["credentials"] == "missing")

    // The next run tells the broker, and that something is missing now.
    let again = try await keeper.start()
    try await audience.until("the missing credentials, told") {
      $0.state(router.topic)?["credentials"] == "missing"
        && !$0.alerts("alert_raised", "CredentialsMissing").isEmpty
    }
    #expect(try await again.stop() == .exit(0))
    #expect(try keeper.verify().matchesManifest)
  }

  @Test("A key file of another store, and no key file, are refused with 77, in words")
  func wrongKey() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker)
    let other = try Installation(broker)
    for installation in [keeper, other] {
      #expect(try await installation.command("init").status == 0)
    }
    let path = keeper.directory.file("store.key")
    let own = try Data(contentsOf: URL(fileURLWithPath: path))
    let strange = try Data(contentsOf: URL(fileURLWithPath: other.directory.file("store.key")))
    try strange.write(to: URL(fileURLWithPath: path))
    let refused = try keeper.launch()
    #expect(try await refused.end() == .exit(77))
    #expect(refused.log.contains("no key slot of the store opens with the key file"))
    #expect(try await keeper.command("status").status == 77)

    try FileManager.default.removeItem(atPath: path)
    let missing = try keeper.launch()
    #expect(try await missing.end() == .exit(77))
    #expect(missing.log.contains("there is no key file at"))

    // Others could read it: refused as well.
    try own.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let open = try keeper.launch()
    #expect(try await open.end() == .exit(77))
    #expect(open.log.contains("chmod"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try await (try await keeper.start()).stop() == .exit(0))
  }

  @Test("acl prints what a broker takes, and refuses names that would break it")
  func accessList() async throws {
    let keeper = try Installation(
      port: 1883,
      more: "homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}")
    let outcome = try await keeper.command("acl", "--keeper", "tk", "--monitor", "dashboard")
    #expect(outcome.status == 0)
    for line in [
      "user tk", "topic readwrite tk/house/#", "topic readwrite tk/cabin/#", "user dashboard",
      "pattern write tk/house/in/%u/#", "pattern read tk/cabin/out/%u/#",
    ] {
      #expect(outcome.output.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
    #expect(try await keeper.json("acl")["acl"]?.text?.contains("user threadkeeper") == true)
    for name in ["a/b", "a+b", "#", ""] {
      #expect(try await keeper.command("acl", "--keeper", name).status == 64, "\(name)")
    }
  }

  @Test("Two homes, each with its own topics, routers and preferred network")
  func homes() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(
      broker, hold: 0,
      more: "homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}")
    let audience = try await Audience.start(broker)
    let daemon = try await keeper.start()
    let publisher = try await TestPublisher.start(broker)
    let house = try ThreadNetwork("house-thread")
    let cabin = try ThreadNetwork("cabin-thread")
    let inHouse = BorderRouter("a1b2c3d4e5f60701", base: "tk/house")
    let inCabin = BorderRouter("a1b2c3d4e5f60701", base: "tk/cabin")
    let strayed = BorderRouter("a1b2c3d4e5f60702", base: "tk/cabin")
    try await publisher.publish([
      inHouse.announces(try house.hex()), inCabin.announces(try cabin.hex()),
      strayed.announces(try house.hex()),
    ])
    try await audience.until("the stray one's alert, in its own home") { heard in
      heard.latest.contains {
        $0.key.hasPrefix("tk/cabin/alert/") && JSON($0.value)?["router"]?.text == strayed.agent
      }
    }
    try await audience.until("both homes") { heard in
      heard.state("tk/house/bridge/info")?["routers"] == 1
        && heard.state("tk/cabin/bridge/info")?["routers"] == 2
    }
    #expect(audience.state(inHouse.topic)?["preferred"] == "match")
    #expect(audience.state(inHouse.topic)?["home"] == "house")
    #expect(audience.state(inCabin.topic)?["preferred"] == "match")
    #expect(audience.state(strayed.topic)?["preferred"] == "mismatch")
    for home in ["house", "cabin"] {
      #expect(audience.state("tk/\(home)/bridge/state") == ["state": "online"])
      #expect(audience.state("tk/\(home)/bridge/info")?["home"]?.text == home)
    }
    #expect(
      audience.look { heard in
        !heard.latest.keys.contains {
          $0.hasPrefix("tk/house/alert/") && heard.latest[$0]?.contains("Mismatch") == true
        }
      })
    #expect(audience.look { $0.latest["tk/house/router/\(strayed.agent)"] } == nil)

    // One id, two homes: the command has to know which.
    #expect(try await keeper.command("credentials", "get", inHouse.agent).status == 64)
    let shown = try await keeper.command(
      "credentials", "get", inHouse.agent, "--home", "cabin", "--show-secrets", "--json")
    #expect(JSON(shown.output)?["dataset"]?.text == (try cabin.hex()))
    #expect(try await keeper.json("credentials", "list").list.count == 3)
    #expect(try await keeper.json("status")["preferred_networks"]?.list.count == 2)

    try await publisher.publish([inCabin.leaves])
    try await audience.until("the leave, in one home only") {
      $0.latest[inCabin.topic] == "" && $0.latest[inHouse.topic] != ""
    }
    #expect(try await daemon.stop() == .exit(0))
    for home in ["house", "cabin"] {
      try await audience.until("the clean stop") {
        $0.state("tk/\(home)/bridge/state") == ["state": "offline", "reason": "stopped"]
      }
    }
  }

  @Test("A home that moves to another base topic leaves nothing behind on the old one")
  func baseTopic() async throws {
    let broker = try TestBroker()
    let keeper = try Installation(broker, mqtt: ["base_topic: old/place"], hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await keeper.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let router = BorderRouter("a1b2c3d4e5f60701", base: "old/place")
    try await publisher.publish([router.announces(try home.hex())])
    try await audience.until("the router") { $0.state(router.topic) != nil }
    #expect(try await daemon.stop() == .exit(0))

    let text = try String(contentsOfFile: keeper.configuration, encoding: .utf8)
    try Data(text.replacingOccurrences(of: "old/place", with: "new/place").utf8)
      .write(to: URL(fileURLWithPath: keeper.configuration))
    let again = try await keeper.start()
    let moved = BorderRouter("a1b2c3d4e5f60701", base: "new/place")
    try await audience.until("everything at the new place, and nothing at the old one") { heard in
      heard.state(moved.topic)?["credentials"] == "stored"
        && heard.state("new/place/network/\(home.extendedPANID)") != nil
        && heard.latest.allSatisfy {
          !$0.key.hasPrefix("old/place/") || $0.key.contains("/event") || $0.value == ""
        }
    }
    #expect(try await again.stop() == .exit(0))
  }
}
