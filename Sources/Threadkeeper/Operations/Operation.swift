import Bridge
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Logging
import Settings
import SodiumCrypto
import StatusPage

/// Something that an administrator has the daemon do, or looks at. A command makes the value and prints the reply; the
/// page makes it too. The name of the type is its name on the wire.
protocol Operation: Codable, Sendable {
  associatedtype Reply: Codable & Sendable

  /// Whether the same comes of it when it is called once more, because the daemon ended before it answered.
  static var isRepeatable: Bool { get }

  /// Who may have it done: the owner; members of the daemon's group as well, where it is a `ReadOperation`, where no
  /// secret is asked for, and for the link and the code of the page.
  var access: VarlinkAccess { get }

  /// May wait for the disk. What changes keys is done one after the other; all else beside anything.
  ///
  /// - Throws: `CommandFailure`, or what the store throws.
  func perform(_ context: OperationContext) throws -> Reply
}

extension Operation {
  static var isRepeatable: Bool { true }
  var access: VarlinkAccess { .owner }

  static var name: String { "\(Self.self)" }
}

/// One that changes nothing and shows no secret: members of the daemon's group may have it done.
protocol ReadOperation: Operation {}

extension ReadOperation { var access: VarlinkAccess { .reader } }

/// One that is not done again when the daemon ends before it answers: something else would come of it.
protocol OneTimeOperation: Operation {}

extension OneTimeOperation { static var isRepeatable: Bool { false } }

/// An operation with any number of replies, which has to be called with `more`.
protocol StreamOperation: Operation {
  /// - Returns: the last reply.
  func perform(_ context: OperationContext, _ replies: VarlinkReplies<Reply>) throws -> Reply
}

extension StreamOperation {
  func perform(_ context: OperationContext) throws -> Reply { throw VarlinkError.expectedMore }
}

/// All that there are. A new one is added here, and to docs/reference/local-api.md.
let operations: [any Operation.Type] = [
  AcceptCredentials.self, AcceptNetwork.self, AcceptRouter.self, AddKeySlot.self, ApproveConsent.self, AskConsent.self,
  BackupStore.self, ConfirmAlerts.self, DeleteLogin.self, DenyConsent.self, EnrollClient.self, FollowAudit.self,
  ForgetDamaged.self, JoinNetwork.self, ListAlerts.self, ListClients.self, ListConsents.self, ListCredentials.self,
  ListDecisions.self, ListFormerNetworks.self, ListGrants.self, ListKeySlots.self, ListNetworks.self, ListRouters.self,
  MakePageCode.self, OpenPage.self, ReadRouter.self, RemoveKeySlot.self, RemoveRouter.self, RenameRouter.self,
  RevokeClient.self, RevokeGrant.self, RotateKeys.self, ShareNetwork.self, ShowCredential.self, ShowPreferred.self,
  ShowRouter.self, StoreLogin.self, TestAlert.self, VerifyAudit.self, VerifyStore.self, WatchConsents.self,
]

/// What operations work with.
package struct OperationContext {
  let settings: Settings
  let bridge: Bridge
  let logins: BrokerLoginService
  let backups: BackupService
  let logger: Logger
  var caller: ConsentApprover
  /// Throws where the caller has hung up.
  var checkCaller: @Sendable () throws -> Void = {}
  /// Nil where there is none.
  var page: PageServer?
  /// Where what changes keys takes its turn.
  let keys = Locked(())
  /// Where `read` takes its turn; nil: it does not wait for others.
  var reading: Locked<Void>?

  /// Who is named in the audit and the log.
  var actor: String { if case .commandLine(let user) = caller { OpenStore.actor(user: user) } else { caller.shown } }

  init(settings: Settings, bridge: Bridge, login: LoginInUse, logger: Logger, caller: ConsentApprover = .statusPage) {
    self.settings = settings
    self.bridge = bridge
    logins = BrokerLoginService(settings, bridge: bridge, login: login, logger: logger)
    backups = BackupService(settings, logger: logger)
    self.logger = logger
    self.caller = caller
  }

  /// Of a bridge whose login is that of the settings, as in a demonstration, and of a shard.
  package init(_ settings: Settings, bridge: Bridge, logger: Logger) {
    self.init(settings: settings, bridge: bridge, login: LoginInUse(settings.mqtt), logger: logger)
  }

  /// Does what may wait for the disk, and changes nothing.
  func read<R>(_ body: () throws -> R) throws -> R {
    guard let reading else { return try body() }
    return try reading.withLock { _ in try body() }
  }

  var store: any DaemonStore { bridge.store }

  /// All that the settings name, in their order, as they are on disk.
  var homes: [(name: String, home: Home)] { bridge.loop.homes.snapshot.inOrder(of: settings) }

  /// Also those that the settings do not name: who may have what in them is to be seen.
  var everyHome: HomeSnapshot {
    var all = bridge.loop.homes.formerHomes
    all.homes.merge(bridge.loop.homes.snapshot.homes) { $1 }
    return all
  }

  /// Those of these homes that the settings do not name; nil: none.
  func former(of homes: [String]) -> [String]? {
    let former = bridge.loop.homes.formerHomes.homes
    let found = Set(homes).filter { former[$0] != nil }.sorted()
    return found.isEmpty ? nil : found
  }

  /// By home, how many records cannot be read, so that lists may be incomplete; nil: none.
  var unreadable: [String: Int]? {
    let unreadable = bridge.loop.homes.unreadable
    return unreadable.isEmpty ? nil : unreadable
  }

  /// What is in a home that the settings do not name holds nothing, and is not changed.
  ///
  /// - Throws: `CommandFailure` where such a home is meant.
  func checkIsServed(_ isMeant: (String, Home) -> Bool) throws {
    guard let home = bridge.loop.homes.formerHomes.homes.first(where: isMeant) else { return }
    throw CommandFailure(
      .usage, "the home \(home.key) is not in the settings, so nothing of it holds",
      remedy: "put it back into the settings, start the daemon again, and revoke then")
  }

  /// One of them.
  ///
  /// - Throws: `CommandFailure` where the settings name no such home.
  func home(named name: String) throws -> (name: String, home: Home) {
    let name = try settings.home(named: name)
    guard let home = bridge.loop.homes.home(name) else {
      throw CommandFailure(.usage, "the running daemon has no home \(name)")
    }
    return (name, home)
  }

  /// Lets a home do what a person wants. It is on disk when this returns.
  func perform(_ input: HomeInput, in home: String) throws -> HomeAnswer? {
    try bridge.loop.perform(input, in: home, actor: actor).answer
  }
}

/// Answers `io.threadkeeper.Admin`.
struct OperationHandler: LocalAPIHandler {
  /// The full name of its only method, whose calls are counted here, by operation.
  static let method = "\(VarlinkInterface.admin.name).Perform"

  let context: OperationContext
  /// Members of the group look at one thing at a time, beside what may take minutes.
  private let looks = Locked(())
  private let verifications = Locked(())

  init(_ context: OperationContext) { self.context = context }

  var interface: VarlinkInterface { .admin }

  var endpoints: [VarlinkEndpoint] {
    [
      VarlinkMethod<ReceivedOperation, OperationReply>(interface.name, "Perform", for: .reader).answered {
        call, caller, replies in
        guard caller.access >= call.operation.access else { throw VarlinkError.permissionDenied }
        var context = context
        context.caller = .commandLine(user: caller.peer.user)
        context.checkCaller = { try caller.check() }
        if caller.access < .owner { context.reading = call.operation is VerifyAudit ? verifications : looks }
        let (began, name) = (ContinuousClock.now, type(of: call.operation).name)
        defer {
          if replies == nil {
            context.bridge.monitor.figures.localCalls.add(began.duration(to: .now), to: "\(interface.name).\(name)")
          }
        }
        if let replies, let stream = call.operation as? any StreamOperation {
          return try follow(stream, context, replies)
        }
        return OperationReply(reply: try context.read { try call.operation.perform(context) })
      }
    ]
  }

  private func follow(
    _ stream: some StreamOperation, _ context: OperationContext, _ replies: VarlinkReplies<OperationReply>
  ) throws -> OperationReply {
    OperationReply(reply: try stream.perform(context, replies.map { OperationReply(reply: $0) }))
  }
}

private enum OperationFields: CodingKey { case operation, parameters, reply }

private struct ReceivedOperation: Decodable {
  let operation: any Operation

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: OperationFields.self)
    let name = try fields.decode(String.self, forKey: .operation)
    guard let type = operations.first(where: { $0.name == name }) else {
      throw VarlinkError.invalidParameter("operation")
    }
    operation = try type.init(from: fields.superDecoder(forKey: .parameters))
  }
}

private struct OperationReply: Encodable {
  let reply: any Encodable & Sendable

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: OperationFields.self)
    try reply.encode(to: fields.superEncoder(forKey: .reply))
  }
}

/// An operation as a client sends it.
struct OperationCall<Performed: Operation>: Encodable {
  struct Answer: Decodable { let reply: Performed.Reply }

  private let operation = Performed.name
  private let parameters: Performed

  init(_ operation: Performed) { parameters = operation }

  var method: VarlinkMethod<Self, Answer> {
    VarlinkMethod(VarlinkInterface.admin.name, "Perform", for: parameters.access)
  }

  var stream: VarlinkStream<Self, Answer> {
    VarlinkStream(VarlinkInterface.admin.name, "Perform", for: parameters.access)
  }
}

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.Admin.varlink; a test compares the two.
  static let admin = VarlinkInterface(
    """
    # What an administrator has the daemon do, or looks at. The operations, with their parameters and replies, are in
    # docs/reference/local-api.md.
    interface io.threadkeeper.Admin

    # Fails with `InvalidParameter` for an operation that the daemon does not know, with `PermissionDenied` where the
    # caller may not have it, with `ExpectedMore` for one that has to be called with `more`, and with
    # io.threadkeeper.Failed.
    method Perform(operation: string, parameters: object) -> (reply: object)

    """)
}
