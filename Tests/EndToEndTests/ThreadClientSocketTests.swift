// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAPI
import TestKit
import Testing
import ThreadNetwork

@Suite("The socket for programs of other users", .inTurns, .timeLimit(.minutes(30)))
struct ThreadClientSocketTests {
  private let broker: TestBroker
  private let directory: TemporaryDirectory
  private let installation: Installation
  private var socket: String { directory.file("run/client.sock") }

  init() throws {
    broker = try TestBroker()
    directory = try TemporaryDirectory()
    // Others must be able to go through.
    chmod(directory.path, 0o711)
    let socket = directory.file("run/client.sock")
    let crowd = Self.crowd.map { "\($0): crowd" }.joined(separator: ", ")
    installation = try Installation(
      broker, hold: 0,
      more: "clients: {socket: \(socket)}\nclient_users: {61001: one, 61002: two, \(crowd)}")
  }

  /// Users of a third team.
  private static let crowd = 61_010..<61_022

  @Test("On the socket for others there are requests, and nothing else")
  func commands() async throws {
    let daemon = try await installation.start()
    let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o666)
    let connection = try #require(try await VarlinkClient.connect(to: socket))
    struct Information: Decodable { let interfaces: [String] }
    let question = VarlinkMethod<VarlinkNothing, Information>(
      "org.varlink.service", "GetInfo", for: .admitted)
    let interfaces = try await connection.call(question, VarlinkNothing()).interfaces
    #expect(
      interfaces == ["org.varlink.service", "io.threadkeeper"]
        + RequestMethods.interfaces.map(\.name))
    for name in ["Store.Lock", "Store.Backup", "Consent.Approve", "Keys.List", "Status.Get"] {
      let parts = name.split(separator: ".")
      let method = VarlinkMethod<VarlinkNothing, VarlinkNothing>(
        "io.threadkeeper.\(parts[0])", "\(parts[1])", for: .owner)
      let error = await #expect(throws: VarlinkError.self) {
        try await connection.call(method, VarlinkNothing(), within: .seconds(240))
      }
      #expect(error?.name == "org.varlink.service.InterfaceNotFound")
    }
    let client = THClient(configuration: .init(socket: socket))
    #expect(try await client.allCredentials().isEmpty)
    #expect(try await daemon.stop() == .exit(0))
    #expect(!FileManager.default.fileExists(atPath: socket))
  }

  @Test(
    "A user who asks too often is told so, and nobody else is",
    .enabled(if: geteuid() == 0 && hasPython, "only root can be others, and it needs python3"))
  func tooOften() async throws {
    let daemon = try await installation.start()
    let program =
      Self.calls + """
        for command in sys.argv[2:]:
          print(ask(command))
        """
    func run(_ user: Int, _ commands: [String]) throws -> [Substring] {
      try Program.run(
        "setpriv",
        ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/python3", "-c", program]
          + [socket] + commands
      ).output.split(separator: "\n")
    }
    // Ten lists at once cost what fifty requests do.
    let lists = [String](repeating: "Credentials.List", count: 200)
    let told = try run(61_001, lists)
    #expect(told.count == 200)
    #expect(Set(told).isSubset(of: ["ok", "rate_limited", "nothing"]))
    #expect(told.prefix(10).allSatisfy { $0 == "ok" })
    #expect(told.contains("rate_limited"))
    #expect(try run(61_002, ["Preferred.IsAvailable"]) == ["ok"])
    #expect(try run(0, lists).allSatisfy { $0 == "ok" })
    #expect(try await daemon.stop() == .exit(0))
  }

  private static let hasPython = access("/usr/bin/python3", X_OK) == 0

  /// Python that calls the socket: `connect()`, and `ask(method)` for the code of the answer, or "nothing".
  private static let calls = """
    import json, os, socket, sys
    def connect():
      call = socket.socket(socket.AF_UNIX)
      call.connect(sys.argv[1])
      return call
    def ask(method):
      call = connect()
      try:
        call.sendall(json.dumps({"method": "io.threadkeeper." + method}).encode() + b"\\0")
      except ConnectionError:
        pass
      answer = b""
      try:
        while not answer.endswith(b"\\0"):
          part = call.recv(65536)
          if not part:
            return "nothing"
          answer += part
      except ConnectionError:
        return "nothing"
      answer = json.loads(answer[:-1])
      if "error" in answer:
        return answer["parameters"].get("code", answer["error"])
      return "ok"

    """

  @Test(
    "However many connections of other users stay silent, a user gets through",
    .enabled(if: geteuid() == 0 && hasPython, "only root can be others, and it needs python3"))
  func silentUsers() async throws {
    let daemon = try await installation.start()
    // Two users with all their places were enough to keep everybody out. Twelve have more than there are.
    let program =
      Self.calls + """
        def become(user):
          os.seteuid(0)
          os.seteuid(user)
        silent = []
        for user in range(int(sys.argv[2]), int(sys.argv[3])):
          become(user)
          silent += [connect() for _ in range(8)]
        for user in [61001, 61002, int(sys.argv[2])]:
          become(user)
          print([ask("Preferred.IsAvailable") for _ in range(3)])
        """
    let answers = try Program.check(
      "/usr/bin/python3",
      ["-c", program, socket, "\(Self.crowd.lowerBound)", "\(Self.crowd.upperBound)"])
    #expect(
      answers.split(separator: "\n")
        == [Substring](repeating: "['ok', 'ok', 'ok']", count: 3), "\(answers)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "Programs of other users act for their teams, and users without a team are refused",
    .enabled(if: geteuid() == 0, "only root can be others"))
  func users() async throws {
    let daemon = try await installation.start()
    func run(_ user: Int, _ arguments: String..., input: String = "") throws -> Program.Result {
      try Program.run(
        "setpriv",
        ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", ThreadClientExampleTests.program]
          + arguments,
        input: Array(input.utf8),
        environment: [
          "THREADKEEPER_SOCKET": socket, "HOME": "/dev/null",
          "THREADKEEPER_NETWORK_PRESENCE": "none",
        ].merging(TestSandbox.uncounted) { $1 })
    }
    let home = try ThreadNetwork("home").hex()
    let guest = try ThreadNetwork("guest").hex()
    let agent = "a1b2c3d4e5f60718"
    #expect(try run(61_001, "store", agent, input: home).output == "")
    #expect(try run(61_001, "list").output.hasPrefix(agent))

    #expect(try run(61_002, "list").output == "")
    let store = try run(61_002, "store", agent, input: guest)
    #expect(store.status == 1 && store.output.contains("another team"))
    #expect(try run(61_002, "delete", agent).status == 1)
    #expect(try run(61_002, "check", input: home).output == "preferred\n")
    #expect(try run(61_001, "list").output.contains("  home  "))

    let withoutTeam = try run(61_003, "list")
    #expect(withoutTeam.status == 1)
    #expect(withoutTeam.output.contains("no client of the daemon"))
    #expect(withoutTeam.output.contains("client_users"))
    // The socket in the store's directory is not theirs at all.
    let inside = try Program.run(
      "setpriv",
      [
        "--reuid=61001", "--regid=61001", "--clear-groups", ThreadClientExampleTests.program,
        "list",
      ],
      environment: ["THREADKEEPER_SOCKET": installation.socketPath]
        .merging(TestSandbox.uncounted) { $1 })
    #expect(inside.status == 1)
    #expect(inside.output.contains("no access"))
    #expect(try await daemon.stop() == .exit(0))
  }
}
