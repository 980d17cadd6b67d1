// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

extension MosquittoClient {
  /// Connects once, to see whether the broker accepts the login, and disconnects.
  ///
  /// - Parameters:
  ///   - configuration: with a client id that nobody else uses. It gets no session of its own,
  ///     subscribes to nothing and has no last will.
  ///   - limit: how long it may take in all.
  /// - Returns: why not; nil when the broker lets us in.
  package static func attempt(
    _ configuration: MosquittoConfiguration, within limit: Duration
  ) async -> MosquittoError? {
    var once = configuration
    once.cleanStart = true
    once.sessionExpiry = 0
    once.subscriptions = []
    once.lastWill = nil
    let handler = AttemptHandler()
    let client = MosquittoClient(once, handler: handler)
    handler.whenKnown { client.stop() }
    return await withTaskGroup(of: MosquittoError?.self) { group in
      group.addTask {
        do {
          try await client.run()
          return nil
        } catch {
          return error as? MosquittoError
        }
      }
      group.addTask {
        if (try? await Task.sleep(for: limit)) != nil { client.stop() }
        return nil
      }
      let failure = await group.next() ?? nil
      group.cancelAll()
      client.stop()
      await group.waitForAll()
      handler.whenKnown {}
      guard let outcome = handler.outcome else {
        return failure ?? MosquittoError(.noAnswer, "no answer")
      }
      return outcome.error
    }
  }
}

/// Notes the first thing that becomes of a connection.
private final class AttemptHandler: MosquittoHandler {
  struct Outcome: Sendable {
    var error: MosquittoError?
  }

  private struct State {
    var outcome: Outcome?
    var told: @Sendable () -> Void = {}
  }

  private let state = Mutex(State())

  var outcome: Outcome? { state.withLock { $0.outcome } }

  func whenKnown(_ told: @escaping @Sendable () -> Void) { state.withLock { $0.told = told } }

  func connected(_ session: MosquittoSession) { note(Outcome(error: nil)) }

  func disconnected(_ event: MosquittoDisconnection) { note(Outcome(error: event.error)) }

  func received(_ batch: [IncomingMessage]) throws {}

  func publications(upTo limit: Int) -> [Publication] { [] }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {}

  private func note(_ outcome: Outcome) {
    let told = state.withLock { state in
      if state.outcome == nil { state.outcome = outcome }
      return state.told
    }
    told()
  }
}
