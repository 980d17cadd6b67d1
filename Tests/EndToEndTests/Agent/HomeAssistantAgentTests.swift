import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// Other users on this machine, and a stop during an answer: `HomeAssistantClientTests`.
@Suite("The command of Home Assistant's agent", .inTurns, .timeLimit(.minutes(30))) struct HomeAssistantAgentTests {
  private static let token = "eyJhbGciOiJIUzI1NiJ9.a-token-of-an-administrator.Wm4kqDcqTe7Y"
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let home: ThreadNetwork
  private let fake: FakeHomeAssistant

  init() throws {
    broker = try TestBroker()
    directory = try TemporaryDirectory()
    home = try ThreadNetwork("home")
    fake = try FakeHomeAssistant(token: Self.token)
    try directory.putSecret(Self.token, "token")
  }

  private func run(_ arguments: [String], environment: [String: String] = [:], launcher: [String] = []) async throws
    -> ThreadkeeperBinary.Outcome
  {
    // A proxy in the environment is not used.
    let own = [
      "HOME": directory.path, "https_proxy": "http://127.0.0.1:\(try UnusedPort.next())",
      "http_proxy": "http://127.0.0.1:\(try UnusedPort.next())",
    ]
    return try await ThreadkeeperBinary.run(
      AgentProcess.arguments(.homeAssistant, arguments, broker), environment: own.merging(environment) { $1 },
      launcher: launcher)
  }

  private func there(_ url: String? = nil, _ more: String...) -> [String] {
    ["--url", url ?? fake.url, "--token-file", directory.file("token")] + more
  }

  @Test("A dry run prints what would be published, without a key, and publishes nothing") func dryRun() async throws {
    let audience = try await Audience.start(broker)
    let none = try await run(there(nil, "--dry-run"))
    #expect(none.status == 69 && none.error.contains("no credentials to publish"), "\(none)")
    fake.add(try OperationalDataset(hex: home.hex()), isPreferred: true)
    let outcome = try await run(there(nil, "--dry-run", "--name", "Attic's HA"))
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.hasPrefix("threadkeeper/in/phones/credentials {"))
    for part in ["bytes>", #""preferred":true"#, "Attic's HA"] {
      #expect(outcome.output.contains(part), "\(outcome.output)")
    }
    let text = outcome.output + outcome.error
    var needles = Needles()
    needles.add(home)
    #expect(needles.found(in: text) == [] && !text.contains(Self.token))
    try await audience.caughtUp()
    #expect(audience.look { !$0.messages.contains { $0.topic.hasPrefix("threadkeeper/in/") } })
  }

  @Test("Each trouble ends a dry run with its status and its words") func troubles() async throws {
    try directory.putSecret("another", "wrong")
    try directory.putSecret("with a \"quote", "quote")
    try directory.putSecret(Self.token, "open")
    #expect(chmod(directory.file("open"), 0o644) == 0)
    let plain = try WebSocketServer { $0.send(bytes: Array("HTTP/1.1 400 Bad\r\n\r\n".utf8)) }
    let closed = "http://127.0.0.1:\(try UnusedPort.next())"
    for (url, file, status, words) in [
      (fake.url, "wrong", 77, "does not accept the token"), (fake.url, "none", 66, "can't read"),
      (fake.url, "open", 77, "open to every user"), (fake.url, "quote", 65, "no access token"),
      (closed, "token", 69, "Connection refused"),
      ("https://127.0.0.1:\(plain.port)", "token", 69, "TLS does not begin"),
    ] as [(String, String, Int32, String)] {
      let outcome = try await run(["--url", url, "--token-file", directory.file(file), "--dry-run"])
      #expect(outcome.status == status && outcome.error.contains(words), "\(outcome)")
      #expect(!(outcome.output + outcome.error).contains(Self.token))
    }
    fake.refuse("thread/list_datasets", "unauthorized")
    let user = try await run(there(nil, "--dry-run"))
    #expect(user.status == 77 && user.error.contains("no administrator"), "\(user)")
  }

  @Test("A certificate is verified with the authorities of this system", .enabled(if: PrivateMount.isPossible))
  func certificate() async throws {
    let certificates = try TestCertificates()
    let secure = try FakeHomeAssistant(token: Self.token, tls: certificates)
    secure.add(try OperationalDataset(hex: home.hex()))
    let url = "https://127.0.0.1:\(secure.port)"
    // Into this file libcurl would write what decrypts the connection.
    let keys = ["SSLKEYLOGFILE": directory.file("keys")]
    var outcome = try await run(there(url, "--dry-run"))
    try await eventually("its server") {
      outcome = try await run(there(url, "--dry-run"))
      return !outcome.error.contains("can't be reached")
    }
    #expect(outcome.status == 69 && outcome.error.contains("certificate is not accepted"), "\(outcome)")
    let mount = "mount --bind '\(certificates.authority)' /etc/ssl/certs/ca-certificates.crt; exec \"$@\""
    let launcher =
      ["/usr/bin/env", "unshare"] + (getuid() == 0 ? [] : ["--user", "--map-root-user"]) + [
        "--mount", "sh", "-ec", mount, "sh",
      ]
    try await eventually("its next server") {
      outcome = try await run(there(url, "--dry-run"), environment: keys, launcher: launcher)
      return !outcome.error.contains("can't be reached")
    }
    #expect(outcome.status == 0 && outcome.output.contains("/credentials {"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: directory.file("keys")))
  }

  @Test("Without an address and a token's file it is the add-on's Home Assistant, where there is one") func addOn()
    async throws
  {
    let outside = try await run(["--dry-run"])
    #expect(outside.status == 64 && outside.error.contains("--url is needed"), "\(outside)")
    let inside = try await run(["--dry-run"], environment: ["SUPERVISOR_TOKEN": Self.token])
    #expect(inside.status == 69 && inside.error.contains("http://supervisor"), "\(inside)")
    #expect(!inside.error.contains(Self.token))
    let named = try await run(["--dry-run", "--url", fake.url], environment: ["SUPERVISOR_TOKEN": Self.token])
    #expect(named.status == 64 && fake.logins == 0, "\(named)")
  }

  @Test(
    "The token of an add-on is no more in the environment that others of its user can read",
    .enabled(if: geteuid() == 0, "only root reads the environment of a process that forbids it")) func environment()
    async throws
  {
    let agent = try AgentProcess(
      .homeAssistant, [], environment: ["SUPERVISOR_TOKEN": Self.token], broker: broker, in: directory)
    try await eventually("its trouble") { agent.output.contains("can't be reached") }
    // Foundation reads no more than the first page of it.
    let there = try Program.check("cat", ["/proc/\(agent.identifier)/environ"])
    #expect(there.contains("SUPERVISOR_TOKEN=") && !there.contains(Self.token))
    #expect(agent.end() == .exit(0))
  }

  @Test("Options that make no sense, and URLs that are none, are wrong usage") func usage() async throws {
    for (wrong, words) in [
      (there(nil, "--write"), "--write needs --daemon"), (there("ha.local"), "http://HOST[:PORT]"),
      (there("http://anna:secret@ha"), "http://HOST[:PORT]"),
      (there("http://ha.local/lovelace"), "without a login or a page"), (there(nil, "--poll", "0"), "--poll"),
      (there(nil, "--request-timeout", "61"), "--request-timeout"), (there(nil, "--name", ""), "--name"),
      (there(nil, "--key", "/dev/null/none"), "--key needs --daemon"),
      (["--url", fake.url, "--token-file", "-"], "--token-file is a file"),
      (["--url", fake.url], "--token-file is needed"), (["--token-file", directory.file("token")], "--url is needed"),
      (there(nil, "--home-assistant-user", "nobody-has-this-name"), "There is no user"),
    ] {
      let outcome = try await run(wrong)
      #expect(outcome.status == 64 && outcome.error.contains(words), "\(wrong): \(outcome.error)")
      #expect(!outcome.error.contains("secret"))
    }
  }

  @Test(
    "Neither keys nor the token are in the agent's memory when all is published under seal",
    .enabled(if: geteuid() == 0, "only root reads another process's memory")) func memory() async throws
  {
    let audience = try await Audience.start(broker)
    let own = try await ThreadkeeperBinary.run("client", "keygen", "--out", directory.file("own.key"))
    #expect(own.status == 0, "\(own.error)")
    fake.add(try OperationalDataset(hex: home.hex()), isPreferred: true)
    for number in 1...8 { fake.add(try OperationalDataset(hex: ThreadNetwork("network-\(number)").hex())) }
    let agent = try AgentProcess(
      .homeAssistant, there(nil, "--daemon", try Identity().keys.line, "--key", directory.file("own.key")),
      broker: broker, in: directory)
    let topic = "threadkeeper/in/phones/credentials"
    try await audience.until("all events") { heard in heard.messages.count { $0.topic == topic } == 9 }
    audience.look { heard in
      for message in heard.messages where message.topic == topic {
        #expect(String(decoding: message.payload, as: UTF8.self).hasPrefix("{\"sealed\":"))
      }
    }
    let needles =
      ProcessMemory.needles("the network key", home.networkKey) + [
        ProcessMemory.Needle(name: "the token", bytes: Array(Self.token.utf8))
      ]
    #expect(try ProcessMemory.finds(of: needles, in: getpid()).count > 2, "the search finds nothing where something is")
    try await ProcessMemory.expectNone(of: needles, in: agent.identifier, after: "all events")
    #expect(agent.end() == .exit(0))
    #expect(!agent.output.contains("warning"), "\(agent.output)")
    #expect(!agent.output.contains(Self.token))
  }
}
