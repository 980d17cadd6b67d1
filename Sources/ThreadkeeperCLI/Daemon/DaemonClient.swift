// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// The daemon that runs on a store, for commands that have something for it.
struct DaemonClient: Sendable {
  let settings: Settings

  /// It ended before it answered. What it was asked for may have been done, or not.
  struct Ended: Error {
    var failure: CommandFailure {
      CommandFailure(
        .temporary, "the running daemon has ended before it answered",
        remedy: "it may have been done all the same: `threadkeeper status` tells")
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
    case .untrusted:
      CommandFailure(.notPermitted, "the running daemon cannot be asked: \(error.message)")
    case .forbidden: OpenStore.forbidden(error.message, settings)
    case .timedOut:
      CommandFailure(
        .temporary, "the running daemon does not answer",
        remedy: "it may do it all the same: `threadkeeper status` tells")
    case .tooLarge, .malformed, .taken, .system:
      CommandFailure(.temporary, "the running daemon cannot be asked: \(error.message)")
    }
  }

  /// Has something done that only a daemon can do, again when it ends in the middle. One that is just starting is waited
  /// for.
  ///
  /// - Parameters:
  ///   - ask: nil when no daemon listens.
  ///   - none: thrown when none runs.
  func askRunning<R: Sendable>(
    isRepeatable: Bool = true, orFail none: CommandFailure, _ ask: () async throws -> R?
  ) async throws -> R {
    try await Self.orStore(isRepeatable: isRepeatable, daemon: ask) {
      guard StoreLock.holder(of: OpenStore.location(settings)) == nil else {
        throw CommandFailure(.temporary, "another process has the store, and no daemon answers")
      }
      throw none
    }
  }

  /// Has an operation done.
  func perform<Performed: Operation>(_ operation: Performed) async throws -> Performed.Reply {
    let none = CommandFailure(
      .unavailable, "no daemon runs on the store \(settings.store.path)",
      remedy:
        "`threadkeeper run` starts one, `sudo systemctl start threadkeeper` that of the package")
    return try await askRunning(isRepeatable: Performed.isRepeatable, orFail: none) {
      try await call(
        OperationCall<Performed>.method, OperationCall(operation), within: .seconds(60))?
        .reply
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
    isRepeatable: Bool, within limit: Duration = startOrEnd, daemon: () async throws -> R?,
    store: () async throws -> R
  ) async throws -> R {
    var deadline: ContinuousClock.Instant?
    var isInDoubt = false
    do {
      while true {
        let failure: CommandFailure
        do {
          if let result = try await daemon() { return result }
          do {
            return try await store()
          } catch let locked as CommandFailure {
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
