import Foundation
import LocalAPI
import TestKit
import Testing
import ThreadkeeperSupport

@testable import Threadkeeper

@Suite("The interfaces of the local API") struct LocalAPITests {
  private let store: TemporaryStore
  private let context: OperationContext
  private let socket: LocalAPISocket

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
    socket = LocalAPISocket(context)
  }

  /// Each operation says by itself who may have it done.
  private static let shown: Set<String> = ["Status.Get", "Status.Watch", "Admin.Perform"]

  private var interfaces: [VarlinkInterface] {
    socket.service.interfaces.filter { $0.name != VarlinkInterface.service.name }
  }

  private static let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/interfaces")

  /// The first sentence of its comment.
  private func summary(_ interface: VarlinkInterface) -> Substring {
    let comment = interface.text.split(separator: "\n").prefix { $0.hasPrefix("#") }.map { $0.dropFirst(2) }.joined(
      separator: " ")
    return comment.firstRange(of: ". ").map { comment[..<$0.lowerBound] + "." } ?? comment[...]
  }

  @Test("The page about the local API has each interface with its methods") func table() throws {
    let rows = interfaces.map { interface in
      let methods = interface.methods.map { "`\($0)`" }.joined(separator: ", ")
      return "| [`\(interface.name)`](../interfaces/\(interface.name).varlink) | \(methods) | \(summary(interface)) |"
    }
    let text = (["", "| interface | methods | what |", "|---|---|---|"] + rows + [""]).joined(separator: "\n")
    try expectPart("interfaces", of: "docs/reference/local-api.md", has: text)
  }

  @Test("What is compiled in is what the files say, and every file is served") func files() throws {
    for interface in interfaces { try expectFile("docs/interfaces/\(interface.name).varlink", has: interface.text) }
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.files.path)
    #expect(names.sorted() == interfaces.map { "\($0.name).varlink" }.sorted())
  }

  @Test(
    "Every method that is described is answered, and the other way round: requests for teams, those that only show for readers, all others for the owner alone"
  ) func methods() throws {
    let described = socket.service.interfaces.flatMap { interface in interface.methods.map { "\(interface.name).\($0)" }
    }
    let answered = socket.service.endpoints.map { "\($0.interface).\($0.name)" }
    #expect(described.sorted() == answered.sorted())
    for endpoint in socket.service.endpoints where endpoint.interface != VarlinkInterface.service.name {
      let isRequest = RequestMethods.interfaces.contains { $0.name == endpoint.interface }
      let name = "\(endpoint.interface).\(endpoint.name)".dropFirst("io.threadkeeper.".count)
      #expect(endpoint.access == (isRequest ? .team : Self.shown.contains(String(name)) ? .reader : .owner), "\(name)")
    }
  }

  private static let agent = "a1b2c3d4e5f60718"

  /// One of each, with a secret where it may have one last.
  private static let samples: [any Threadkeeper.Operation] = [
    AcceptCredentials(home: "home"), AcceptNetwork(home: "home", extPanId: "1111111122222222", accepted: true),
    AcceptRouter(home: "home", borderAgentId: agent),
    AddKeySlot(secret: StoreSecret(kind: .passphrase, value: "short")), ApproveConsent(id: "c-1", scope: .once),
    AskConsent(home: "home", borderAgentId: agent), BackupStore(), ConfirmAlerts(home: "home", confirmed: true),
    DeleteLogin(broker: "mqtt://a:1883"), DenyConsent(id: "c-1"), EnrollClient(home: "home", user: "hub", line: "tk1:"),
    FollowAudit(), ForgetDamaged(home: "home"), JoinNetwork(code: "91637136"), ListAlerts(all: true), ListClients(),
    ListConsents(), ListCredentials(), ListDecisions(), ListFormerNetworks(home: "home"), ListGrants(), ListKeySlots(),
    ListNetworks(), ListRouters(), MakePageCode(), OpenPage(replacing: false), ReadRouter(borderAgentId: agent),
    RemoveKeySlot(slot: 1, isConfirmed: false), RemoveRouter(home: "home", borderAgentId: agent),
    RenameRouter(home: "home", borderAgentId: agent, name: "Attic"),
    RevokeClient(home: "home", user: "hub", forgets: false), RevokeGrant(id: "g-1"), RotateKeys(secrets: []),
    ShareNetwork(), ShowCredential(home: "home", borderAgentId: agent, secret: false),
    ShowPreferred(home: "home", secret: false), ShowRouter(home: "home", borderAgentId: agent),
    StoreLogin(broker: "mqtt://a:1883", username: "a", password: "b"), TestAlert(home: "home"), VerifyAudit(),
    VerifyStore(), WatchConsents(),
  ]

  /// The rows of the page: who may have an operation done.
  private func documented() throws -> [String: String] {
    let page = try String(
      contentsOf: Self.files.deletingLastPathComponent().appendingPathComponent("reference/local-api.md"),
      encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
      $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    return Dictionary(
      rows.filter { ["group", "owner"].contains($0[1]) }.map { ($0[0].trimmingCharacters(in: ["`"]), $0[1]) },
      uniquingKeysWith: { $1 })
  }

  @Test("The page lists every operation, with who may have it done") func page() throws {
    let documented = try documented()
    #expect(documented.keys.sorted() == operations.map { $0.name }.sorted())
    for sample in Self.samples {
      let name = type(of: sample).name
      #expect(documented[name] == (sample.access == .owner ? "owner" : "group"), "\(name)")
    }
    #expect(Self.samples.map { type(of: $0).name } == operations.map { $0.name })
    #expect(ShowCredential(home: "home", borderAgentId: Self.agent, secret: true).access == .owner)
    #expect(ShowPreferred(home: "home", secret: true).access == .owner)
    #expect(OpenPage(replacing: true).access == .owner)
  }

  private static func error(
    _ operation: some Threadkeeper.Operation, at path: String, within limit: Duration = .seconds(600)
  ) async throws -> VarlinkError? {
    do {
      _ = try await operation.perform(at: path, within: limit)
      return nil
    } catch let error as VarlinkError { return error }
  }

  @Test("A member of the group has done what shows no secret, and the owner all") func access() async throws {
    let paths = ["readers", "owner"].map { "\(store.path)/\($0).sock" }
    // The machine may be busy with other tests for longer than a caller may be silent.
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    let servers = try zip(paths, [VarlinkAccess.reader, .owner]).map { path, access in
      try VarlinkServer(path: path, limits: limits, service: socket.service, judge: { _ in .admitted(access) })
    }
    let secrets: [any Threadkeeper.Operation] = [
      ShowCredential(home: "home", borderAgentId: Self.agent, secret: true), ShowPreferred(home: "home", secret: true),
    ]
    for operation in Self.samples + secrets {
      let name = "\(type(of: operation).name)"
      let forMember = try await Self.error(operation, at: paths[0])
      #expect((forMember == .permissionDenied) == (operation.access == .owner), "\(name)")
      let forOwner = try await Self.error(operation, at: paths[1])
      #expect(forOwner != .permissionDenied, "\(name)")
      #expect((forOwner == .expectedMore) == (operation is any StreamOperation), "\(name)")
    }
    withExtendedLifetime(servers) {}
  }

  private struct SomethingElse: Threadkeeper.Operation {
    func perform(_ context: OperationContext) throws -> ListKeySlots.Reply { throw VarlinkError.permissionDenied }
  }

  @Test("A call is counted by its operation, and one that the daemon does not know is not") func counted() async throws
  {
    let path = "\(store.path)/owner.sock"
    let server = try VarlinkServer(path: path, service: socket.service, judge: { _ in .admitted(.owner) })
    #expect(try await Self.error(ListKeySlots(), at: path) == nil)
    #expect(try await Self.error(SomethingElse(), at: path) == .invalidParameter("operation"))
    #expect(context.bridge.monitor.figures.localCalls.snapshots.map(\.label) == ["io.threadkeeper.Admin.ListKeySlots"])
    withExtendedLifetime(server) {}
  }

  @Test("A new key slot that waits for the store holds up no other operation of the owner") func slowKeys() async throws
  {
    let path = "\(store.path)/owner.sock"
    let server = try VarlinkServer(path: path, service: socket.service, judge: { _ in .admitted(.owner) })
    let (begun, release) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
    let database = store.keychain.database
    async let held: Void = SystemThread.result {
      try database.write { _ in
        begun.continuation.finish()
        release.wait()
      }
    }
    for await _ in begun.stream {}
    let keyFile = "\(store.path)/second.key"
    async let added = Self.error(AddKeySlot(secret: StoreSecret(kind: .keyFile, value: keyFile)), at: path)
    // Also where something throws; else nothing here would end.
    defer { release.signal() }
    try await eventually("the key file, which is made before the slot") {
      FileManager.default.fileExists(atPath: keyFile)
    }
    let secret = ShowCredential(home: "home", borderAgentId: Self.agent, secret: true)
    #expect(try await Self.error(secret, at: path, within: .seconds(60))?.code == "not_found")
    release.signal()
    try await held
    #expect(try await added == nil)
    withExtendedLifetime(server) {}
  }
}
