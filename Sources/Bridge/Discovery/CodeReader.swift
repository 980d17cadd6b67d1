import Glibc
import Home
import HomeStore
import MeshCoP
import SodiumCrypto
import Synchronization
import ThreadDataset
import ThreadkeeperSupport

/// Reads a border router of the local network by the code that it shows, once, for a person who has given that, and gives
/// what comes of it to the home.
///
/// Each wrong code is one of the ten after which the router closes its window, so only one router is tried, and where
/// several show a code a person names it.
package final class CodeReader: Sendable {
  /// Why no network came.
  package enum Obstacle: Error, Equatable, Sendable {
    case noWindow
    /// Nor does the router that a person has named.
    case notOpen
    /// No border router is listed on the host that shows a code.
    case noRouter(host: String)
    case several([BorderAgentID])
    /// Others try codes.
    case busy
    case tooOften
    /// - left: tries that the router may allow still.
    case wrongCode(left: Int)
    case windowClosed
    case failed(BorderAgentError)
    case incomplete
  }

  package struct Joined: Sendable {
    package let agent: BorderAgentID
    package let home: String
    package let dataset: DatasetSummary
    package let network: JoinedNetwork
  }

  private struct Window: Hashable {
    let agent: BorderAgentID
    let address: String
    let port: UInt16

    init?(_ record: Advertisement) {
      guard let port = record.codePort, let address = record.socket?.address else { return nil }
      (agent, self.address, self.port) = (record.agents[0], address, port)
    }
  }

  private struct State {
    var records: [Advertisement] = []
    var unnamed: Set<String> = []
    /// A conversation goes on.
    var isReading = false
    /// Wrong codes that were given here, by window.
    var wrong: [Window: Int] = [:]
    /// Tries of the last minutes, by who has made them.
    var tries: [String: [ContinuousClock.Instant]] = [:]
    var waiting: [WakeSignal] = []

    /// Begins a conversation.
    ///
    /// - Returns: nil while there is nothing to begin.
    mutating func begin(_ agent: BorderAgentID?, by actor: String, in home: Home?, isLast: Bool) throws(Obstacle) -> (
      Advertisement, Window
    )? {
      let open = records.compactMap { record in Window(record).map { (record: record, window: $0) } }
      let choice: [(record: Advertisement, window: Window)]
      if let agent {
        let record = open.map(\.record).of(agent, in: home)
        choice = open.filter { $0.record == record }
        guard !choice.isEmpty || !isLast else { throw .notOpen }
      } else {
        choice = open
        guard choice.count < 2 else {
          throw .several(choice.map { home?.router(of: $0.record)?.agent ?? $0.record.agents[0] })
        }
        guard !choice.isEmpty || !isLast else { throw unnamed.min().map { .noRouter(host: $0) } ?? .noWindow }
      }
      guard let chosen = choice.first else { return nil }
      guard !isReading else {
        if isLast { throw .busy }
        return nil
      }
      let recent = tries[actor, default: []].filter { .now < $0 + CodeReader.period }
      guard recent.count < CodeReader.mostTries else { throw .tooOften }
      tries[actor] = recent + [.now]
      isReading = true
      return chosen
    }
  }

  /// For which a window is waited.
  private static let windowTimeout = Duration.seconds(30)
  /// Tries of one caller in a time.
  private static let mostTries = 20
  private static let period = Duration.seconds(600)

  private let loop: HomeLoop
  private let home: String
  private let hashKey: SecretBytes
  private let timeout: Duration
  private let state = Mutex(State())
  private let stopped = WakeSignal()

  /// - Parameters:
  ///   - home: which one has what is on the local network.
  ///   - hashKey: with which parts of datasets are hashed.
  init(_ loop: HomeLoop, home: String, hashKey: SecretBytes, timeout: Duration = windowTimeout) {
    (self.loop, self.home, self.hashKey, self.timeout) = (loop, home, hashKey, timeout)
  }

  /// Ends what goes on at once. Returns when nothing is read or written any more.
  func stop() {
    stopped.raise()
    let signal = WakeSignal()
    while state.withLock({ state in
      if state.isReading { state.waiting.append(signal) }
      return state.isReading
    }) {
      WakeSignal.wait(for: [signal], within: .seconds(1))
      signal.clear()
    }
  }

  /// Takes all records that are there, and hosts that show a code and have none.
  func update(_ records: [Advertisement], unnamed: Set<String>, in home: Home) {
    change { state in
      (state.records, state.unnamed) = (home.listed(records), unnamed)
      let open = Set(state.records.compactMap(Window.init))
      state.wrong = state.wrong.filter { open.contains($0.key) }
    }
  }

  /// Calls of `read` that wait.
  var waiting: Int { state.withLock { $0.waiting.count } }

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for signal in waiting { signal.raise() }
  }

  /// Reads the router that shows a code, and returns when what came is in the home. Waits for one that shows none yet.
  ///
  /// - Parameters:
  ///   - agent: of the router, under which it is listed, or which its record names; nil: the only one.
  ///   - actor: who is named in the audit, and may not do it too often.
  ///   - checkCaller: throws where nobody waits for it any more: then no try is used up.
  /// - Throws: `Obstacle`; what the store and `checkCaller` throw.
  package func read(
    with code: RouterCode, from agent: BorderAgentID?, for actor: String, checkCaller: () throws -> Void = {}
  ) throws -> Joined {
    defer { wipeDeadStack() }
    let (record, window) = try waitForWindow(of: agent, for: actor, checkCaller)
    defer { change { $0.isReading = false } }
    let reading: RouterReading
    do throws(BorderAgentError) {
      reading = try BorderAgentClient.read(window.address, port: window.port, with: code.secret, until: stopped)
    } catch { throw obstacle(error, window) }
    guard case .datasets(let active, let pending) = reading.outcome(hashKey),
      let result = ReadingResult(record, byCode: active, pending: pending)
    else { throw Obstacle.incomplete }
    let output = try loop.perform(.reading(result), in: home, dataset: reading.active, actor: actor)
    let agent = loop.homes.storedHome(home)?.router(of: record)?.agent ?? record.agents[0]
    guard case .joined(let network) = output.answer else { throw Obstacle.incomplete }
    return Joined(agent: agent, home: home, dataset: active, network: network)
  }

  private func waitForWindow(of agent: BorderAgentID?, for actor: String, _ checkCaller: () throws -> Void) throws -> (
    Advertisement, Window
  ) {
    let (end, signal) = (ContinuousClock.now + timeout, WakeSignal())
    defer { change { state in state.waiting.removeAll { $0 === signal } } }
    while true {
      try checkCaller()
      let (home, isLast) = (loop.homes.storedHome(home), .now >= end)
      let begun = try state.withLock { state throws(Obstacle) in
        let begun = try state.begin(agent, by: actor, in: home, isLast: isLast)
        if begun == nil { state.waiting.append(signal) }
        return begun
      }
      if let begun { return begun }
      WakeSignal.wait(for: [signal, stopped], within: end - .now)
      if stopped.isRaised { throw Obstacle.failed(.stopped) }
      signal.clear()
    }
  }

  private func obstacle(_ error: BorderAgentError, _ window: Window) -> Obstacle {
    state.withLock { state in
      switch error {
      case .refused:
        state.wrong[window, default: 0] += 1
        return .wrongCode(left: max(0, RouterCode.mostTries - state.wrong[window, default: 0]))
      case .closed, .unreachable(ECONNREFUSED): return .windowClosed
      case .noAnswer, .tooSlow, .protocolError, .unreachable, .stopped, .cannotStart:
        let isOpen = state.records.contains { Window($0) == window }
        return isOpen || error == .stopped ? .failed(error) : .windowClosed
      }
    }
  }
}
