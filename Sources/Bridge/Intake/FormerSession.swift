// SPDX-License-Identifier: Apache-2.0

import Logging
import MosquittoClient
import SQLiteDatabase
import Synchronization

/// Takes in what waits at the broker in the session of an earlier version, and ends that session.
///
/// That version's client id follows from the published `instance_id`, so any client could take the session over.
/// This stands between the intake's client and its handler until the session is gone:
///
/// | step | connects as | until | why |
/// |---|---|---|---|
/// | `reserve` | new | subscribed | from here on the new session keeps what is published |
/// | `drain` | former, and unsubscribes | nothing has come for 2 seconds | older events come first |
/// | `forget` | former, with a clean start | connected | no client can find a session there any more |
/// | `done` | new | | |
///
/// The last step is stored. A crash before it repeats all of them, which loses nothing: what was published between
/// `reserve` and `drain` comes twice.
final class FormerSession: MosquittoHandler {
  enum Step: Sendable { case reserve, drain, forget, done }

  private struct State {
    var step = Step.reserve
    var target: MosquittoConfiguration?
    /// When the broker last sent something, while `drain` is connected.
    var active: ContinuousClock.Instant?
  }

  private static let quiet = Duration.seconds(2)

  private let clientID: String
  private let handler: any MosquittoHandler
  private let database: SQLiteDatabase
  private let logger: Logger
  private let state = Mutex(State())
  /// The client holds its handler.
  private let client = Mutex<MosquittoClient?>(nil)

  /// - Parameter clientID: of the former session.
  /// - Returns: nil when nothing can wait there, or when the store takes no changes.
  init?(
    clientID: String, handler: any MosquittoHandler, database: SQLiteDatabase, isWritable: Bool,
    logger: Logger
  ) throws {
    guard isWritable, try database.read({ try EventLedger.hasFormerSession($0) }) else {
      return nil
    }
    self.clientID = clientID
    self.handler = handler
    self.database = database
    self.logger = logger
  }

  /// - Parameter target: how the client connects when all is done; so it is configured now.
  func begin(_ target: MosquittoConfiguration, of client: MosquittoClient) {
    state.withLock { $0.target = target }
    self.client.withLock { $0 = client }
  }

  /// With another login: how to connect now.
  func use(_ target: MosquittoConfiguration) -> MosquittoConfiguration {
    state.withLock {
      $0.target = target
      return configuration(for: $0.step, target)
    }
  }

  /// Goes on when the former session is empty; returns when it is gone.
  func watch() async {
    while state.withLock({ $0.step != .done }) {
      do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
      let isDrained = state.withLock { state in
        state.step == .drain && state.active.map { $0 + Self.quiet < .now } == true
      }
      if isDrained { proceed(to: .forget) }
    }
    client.withLock { $0 = nil }
  }

  private func configuration(
    for step: Step, _ target: MosquittoConfiguration
  ) -> MosquittoConfiguration {
    var configuration = target
    switch step {
    case .reserve, .done: return target
    case .drain:
      configuration.unsubscriptions = target.subscriptions.map(\.filter)
    case .forget:
      configuration.cleanStart = true
      configuration.sessionExpiry = 0
    }
    configuration.clientID = clientID
    configuration.subscriptions = []
    return configuration
  }

  private func proceed(to step: Step) {
    let next = state.withLock { state -> MosquittoConfiguration? in
      state.step = step
      state.active = nil
      return state.target.map { configuration(for: step, $0) }
    }
    guard let next else { return }
    client.withLock { $0 }?.reconfigure(next)
  }

  // MARK: MosquittoHandler

  func connected(_ session: MosquittoSession) {
    switch state.withLock({ $0.step }) {
    case .reserve: break
    case .drain:
      // Whether this session is there tells whether something was lost.
      handler.connected(session)
      state.withLock { $0.active = .now }
    case .forget:
      do {
        try database.write { try EventLedger.endFormerSession($0) }
        logger.notice("what waited for the client id of an earlier version is taken in")
      } catch {
        logger.warning(
          "the session of an earlier version is looked for again at the next start",
          metadata: ["reason": "\(error)"])
      }
      proceed(to: .done)
    case .done: handler.connected(session)
    }
  }

  func subscribed(refused: [SubscriptionRefusal]) {
    switch state.withLock({ $0.step }) {
    case .reserve: proceed(to: .drain)
    case .drain, .forget: break
    case .done: handler.subscribed(refused: refused)
    }
  }

  func received(_ batch: [IncomingMessage]) throws {
    try handler.received(batch)
    state.withLock { if $0.active != nil { $0.active = .now } }
  }

  var batchLimit: Int { handler.batchLimit }

  func publications(upTo limit: Int) -> [Publication] { handler.publications(upTo: limit) }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    handler.acknowledged(token, outcome)
  }

  func disconnected(_ event: MosquittoDisconnection) {
    state.withLock { $0.active = nil }
    handler.disconnected(event)
  }
}
