import Foundation

/// A client's way to what answers its calls: a daemon's socket, or a store of its own.
final class DaemonLink: Sendable {
  /// How long a daemon is waited for that is just starting or ending. It has the store and does not
  /// listen.
  static let startOrEnd = Duration.seconds(10)
  private static let pause = Duration.milliseconds(100)

  private let configuration: THClient.Configuration
  private let timeout: Duration

  init(_ configuration: THClient.Configuration, timeout: Duration = startOrEnd) {
    self.configuration = configuration
    self.timeout = timeout
  }

  // MARK: What calls come to

  func credentials(_ command: RequestCommand) async throws -> Set<THCredentials> {
    Set(try Self.credentials(in: await ask(ThreadRequest(command))))
  }

  func credential(_ request: ThreadRequest) async throws -> THCredentials {
    guard let first = try Self.credentials(in: await ask(request)).first else { throw Self.unreadable }
    return first
  }

  func match(_ bytes: Data) async throws -> THPreferredMatch {
    var request = ThreadRequest(.checkPreferred)
    request.dataset = try ThreadRequest.dataset(bytes)
    let answer = try await ask(request)
    switch answer.result {
    case .match?: return .match
    case .mismatch?: return .mismatch(differing: answer.differs ?? [])
    case AnswerData.Check.none?: return .noPreferredNetwork
    default: throw Self.unreadable
    }
  }

  func isPreferredAvailable() async throws -> Bool {
    guard let answer = try await ask(ThreadRequest(.isPreferredAvailable)).available else { throw Self.unreadable }
    return answer
  }

  private static func credentials(in answer: AnswerData) throws -> [THCredentials] {
    guard let records = answer.credentials else { throw unreadable }
    return try records.map { record in
      guard let values = CredentialValues(record) else { throw unreadable }
      return THCredentials(values)
    }
  }

  static let unreadable = THError(
    .badAnswer, "the daemon gives an answer that cannot be read", help: "is it of another version than this program?")

  // MARK: Who is asked

  /// Tries the places in their order, again and again while a daemon seems to be starting or ending.
  ///
  /// - Throws: `THError`; `CancellationError`.
  func ask(_ request: ThreadRequest) async throws -> AnswerData {
    var request = request
    request.home = configuration.home
    if request.command.needsConsent {
      request.program = ProgramName(ProcessInfo.processInfo.processName)?.text
      // The question that waits for this call, and not that of another, is found by it.
      request.transaction = UUID().uuidString
    }
    var deadline: ContinuousClock.Instant?
    var isInDoubt = false
    while true {
      try Task.checkCancellation()
      let failure: THError
      do { return try await askOnce(request) } catch let error as THError {
        // What was asked for may have been done by a daemon that could not say so any more.
        if isInDoubt, request.command == .deleteCredentials, error.reason == .notFound {
          var done = AnswerData()
          done.deleted = true
          return done
        }
        guard error.isWorthAnotherTry(request.command) else { throw error }
        isInDoubt = isInDoubt || error.reason == .interrupted
        failure = error
      }
      let end = deadline ?? ContinuousClock.now + timeout
      deadline = end
      guard ContinuousClock.now < end else { throw failure }
      try await Task.sleep(for: Self.pause)
    }
  }

  private func askOnce(_ request: ThreadRequest) async throws -> AnswerData {
    if let path = configuration.socket {
      if let answer = try await daemon(at: path, admitsOthers: true).ask(request) { return answer }
      throw THError(
        .unavailable, "no daemon listens on \(path)", help: "start it with `threadkeeper run`, or name another socket",
        isTemporary: true)
    }
    let store = OwnStore(configuration)
    if let machine = configuration.machine, machine.isInstalled, store.map({ !machine.isOwn($0) }) ?? true {
      guard let answer = try await daemon(at: machine.socket, admitsOthers: true).ask(request) else {
        throw machine.absence
      }
      return answer
    }
    guard let store else {
      throw THError(
        .unavailable, "nothing says where the daemon or a store is", help: "set THREADKEEPER_SOCKET, or HOME")
    }
    if let answer = try await daemon(at: store.socketPath, admitsOthers: false).ask(request) { return answer }
    if let machine = configuration.machine, machine.isOwn(store),
      let answer = try await daemon(at: machine.socket, admitsOthers: true).ask(request)
    {
      return answer
    }
    return try await AbandonableWork.result { try store.answer(request) }
  }

  private func daemon(at path: String, admitsOthers: Bool) -> DaemonSocket {
    DaemonSocket(path: path, admitsOthers: admitsOthers, usesTerminal: configuration.usesTerminal)
  }
}

extension THError {
  /// Whether a daemon that starts or ends may be the reason, and asking twice is as good as asking
  /// once. A person is not asked twice.
  fileprivate func isWorthAnotherTry(_ command: RequestCommand) -> Bool {
    switch reason {
    case .storeInUse: true
    case .unavailable, .notNow: isTemporary
    case .interrupted: isTemporary && !command.needsConsent && command != .shareCredentials
    default: false
    }
  }
}

/// Requests made of what callers give. What is no argument is refused here, and nobody is asked.
extension ThreadRequest {
  static func of(_ borderAgentID: Data, _ command: RequestCommand) throws(THError) -> ThreadRequest {
    guard let agent = BorderAgentID(bytes: borderAgentID) else {
      throw THError(
        .invalidArgument, "a Border Agent ID has 8 or 16 bytes, this one has \(borderAgentID.count)",
        help: "it is the MAC extended address, or `xa` or `id` of the router's mDNS announcement")
    }
    var request = ThreadRequest(command)
    request.agent = agent
    return request
  }

  static func about(_ extendedPANID: Data, _ command: RequestCommand) throws(THError) -> ThreadRequest {
    guard let network = ExtendedPANID(bytes: extendedPANID) else {
      throw THError(.invalidArgument, "an Extended PAN ID has 8 bytes, this one has \(extendedPANID.count)")
    }
    var request = ThreadRequest(command)
    request.network = network
    return request
  }

  /// A complete active dataset.
  static func dataset(_ bytes: Data) throws(THError) -> OperationalDataset {
    let dataset: OperationalDataset
    do throws(DatasetError) {
      dataset = try OperationalDataset(bytes: Array(bytes))
      try dataset.requireComplete()
    } catch { throw THError(AnswerFailure(error)) }
    guard dataset.kind == .complete else {
      throw THError(AnswerFailure(.incompleteDataset, "this is a pending dataset; the active one is asked for"))
    }
    return dataset
  }
}
