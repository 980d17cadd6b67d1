import Foundation
import LocalAPI
import TestKit
import Testing
import ThreadNetwork

/// Programs that use the module `ThreadNetwork`, and a daemon that is a process of its own. What ends in the middle of a
/// call: `SocketTests`.
@Suite("Clients of a daemon", .inTurns, .timeLimit(.minutes(30))) struct ThreadClientTests {
  private static let agent = Data(hex: "00000000000000a1")
  private static let other = Data(hex: "00000000000000a2")

  private func code(_ body: () async throws -> Void) async -> THError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? THError)?.reason }
  }

  @Test("Each call, through the socket; what needs consent is given once the daemon's owner agrees") func calls()
    async throws
  {
    let running = try await RunningHome(more: "teams: {hub: [border-router]}\nclient_users: {\(geteuid()): hub}")
    let installation = running.installation
    let client = THClient(configuration: .init(storeDirectory: installation.storePath, confirmConsent: nil))
    let home = try ThreadNetwork("home")
    let guest = try ThreadNetwork("guest")
    let dataset = try Data(hex: home.hex())
    #expect(await !client.isPreferredAvailable())
    #expect(try await client.preferredMatch(forActiveOperationalDataset: dataset) == .noPreferredNetwork)

    // Stored by a program, and by a border router of the same team.
    for agent in [Self.agent, Self.other] {
      try await client.storeCredentials(forBorderAgent: agent, activeOperationalDataSet: dataset)
    }
    let router = BorderRouter(number: 7)
    try await running.publish(router.announces(try guest.hex()))
    try await running.until("the router") { $0.state(router.topic)?["credentials"] == "stored" }

    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: dataset))
    #expect(try await !client.isPreferred(forActiveOperationalDataset: Data(hex: guest.hex())))
    let all = try await client.allCredentials()
    #expect(all.count == 3)
    #expect(Set(all.compactMap(\.networkName)) == ["home", "guest"])
    let active = try await client.allActiveCredentials()
    #expect(active.map(\.borderAgentID) == [Data(hex: router.agent)])
    let one = try await client.credentials(forBorderAgentID: Self.agent)
    #expect(one.networkKey == Data(home.networkKey) && one.pskc == Data(home.pskc))
    #expect(one.creationDate != nil)

    async let preferred = client.preferredCredentials()
    try await installation.decide("approve")
    #expect(try await preferred.activeOperationalDataSet == dataset)
    async let ofNetwork = client.credentials(forExtendedPANID: Data(hex: home.extendedPANID))
    try await installation.decide("approve")
    #expect(try await ofNetwork.networkKey == Data(home.networkKey))
    async let nearby = client.activeCredentialsForNearbyNetworks
    try await installation.decide("approve")
    #expect(try await nearby.map(\.borderAgentID) == [Data(hex: router.agent)])
    async let refused = code { _ = try await client.preferredCredentials() }
    try await installation.decide("deny")
    #expect(await refused == .refused)

    for agent in [Self.agent, Self.other] { try await client.deleteCredentials(forBorderAgent: agent) }
    #expect(await code { try await client.deleteCredentials(forBorderAgent: Self.agent) } == .notFound)
    #expect(await code { _ = try await client.credentials(forBorderAgentID: Self.agent) } == .notFound)
    #expect(try await client.allCredentials() == active)
    #expect(await client.isPreferred(forActiveOperationalDataset: dataset))
    #expect(
      await code { try await client.enableCredentialSharingMode(forExtendedPANID: Data(hex: home.extendedPANID)) }
        == .unsupported)
    try await running.stop()
  }

  @Test("What a program has stored by itself is there when a daemon runs, and the other way round") func ownStore()
    async throws
  {
    let running = try await RunningHome()
    let installation = running.installation
    let home = try Data(hex: ThreadNetwork("home").hex())
    let client = THClient(
      configuration: .init(
        storeDirectory: installation.storePath, keyFile: installation.directory.file("store.key"), confirmConsent: nil))
    try await client.storeCredentials(forBorderAgent: Self.agent, activeOperationalDataSet: home)
    try await running.stop()
    try await client.storeCredentials(forBorderAgent: Self.other, activeOperationalDataSet: home)
    #expect(try await client.allCredentials().count == 2)
    try await running.start()
    #expect(try await client.allCredentials().count == 2)
    #expect(try await client.allActiveCredentials().isEmpty)
    #expect(await client.isPreferred(forActiveOperationalDataset: home))
    try await running.stop()
    let report = try installation.verify()
    #expect(report.isWhole && report.matchesManifest && report.unreadable.isEmpty)
  }
}

/// Places, admission and silence of users: `CallerPlacesTests`, `ClientAdmissionTests`, `HostileCallerTests`.
@Suite("The socket for programs of other users", .inTurns, .timeLimit(.minutes(30))) struct ThreadClientSocketTests {
  private let directory: TemporaryDirectory
  private let installation: Installation
  private var socket: String { directory.file("run/client.sock") }

  init() throws {
    directory = try TemporaryDirectory()
    // Others must be able to go through.
    chmod(directory.path, 0o711)
    installation = try Installation(
      try TestBroker(), hold: 0,
      more: """
        clients: {socket: \(directory.file("run/client.sock"))}
        client_users: {61001: one, 61002: two}
        """)
  }

  @Test("On the socket for others there are requests, and nothing else") func commands() async throws {
    let daemon = try await installation.start()
    let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o666)
    let connection = try #require(try await VarlinkClient.connect(to: socket))
    struct Information: Decodable { let interfaces: [String] }
    let question = VarlinkMethod<VarlinkNothing, Information>("org.varlink.service", "GetInfo", for: .admitted)
    let interfaces = try await connection.call(question, VarlinkNothing()).interfaces
    #expect(interfaces == ["org.varlink.service", "io.threadkeeper"] + RequestMethods.interfaces.map(\.name))
    for name in ["Admin.Perform", "Status.Get"] {
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
    "Programs of other users act for their teams, as often as others allow; the rest are refused",
    .enabled(if: geteuid() == 0, "only root can be others")) func users() async throws
  {
    let daemon = try await installation.start()
    func run(_ user: Int, _ arguments: String..., input: String = "", at path: String? = nil) throws -> Program.Result {
      try Program.run(
        "setpriv",
        ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", ThreadClientExampleTests.program] + arguments,
        input: Array(input.utf8),
        environment: [
          "THREADKEEPER_SOCKET": path ?? socket, "HOME": "/dev/null/home", "THREADKEEPER_NETWORK_PRESENCE": "none",
        ].merging(TestSandbox.uncounted) { $1 })
    }
    let home = try ThreadNetwork("home").hex()
    let agent = "a1b2c3d4e5f60718"
    #expect(try run(61_001, "store", agent, input: home).output == "")
    #expect(try run(61_001, "list").output.hasPrefix(agent))

    #expect(try run(61_002, "list").output == "")
    let store = try run(61_002, "store", agent, input: try ThreadNetwork("guest").hex())
    #expect(store.status == 1 && store.output.contains("another team"))
    #expect(try run(61_002, "delete", agent).status == 1)
    #expect(try run(61_002, "check", input: home).output == "preferred\n")
    #expect(try run(61_001, "list").output.contains("  home  "))

    let withoutTeam = try run(61_003, "list")
    #expect(withoutTeam.status == 1)
    #expect(withoutTeam.output.contains("no client of the daemon"))
    #expect(withoutTeam.output.contains("client_users"))
    // The socket in the store's directory is not theirs at all.
    let inside = try run(61_001, "list", at: installation.socketPath)
    #expect(inside.status == 1 && inside.output.contains("no access"))

    // Ten lists at once cost what fifty requests do. They are sent together, so that a slow machine does not spread them.
    let calls = """
      import os, socket, sys
      os.setuid(61001)
      call = socket.socket(socket.AF_UNIX)
      call.connect(sys.argv[1])
      call.settimeout(60)
      answer = b""
      try:
        call.sendall(60 * b'{"method": "io.threadkeeper.Credentials.List"}\\0')
        while b"rate_limited" not in answer and answer.count(b"\\0") < 60:
          part = call.recv(65536)
          if not part:
            break
          answer += part
      except (BrokenPipeError, ConnectionResetError):
        pass  # Sent away before all were asked.
      print("rate_limited" if b"rate_limited" in answer else answer.count(b"\\0"))
      """
    let answers = try Program.check(DebianTool.python, ["-c", calls, socket])
    #expect(answers.contains("rate_limited"), "\(answers)")
    #expect(try run(61_002, "check", input: home).output == "preferred\n")
    #expect(try await daemon.stop() == .exit(0))
  }
}
