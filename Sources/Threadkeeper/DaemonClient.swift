import Bridge
import FoundationEssentials
import KeychainCore
import LocalAPI
import Settings
import ThreadRequests
import ThreadkeeperSupport

/// The daemon that runs on a store, for commands that have something for it.
struct DaemonClient {
  let settings: Settings

  /// It ended before it answered. What it was asked for may have been done, or not.
  struct Ended: Error {
    var failure: CommandFailure {
      CommandFailure(
        .temporary, "the running daemon has ended before it answered",
        remedy: "it may have been done all the same: `threadkeeper status` shows it")
    }
  }

  /// Nobody waits for the answer any more. What was asked for may be done, or not.
  struct LeftOpen: Error {}

  static let unreadable = CommandFailure(
    .software, "the running daemon gives an answer that cannot be read",
    remedy: "is it of another version? Start it again")

  func failure(_ error: SocketError) -> any Error {
    switch error.reason {
    case .closed: Ended()
    case .abandoned: LeftOpen()
    case .untrusted: CommandFailure(.notPermitted, "the running daemon cannot be asked: \(error.message)")
    case .forbidden: OpenStore.forbidden(error.message, settings)
    case .timedOut:
      CommandFailure(
        .temporary, "the running daemon does not answer",
        remedy: "it may do it all the same: `threadkeeper status` shows it")
    case .tooLarge, .malformed, .taken, .system:
      CommandFailure(.temporary, "the running daemon cannot be asked: \(error.message)")
    }
  }

  /// Has something done that only a daemon can do, again when it ends in the middle. One that is just starting is waited
  /// for.
  ///
  /// - Parameters:
  ///   - store: what is done in the store itself where no daemon runs; nil: that is a failure.
  ///   - ask: nil when no daemon listens.
  /// - Throws: `CommandFailure` with status 69 when none runs, among others.
  func askRunning<R: Sendable>(
    isRepeatable: Bool = true, orStore store: (() async throws -> R)? = nil, _ ask: () async throws -> R?
  ) async throws -> R {
    try await Self.orStore(isRepeatable: isRepeatable, daemon: ask) {
      if let store { return try await store() }
      try checkIsFree()
      throw CommandFailure(
        .unavailable, "no daemon runs on the store \(settings.store.path)",
        remedy: "`threadkeeper run` starts one, `sudo systemctl start threadkeeper` that of the package;"
          + " `--state-directory` names another place")
    }
  }

  /// - Throws: `CommandFailure` with status 75 where somebody has the store who does not listen (yet).
  func checkIsFree() throws(CommandFailure) {
    guard StoreLock.holder(of: OpenStore.location(settings)) == nil else {
      throw CommandFailure(.temporary, "another process has the store, and no daemon answers")
    }
  }

  /// Has an operation done.
  ///
  /// - Parameter store: as of `askRunning`.
  func perform<Performed: Operation>(
    _ operation: Performed, within limit: Duration = .seconds(60),
    orStore store: (() async throws -> Performed.Reply)? = nil
  ) async throws -> Performed.Reply {
    try await askRunning(isRepeatable: Performed.isRepeatable, orStore: store) {
      try await performIfThere(operation, within: limit)
    }
  }

  /// - Returns: nil when no daemon listens.
  /// - Throws: `Ended`, among others.
  func performIfThere<Performed: Operation>(_ operation: Performed, within limit: Duration = .seconds(60)) async throws
    -> Performed.Reply?
  {
    let operation = OperationCall(operation)
    return try await call(operation.method, operation, within: limit).map { FleetHome.own($0.reply) }
  }

  /// Has an operation done that sends replies, each of which `each` gets.
  ///
  /// - Returns: the last reply.
  func follow<Performed: StreamOperation>(
    _ operation: Performed, firstWithin limit: Duration = .seconds(60), each: (Performed.Reply) async throws -> Void
  ) async throws -> Performed.Reply {
    try await askRunning(isRepeatable: Performed.isRepeatable) {
      try await followIfThere(operation, firstWithin: limit, each: each)
    }
  }

  /// - Returns: nil when no daemon listens.
  /// - Throws: `Ended`, among others.
  func followIfThere<Performed: StreamOperation>(
    _ operation: Performed, firstWithin limit: Duration, each: (Performed.Reply) async throws -> Void
  ) async throws -> Performed.Reply? {
    let operation = OperationCall(operation)
    return try await with(operation.stream.access, within: limit) {
      var last: Performed.Reply?
      for try await answer in try $0.replies(to: operation.stream, operation, firstWithin: limit) {
        let reply = FleetHome.own(answer.reply)
        try await each(reply)
        last = reply
      }
      // A stream whose task is cancelled between two replies just ends.
      try Task.checkCancellation()
      guard let last else { throw SocketError.closed }
      return last
    }
  }

  /// All of a list.
  func list<Listed: ListOperation>(_ operation: Listed) async throws -> Rows<Listed.Row> {
    try await askRunning(isRepeatable: Listed.isRepeatable) {
      var rows: [Listed.Row] = []
      var whole = try await followIfThere(operation, firstWithin: .seconds(60)) { rows += $0.rows }
      whole?.rows = rows
      return whole
    }
  }

  /// As `follow`, until something else ends it than the end of a daemon. One has to run at the beginning.
  ///
  /// - Parameter operation: made again for each daemon.
  func keepFollowing<Performed: StreamOperation>(
    _ operation: () async throws -> Performed, each: (Performed.Reply) async throws -> Void
  ) async throws -> Never {
    var hasBegun = false
    while true {
      do {
        _ = try await follow(operation()) {
          try await each($0)
          hasBegun = true
        }
      } catch let failure as CommandFailure {
        guard hasBegun, failure.status == .unavailable || failure.status == .temporary else { throw failure }
      }
      try await Task.sleep(for: .milliseconds(300))
    }
  }

  /// How the daemon is.
  func status() async throws -> DaemonStatus {
    try await askRunning { try await call(StatusMethods.get, VarlinkNothing(), within: .seconds(60))?.status }
  }

  /// The same, where one may run. A process that has the store and does not listen may be starting.
  ///
  /// - Returns: nil where no daemon answers: none runs, this user has no access to it, it is another version, or it
  ///   cannot read its store.
  /// - Throws: `CancellationError`.
  func statusIfThere() async throws -> DaemonStatus? {
    let end = ContinuousClock.now + .seconds(2)
    while true {
      let reply = try? await call(StatusMethods.get, VarlinkNothing(), within: .seconds(10))
      if let reply { return reply.status }
      try Task.checkCancellation()
      guard ContinuousClock.now < end, StoreLock.holder(of: OpenStore.location(settings)) != nil else { return nil }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Has a request of MQTT fulfilled.
  ///
  /// - Parameters:
  ///   - isAdministrator: over every team.
  ///   - isRepeatable: whether to do it twice comes to the same answer.
  func perform(_ request: ThreadRequest, isAdministrator: Bool = true, isRepeatable: Bool = false) async throws
    -> AnswerData
  {
    guard let method = RequestMethods.method(request.command) else { throw Self.unreadable }
    var fields = request.fields(on: .socket)
    fields.asAdministrator = isAdministrator
    return try await askRunning(isRepeatable: isRepeatable) { [fields] in
      try await with(method.access, within: .seconds(60)) { try await $0.call(method, fields, within: .seconds(60)) }
    }
  }

  /// How long a store is waited for that somebody holds who does not listen (yet).
  static let startOrEnd = Duration.seconds(10)

  /// Has something done by the daemon that holds the store, or without one in the store itself. A
  /// daemon that is just starting, or ending, has the lock and does not listen: both are tried until
  /// one of them works.
  ///
  /// - Parameters:
  ///   - isRepeatable: whether a daemon's end in the middle is a reason to try again.
  ///   - daemon: nil when none listens.
  ///   - store: throws a `CommandFailure` with status 75 while another has the lock.
  static func orStore<R: Sendable>(
    isRepeatable: Bool, within limit: Duration = startOrEnd, daemon: () async throws -> R?, store: () async throws -> R
  ) async throws -> R {
    var deadline: ContinuousClock.Instant?
    var isInDoubt = false
    do {
      while true {
        let failure: CommandFailure
        do {
          if let result = try await daemon() { return result }
          do { return try await store() } catch let locked as CommandFailure {
            guard locked.status == .temporary else { throw locked }
            failure = locked
          }
        } catch let ended as Ended {
          guard isRepeatable else { throw ended.failure }
          failure = ended.failure
          isInDoubt = true
        }
        let end = deadline ?? ContinuousClock.now + limit
        deadline = end
        guard ContinuousClock.now < end else { throw failure }
        try await Task.sleep(for: .milliseconds(100))
      }
    } catch is CancellationError {
      if isInDoubt { throw LeftOpen() }
      throw CancellationError()
    }
  }
}

/// The local API.
///
/// Every call throws `CommandFailure`, among them what the daemon answers; `Ended`; `LeftOpen`, or `CancellationError`
/// when nothing was asked yet.
extension DaemonClient {
  /// Calls a method of the running daemon.
  ///
  /// - Parameter limit: the most time for all of it.
  /// - Returns: nil when no daemon listens.
  func call<Parameters: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, within limit: Duration
  ) async throws -> Reply? {
    let deadline = ContinuousClock.now + limit
    return try await with(method.access, within: limit) {
      try await $0.call(method, parameters, within: deadline - .now)
    }
  }

  /// Whether a daemon answers.
  func isThere(within limit: Duration) async throws -> Bool {
    let question = VarlinkMethod<VarlinkNothing, VarlinkNothing>(
      VarlinkInterface.service.name, "GetInfo", for: .admitted)
    return try await call(question, VarlinkNothing(), within: limit) != nil
  }

  private func with<Reply>(
    _ access: VarlinkAccess, within limit: Duration, _ body: (VarlinkClient) async throws -> Reply
  ) async throws -> Reply? {
    do {
      guard let client = try await connect(for: access, within: limit) else { return nil }
      try Task.checkCancellation()
      return try await body(client)
    } catch let error as SocketError where error.reason == .malformed {
      // What was asked for may be done: this is no reason to ask again.
      throw Self.unreadable
    } catch let error as SocketError { throw failure(error) } catch let error as VarlinkError {
      throw error.commandFailure
    }
  }

  private func connect(for access: VarlinkAccess, within limit: Duration) async throws -> VarlinkClient? {
    do {
      return try await VarlinkClient.connect(to: LocalAPISocket.path(settings), within: limit, actingForOwner: true)
    } catch let error as SocketError where error.reason == .forbidden && access <= .reader {
      guard let client = try? await connectAsReader(within: limit) else { throw error }
      return client
    }
  }

  /// The machine's daemon, for members of its group; nil where none listens, or its store is another one.
  private func connectAsReader(within limit: Duration) async throws -> VarlinkClient? {
    let places = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    let client = try await VarlinkClient.connect(to: places.readersSocket, within: limit, admittingOthers: true)
    let status = try await client?.call(StatusMethods.get, VarlinkNothing(), within: limit).status
    return status?.store.path == settings.store.path ? client : nil
  }
}
