// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("Commands on an installation", .inTurns, .timeLimit(.minutes(30)))
struct CommandTests {
  @Test("setup makes a store for this user alone, and leaves one that is there as it is")
  func initialize() async throws {
    let directory = try TemporaryDirectory()
    let state = directory.file("state")
    func run(_ arguments: String...) async throws -> ThreadkeeperBinary.Outcome {
      try await ThreadkeeperBinary.run(
        arguments + ["--config", "\(state)/threadkeeper.yaml", "--state-directory", state],
        environment: ["HOME": directory.path])
    }
    let made = try await run("setup", "--broker", "embedded", "--yes")
    #expect(made.status == 0, "\(made.error)")
    for path in ["store.key", "store", "threadkeeper.yaml"] {
      #expect(made.output.contains("/state/\(path)"), "\(path)")
    }
    #expect(made.output.contains("Back up its key"))
    for (path, mode) in [
      ("store", 0o700), ("store/store.sqlite3", 0o600), ("store.key", 0o400),
      ("threadkeeper.yaml", 0o600),
    ] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(state)/\(path)")
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
    }
    let key = try Data(contentsOf: URL(fileURLWithPath: "\(state)/store.key"))
    let again = JSON(try await run("setup", "--yes", "--json").output)
    #expect(again?["store_made"] == false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(state)/store.key")) == key)

    // What it wrote is a configuration, and what it made is a store.
    let check = try await run("check-config")
    #expect(check.status == 0, "\(check.output)")
    #expect(try await run("store", "verify").status == 0)
    #expect(try await run("status").status == 69)
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
    for command in [["check-config"], ["run"], ["status"]] {
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

  @Test("A key file of another store, and no key file, are refused with 77, in words")
  func wrongKey() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker)
    let other = try Installation(broker)
    for installation in [installation, other] {
      try installation.makeStore()
    }
    let path = installation.directory.file("store.key")
    let own = try Data(contentsOf: URL(fileURLWithPath: path))
    let strange = try Data(contentsOf: URL(fileURLWithPath: other.directory.file("store.key")))
    try strange.write(to: URL(fileURLWithPath: path))
    let refused = try installation.launch()
    #expect(try await refused.end() == .exit(77))
    #expect(refused.log.contains("no key slot of the store opens with the key file"))
    #expect(try await installation.command("keys", "list").status == 77)

    try FileManager.default.removeItem(atPath: path)
    let missing = try installation.launch()
    #expect(try await missing.end() == .exit(77))
    #expect(missing.log.contains("there is no key file at"))

    // Others could read it: refused as well.
    try own.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let open = try installation.launch()
    #expect(try await open.end() == .exit(77))
    #expect(open.log.contains("chmod"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(try await (try await installation.start()).stop() == .exit(0))
  }

  @Test("acl prints what a broker takes, and refuses names that would break it")
  func accessList() async throws {
    let installation = try Installation(
      port: 1883,
      more: "homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}")
    let outcome = try await installation.command("acl", "--daemon", "tk", "--monitor", "dashboard")
    #expect(outcome.status == 0)
    for line in [
      "user tk", "topic readwrite tk/house/#", "topic readwrite tk/cabin/#", "user dashboard",
      "pattern write tk/house/in/%u/#", "pattern read tk/cabin/out/%u/#",
    ] {
      #expect(outcome.output.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
    #expect(try await installation.json("acl")["acl"]?.text?.contains("user threadkeeper") == true)
    for name in ["a/b", "a+b", "#", ""] {
      #expect(try await installation.command("acl", "--daemon", name).status == 64, "\(name)")
    }
    let both = try await installation.command("acl", "--daemon", "tk", "--monitor", "tk")
    #expect(both.status == 64 && both.output == "", "\(both.output)")
  }
}
