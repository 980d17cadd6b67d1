import Broker
import Home
import KeychainCore
import SQLiteDatabase

/// Whether the store can be used.
extension BridgeMonitor {
  /// The store cannot be used.
  package struct StoreProblem: Sendable, Equatable {
    package let reason: String
    package let since: WireTime
    /// Whether a batch failed. A tick that succeeds proves nothing then: its few bytes may fit where
    /// a batch does not.
    var stopsIntake: Bool
    /// When it was met last.
    var seen: WireTime

    package static func == (a: StoreProblem, b: StoreProblem) -> Bool { a.reason == b.reason && a.since == b.since }
  }

  /// Seconds without a failure after which an intake that is connected, and so would have been sent
  /// again what it refused, counts as well.
  static let quietSeconds = 15

  /// - Returns: the reason, where it is news for the log.
  func storeFailed(_ error: any Error, path: String, at now: WireTime, inBatch: Bool) -> String? {
    let reason = StoreFailure.reason(error, path: path)
    return storeFailed(reason, at: now, inBatch: inBatch) ? reason : nil
  }

  /// Stored messages cannot be read. Until `readWorks` no write that succeeds ends the problem.
  ///
  /// - Returns: the reason, where it is news for the log.
  func readFailed(_ error: any Error, path: String, at now: WireTime) -> String? {
    update { $0.isReadFailing = true }
    return storeFailed(error, path: path, at: now, inBatch: false)
  }

  func readWorks() { update { $0.isReadFailing = false } }

  /// - Returns: whether this is news.
  @discardableResult func storeFailed(_ reason: String, at now: WireTime, inBatch: Bool) -> Bool {
    update {
      $0.listeningSince = nil
      let before = $0.storeProblem
      $0.storeProblem = StoreProblem(
        reason: reason, since: before?.since ?? now, stopsIntake: inBatch || before?.stopsIntake == true, seen: now)
      return before?.reason != reason
    }
  }

  /// A write succeeded: that of a batch, or that of a tick.
  ///
  /// - Returns: whether this is news.
  @discardableResult func storeWorks(at now: WireTime, inBatch: Bool) -> Bool {
    update {
      guard let problem = $0.storeProblem, !$0.isReadFailing else { return false }
      let isQuiet = $0.intakeLink.isConnected && problem.seen.adding(seconds: Self.quietSeconds) <= now
      guard inBatch || !problem.stopsIntake || isQuiet else { return false }
      $0.storeProblem = nil
      if $0.intakeLink.isConnected { $0.listeningSince = now }
      return true
    }
  }

  /// The routers are listened to since now: no silence was noticed by another clock. It is quiet since now.
  func clockJumped(to now: WireTime) {
    update {
      $0.listeningSince = $0.listeningSince.map { _ in now }
      $0.storeProblem?.seen = now
      $0.altered = $0.altered.mapValues { .init(topic: $0.topic, at: now) }
      $0.alteredButtonAt = $0.alteredButtonAt.map { _ in now }
    }
  }
}

/// The store's failures in words that a person can act upon.
enum StoreFailure {
  static func damaged(_ path: String) -> String {
    "the store in \(path) is damaged. Stop the daemon, put a backup in place with "
      + "`threadkeeper store restore`, and start it"
  }

  static func reason(_ error: any Error, path: String) -> String {
    switch error {
    case let error as SQLiteError:
      switch error.kind {
      case .full: diskFull(path)
      case .readOnly: readOnly(path)
      case .busy: "another program keeps the store in \(path) locked; stop it"
      case .corrupt, .notADatabase: damaged(path)
      case .moved:
        "the store in \(path) was deleted or replaced while the daemon runs. Put its files back, and "
          + "intake resumes by itself; else stop the daemon, run `threadkeeper store restore`, and " + "start it"
      case .io: "the disk that holds \(path) fails (\(error.message)); check it"
      default: "the store in \(path) refuses to write: \(error.message)"
      }
    case let error as KeychainError:
      if let cause = error.cause {
        reason(cause, path: path)
      } else {
        error.status == .diskFull ? diskFull(path) : error.message
      }
    default: "\(error)"
    }
  }

  private static func diskFull(_ path: String) -> String {
    "the disk that holds \(path) is full; free some space, and intake resumes by itself"
  }

  private static func readOnly(_ path: String) -> String {
    "the store in \(path) cannot be written; make the disk and its files writable again, "
      + "and intake resumes by itself"
  }
}
