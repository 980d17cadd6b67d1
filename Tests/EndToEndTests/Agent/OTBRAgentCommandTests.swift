import Foundation
import TestKit
import Testing

@Suite("The command of the agent", .inTurns, .timeLimit(.minutes(30))) struct OTBRAgentCommandTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let home: ThreadNetwork

  init() throws {
    broker = try TestBroker()
    directory = try TemporaryDirectory()
    home = try ThreadNetwork("home")
  }

  /// With a proxy in the environment that does not answer: it is not used.
  private func run(_ arguments: [String], environment: [String: String] = [:], launcher: [String] = []) async throws
    -> ThreadkeeperBinary.Outcome
  {
    let proxy = "http://127.0.0.1:\(try UnusedPort.next())"
    let own = ["HOME": directory.path, "http_proxy": proxy]
    return try await ThreadkeeperBinary.run(arguments, environment: own.merging(environment) { $1 }, launcher: launcher)
  }

  private func arguments(_ url: String, _ more: String...) -> [String] {
    AgentProcess.arguments(.otbr, [url], broker) + more
  }

  @Test("A dry run prints what would be published, without a key, and publishes nothing") func dryRun() async throws {
    let audience = try await Audience.start(broker)
    let routers = try await ThreadRouters(1)
    let none = try await run(arguments(routers.url(0), "--dry-run"))
    #expect(none.status == 0 && none.output.contains("no_network"), "\(none.error)")
    let left = try await run(arguments(routers.url(0), "--dry-run", "--leave"))
    #expect(left.status == 69 && !left.output.contains("threadkeeper/in/"), "\(left)")
    let away = try await run(arguments("http://127.0.0.1:\(UnusedPort.next())", "--dry-run"))
    #expect(away.status == 69 && away.output.contains("is it off?"), "\(away)")
    let id = try routers.order(0, "form", home.hex()).agent
    let outcome = try await run(arguments(routers.url(0), "--dry-run"))
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(outcome.output.hasPrefix("threadkeeper/in/attic/announce {") && outcome.output.contains(id))
    var needles = Needles()
    needles.add(home)
    #expect(needles.found(in: outcome.output + outcome.error) == [])
    try await audience.caughtUp()
    #expect(audience.look { !$0.messages.contains { $0.topic.hasPrefix("threadkeeper/in/") } })
  }

  @Test("Without libcurl it ends with 69, and says what to install") func withoutLibrary() async throws {
    // The loader takes the first file of that name, and this one is no library.
    for name in ["libcurl.so.4", "libcurl-gnutls.so.4"] { try directory.put("", name) }
    let outcome = try await run(arguments("http://127.0.0.1:1"), environment: ["LD_LIBRARY_PATH": directory.path])
    #expect(outcome.status == 69 && outcome.error.contains("apt install libcurl4"), "\(outcome)")
  }

  @Test("libcurl is in the agent of routers alone", .enabled(if: getuid() == 0, "only root looks")) func library()
    async throws
  {
    func hasLibrary(_ process: Int32) throws -> Bool {
      try Program.check("cat", ["/proc/\(process)/maps"]).contains("libcurl")
    }
    let routers = try await ThreadRouters(1)
    try routers.order(0, "form", home.hex())
    let agent = try AgentProcess(.otbr, [routers.url(0)], broker: broker, in: directory)
    try await eventually("the announcement") { agent.output.contains("announced, leader") }
    #expect(try hasLibrary(agent.identifier))
    let other = try AgentProcess(
      .ssid, ["--command", "echo home", "--access-point", "hall"], broker: broker, in: directory)
    try await eventually("the SSID's agent") { other.output.contains("connected to the broker") }
    #expect(try !hasLibrary(other.identifier))
    let running = try await RunningHome(on: broker)
    #expect(try !hasLibrary(running.daemon.identifier))
    try await running.stop()
    #expect(agent.end() == .exit(0) && other.end() == .exit(0))
  }

  @Test("A name server that does not answer is given up in time", .enabled(if: PrivateMount.isPossible))
  func slowLookUp() async throws {
    try directory.put("nameserver 127.0.0.1\noptions timeout:30 attempts:3\n", "resolv.conf")
    try directory.put("hosts: files dns\n", "nsswitch.conf")
    // In a network of its own, with a socket for the questions that nobody reads.
    let script = """
      ip link set lo up
      mount --bind '\(directory.file("resolv.conf"))' /etc/resolv.conf
      mount --bind '\(directory.file("nsswitch.conf"))' /etc/nsswitch.conf
      exec "$@"
      """
    let server = """
      import os, socket, sys
      server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      server.bind(("127.0.0.1", 53))
      server.set_inheritable(True)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let begin = ContinuousClock.now
    let outcome = try await run(
      arguments("http://attic.example", "--dry-run"),
      launcher: ["/usr/bin/env", "unshare"] + (getuid() == 0 ? [] : ["--user", "--map-root-user"]) + [
        "--net", "--mount", "sh", "-ec", script, "sh", "/usr/bin/python3", "-c", server,
      ])
    #expect(outcome.status == 69 && outcome.output.contains("looking up attic.example takes too long"), "\(outcome)")
    #expect(begin.duration(to: .now) < .seconds(60))
  }

  @Test("Options that make no sense together, and URLs that are none, are wrong usage") func usage() async throws {
    let good = "http://127.0.0.1:8081"
    for (wrong, words) in [
      (arguments(good, "--adopt"), "--daemon"), (arguments("https://hub"), "http://HOST:PORT"),
      (arguments("http://anna:secret@hub"), "http://HOST:PORT"), (arguments(good, good + "/"), "twice"),
      (arguments(good, "--name", "a", "--name", "b"), "more names"),
      (arguments(good, "--adopt", "--leave", "--daemon", "x"), "--leave"), (arguments(good, "--hold", "-1"), "--hold"),
      (arguments(good, "--name", String(repeating: "a", count: 129)), "128 characters"),
      (arguments("http://attic.local", "--adopt", "--daemon", "x"), "on the router itself"),
      (arguments(good, "--key", "/dev/null/none"), "--key needs --daemon"),
      (arguments(good, "--router-user", "no such user"), "no user"),
    ] {
      let outcome = try await run(wrong)
      #expect(outcome.status == 64 && outcome.error.contains(words), "\(wrong): \(outcome.error)")
      #expect(!outcome.error.contains("secret"))
    }
    // What can never work with the broker, in words of the options.
    for (option, value) in [("--base-topic", "a/#"), ("--port", "0"), ("--host", "")] {
      let outcome = try await run(["agent", "otbr", "http://127.0.0.1:1", "--username", "attic", option, value])
      #expect(outcome.status == 78 && outcome.error.contains(option), "\(outcome.error)")
    }
  }

  @Test("On the router's own machine a code is shown on the terminal, without a daemon and beside the running agent")
  func sharing() async throws {
    let audience = try await Audience.start(broker)
    let routers = try await ThreadRouters(1)
    try routers.order(0, "form", home.hex())
    let running = try AgentProcess(.otbr, [routers.url(0)], broker: broker, in: directory)
    try await audience.until("the announcement") {
      $0.messages.contains { $0.topic == "threadkeeper/in/attic/announce" }
    }
    let command = ["networks", "share", "--url", routers.url(0), "--minutes", "5"]
    let environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path, "THREADKEEPER_STATE_DIRECTORY": directory.path]
    // What is piped may end in a file.
    let piped = try await run(command)
    #expect(piped.status == 64 && piped.error.contains("on a terminal only"), "\(piped)")
    let session = try TerminalSession(command, environment: environment)
    try await session.until(" for 5 minutes: ")
    #expect(try await session.end() == 0)
    let code = try #require(session.screen.firstMatch(of: /minutes: ([0-9]{3} [0-9]{3} [0-9]{3})/)).output.1
    // The code is in use for as long as it lives.
    let again = try TerminalSession(command, environment: environment)
    try await again.until("has a code in use already (409)")
    #expect(try await again.end() == 69)
    try await audience.caughtUp()
    audience.look { heard in
      for message in heard.messages {
        #expect(!String(decoding: message.payload, as: UTF8.self).contains(code.filter { $0 != " " }))
      }
      #expect(heard.messages.count { $0.topic == "threadkeeper/in/attic/announce" } == 1)
      #expect(!heard.messages.contains { $0.topic == "threadkeeper/in/attic/offline" })
    }
    #expect(!running.output.contains("warning"), "\(running.output)")
    #expect(running.end() == .exit(0))
  }

  @Test("A password that the broker refuses is named, and a stop ends the agent all the same") func refusedPassword()
    async throws
  {
    let strict = try TestBroker(logins: [.init("attic", role: .client)])
    let routers = try await ThreadRouters(1)
    try routers.order(0, "form", home.hex())
    let agent = try AgentProcess(
      .otbr, [routers.url(0)], broker: strict, in: directory, "--password-file",
      try directory.putSecret("not the password", "password"))
    try await eventually("the warning") { agent.output.contains("refused the user name or password of `attic`") }
    #expect(!agent.output.contains("not the password"))
    #expect(agent.end() == .exit(0))
  }
}
