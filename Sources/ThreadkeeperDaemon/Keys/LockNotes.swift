// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KeychainCore
import Logging
import Synchronization

/// What the audit says of locking and unlocking, in the order in which it came. A note needs a transaction,
/// and somebody may have one for long. Who locks the store does not wait for that.
final class LockNotes: Sendable {
  private let keychain: Keychain
  private let logger: Logger
  private let turns = DispatchQueue(label: "threadkeeper.notes")

  init(_ keychain: Keychain, logger: Logger) {
    self.keychain = keychain
    self.logger = logger
  }

  /// - Parameters:
  ///   - actor: for whom; nil is the daemon itself.
  ///   - limit: how long the caller waits. The note is made all the same.
  /// - Returns: what has become of it by then; nil when it has not had its turn.
  @discardableResult
  func add(
    _ action: AuditAction, _ subject: String, for actor: String? = nil,
    within limit: DispatchTimeInterval
  ) -> Result<Void, KeychainError>? {
    let note = Note()
    turns.async { [self] in
      let outcome = write(action, subject, for: actor)
      if case .failure(let error) = outcome {
        logger.error(
          "the audit does not say so",
          metadata: ["action": "\(action)", "reason": "\(error.message)"])
      }
      note.outcome.withLock { $0 = outcome }
      note.isOver.signal()
    }
    _ = note.isOver.wait(timeout: .now() + limit)
    return note.outcome.withLock { $0 }
  }

  /// Waits for it, and for those before it.
  func addNow(
    _ action: AuditAction, _ subject: String, for actor: String?
  ) throws(KeychainError) {
    try turns.sync { write(action, subject, for: actor) }.get()
  }

  /// Waits for all of them.
  func end() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      turns.async { done.resume() }
    }
  }

  private func write(
    _ action: AuditAction, _ subject: String, for actor: String?
  ) -> Result<Void, KeychainError> {
    do throws(KeychainError) {
      return .success(try keychain.record(action, subject, for: actor))
    } catch {
      return .failure(error)
    }
  }

  private final class Note: Sendable {
    let isOver = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Void, KeychainError>?>(nil)
  }
}
