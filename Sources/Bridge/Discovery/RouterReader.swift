import Home
import HomeStore
import Logging
import MeshCoP
import SodiumCrypto
import Synchronization
import ThreadDataset
import ThreadkeeperSupport

/// Reads the border routers of the local network that have a network whose PSKc is in the store, when `ReadingSchedule`
/// says so, and gives what comes of it to the home.
package final class RouterReader: Sendable {
  /// What a router has said, or why it has not.
  package typealias Answer = Result<ReadingResult.Outcome, BorderAgentError>

  /// Why a router is not read at all.
  package enum Obstacle: Error, Equatable, Sendable {
    case notOnLocalNetwork
    /// It says so itself, by its connection mode, or has no valid address.
    case takesNoPSKc
    case noCredentials(ExtendedPANID?)
    /// Other routers are read.
    case busy
  }

  private struct State {
    var schedule = ReadingSchedule()
    var records: [Advertisement] = []
    var conversations = 0
    /// Who waits for an answer.
    var callers: [BorderAgentID: [Caller]] = [:]

    /// The router that is read from now on.
    mutating func next() -> Advertisement? {
      let record = schedule.next(at: .now)
      if record != nil { conversations += 1 }
      return record
    }
  }

  private final class Caller: Sendable {
    private let state = Mutex<Answer?>(nil)
    let signal = WakeSignal()

    var answer: Answer? { state.withLock(\.self) }

    /// - Parameter answer: nil where the router is not read any more.
    func end(_ answer: Answer?) {
      state.withLock { $0 = answer }
      signal.raise()
    }
  }

  /// For which a person waits: a conversation takes 20 s at most, and so does one that has to end first.
  private static let callTimeout = Duration.seconds(45)
  private static let longestWait = Duration.seconds(3_600)

  private let loop: HomeLoop
  private let home: String
  private let hashKey: SecretBytes
  private let logger: Logger
  private let state = Mutex(State())
  private let changed = WakeSignal()
  private let stopped = WakeSignal()
  private let thread = Mutex<SystemThread?>(nil)

  /// - Parameters:
  ///   - home: which one has what is on the local network.
  ///   - hashKey: with which parts of datasets are hashed.
  init(_ loop: HomeLoop, home: String, hashKey: SecretBytes, logger: Logger) {
    (self.loop, self.home, self.hashKey, self.logger) = (loop, home, hashKey, logger)
  }

  func start() {
    thread.withLock { thread in
      do throws(SystemThreadError) { thread = try SystemThread { self.run() } } catch {
        logger.warning("border routers are not read: no thread can be started", metadata: ["errno": "\(error.code)"])
      }
    }
  }

  /// Ends conversations at once. Returns when nothing is read or written any more.
  func stop() {
    stopped.raise()
    thread.withLock { $0?.join() }
  }

  /// Takes all records that are there. One that the home does not list is not read: it would be taken for what another
  /// record of the same router says, and there can be any number of them.
  func update(_ records: [Advertisement], in home: Home) {
    let known = home.credentialsToRead
    let listed = home.listed(records)
    let ended = state.withLock { state in
      state.records = listed
      state.schedule.update(listed, at: .now) { known[$0] != nil }
      return state.callers.keys.filter { !state.schedule.reads($0) }.flatMap {
        state.callers.removeValue(forKey: $0) ?? []
      }
    }
    for caller in ended { caller.end(nil) }
    changed.raise()
  }

  /// Calls of `read` that wait.
  var waiting: Int { state.withLock { $0.callers.values.reduce(0) { $0 + $1.count } } }

  /// Reads a router, because a person wants to know, and returns when that is over.
  ///
  /// - Parameter agent: under which it is listed, or which its record names.
  package func read(_ agent: BorderAgentID) throws(Obstacle) -> Answer {
    try read(agent, until: .now + Self.callTimeout)
  }

  private func read(_ agent: BorderAgentID, until deadline: ContinuousClock.Instant) throws(Obstacle) -> Answer {
    let records = state.withLock { $0.records }
    let home = loop.homes.storedHome(home)
    guard let record = records.of(agent, in: home) else { throw .notOnLocalNetwork }
    guard record.isReadable else { throw .takesNoPSKc }
    let caller = Caller()
    let isRead = state.withLock { state in
      guard state.schedule.request(record.agents[0], at: .now) else { return false }
      state.callers[record.agents[0], default: []].append(caller)
      return true
    }
    guard isRead else { throw .noCredentials(record.network) }
    changed.raise()
    WakeSignal.wait(for: [caller.signal, stopped], within: deadline - .now)
    state.withLock { $0.callers[record.agents[0]]?.removeAll { $0 === caller } }
    if let answer = caller.answer { return answer }
    guard caller.signal.isRaised else { throw .busy }
    // It has gone, or takes no PSKc any more.
    return try read(agent, until: deadline)
  }

  // MARK: On threads of its own

  private func run() {
    while !stopped.isRaised {
      changed.clear()
      while let record = state.withLock({ $0.next() }) { SystemThread.run { self.converse(record) } }
      let deadline = state.withLock { $0.schedule.deadline }
      let wait = deadline.map { min($0 - .now, Self.longestWait) } ?? Self.longestWait
      WakeSignal.wait(for: [stopped, changed], within: wait)
    }
    while state.withLock({ $0.conversations > 0 }) {
      WakeSignal.wait(for: [changed], within: Self.longestWait)
      changed.clear()
    }
  }

  private func converse(_ record: Advertisement) {
    defer { wipeDeadStack() }
    let agent = record.agents[0]
    let answer = answer(of: record)
    let callers = state.withLock { state in
      var delay: Duration?
      if case .success(.datasets(_, let pending?)) = answer { delay = .milliseconds(pending.delay) }
      state.schedule.end(agent, ReadingSchedule.Outcome(answer), at: .now, changesAfter: delay)
      state.conversations -= 1
      return state.callers.removeValue(forKey: agent) ?? []
    }
    for caller in callers { caller.end(answer) }
    changed.raise()
  }

  /// Reads a router, and has it written what came of it.
  private func answer(of record: Advertisement) -> Answer {
    guard let network = record.network, let socket = record.socket,
      let known = loop.homes.storedHome(home)?.credentialsToRead[network], let pskc = pskc(of: known.record)
    else { return .failure(.stopped) }
    let answer: Answer
    var dataset: OperationalDataset?
    do throws(BorderAgentError) {
      let reading = try BorderAgentClient.read(socket.address, port: socket.port, with: pskc, until: stopped)
      let outcome = reading.outcome(hashKey)
      if case .datasets = outcome { dataset = reading.active }
      answer = .success(outcome)
    } catch { answer = .failure(error) }
    logger.debug(
      "border router read",
      metadata: ["border_agent_id": "\(record.agents[0])", "outcome": "\(ReadingSchedule.Outcome(answer))"])
    guard let outcome = ReadingResult.Outcome(answer) else { return answer }
    let result = ReadingResult(record, of: network, pskc: known.pskc, outcome)
    do { try loop.perform(.reading(result), in: home, dataset: dataset) } catch {
      logger.debug(
        "what a border router says cannot be written",
        metadata: ["border_agent_id": "\(record.agents[0])", "reason": "\(StoreFailure.reason(error, path: ""))"])
      return .failure(.stopped)
    }
    return answer
  }

  private func pskc(of record: RecordKey) -> SecretBytes? {
    let secret = try? loop.homes.withDataset(of: record, in: home) { bytes in
      try OperationalDataset(bytes: Array(bytes)).pskc?.withUnsafeBytes { SecretBytes(copying: $0) }
    }
    return secret ?? nil
  }
}

extension RouterReading {
  /// What it says, with its parts hashed.
  func outcome(_ key: SecretBytes) -> ReadingResult.Outcome {
    guard let active = active.flatMap({ DatasetSummary($0, key: key) }) else { return .failed(.invalid) }
    let pending = pending.flatMap { pending in
      let landed = pending.removing(.pendingTimestamp, .delayTimer)
      return DatasetSummary(landed, key: key).map { ReadingResult.Pending($0, delay: pending.delayTimer ?? 0) }
    }
    return .datasets(active, pending: pending)
  }
}

extension Home {
  /// Those that it lists.
  func listed(_ records: [Advertisement]) -> [Advertisement] {
    var unlisted = Dictionary(refusedSightings.map { ($0.advertisement, 1) }, uniquingKeysWith: +)
    return records.filter { record in
      guard let count = unlisted[record], count > 0 else { return true }
      unlisted[record] = count - 1
      return false
    }
  }
}

extension [Advertisement] {
  /// The record of a router, under each of its ids. Another router's record may name one of them, too.
  func of(_ agent: BorderAgentID, in home: Home?) -> Advertisement? {
    first { home?.router(of: $0)?.agent == agent } ?? first { $0.agents.contains(agent) }
  }
}

extension ReadingSchedule.Outcome {
  fileprivate init(_ answer: RouterReader.Answer) {
    self =
      switch answer {
      case .success(.datasets): .answered
      case .failure(.refused): .refused
      case .success, .failure: .failed
      }
  }
}

extension ReadingResult.Outcome {
  /// Nil for what says nothing of the router.
  fileprivate init?(_ answer: RouterReader.Answer) {
    switch answer {
    case .success(let outcome): self = outcome
    case .failure(.refused): self = .refused
    case .failure(.noAnswer), .failure(.tooSlow), .failure(.unreachable): self = .failed(.noAnswer)
    case .failure(.protocolError), .failure(.closed): self = .failed(.invalid)
    case .failure(.stopped), .failure(.cannotStart): return nil
    }
  }
}

extension Advertisement {
  /// Whether it takes a session with the PSKc, and has a valid address.
  var isReadable: Bool { takesPSKc && socket != nil }

  /// Where its border agent listens.
  var socket: (address: String, port: UInt16)? {
    let parts = (endpoint ?? "").split(separator: ", ")
    guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
    return (String(parts[0]), port)
  }
}
