import Foundation
import Synchronization

/// A call whose caller waits for it in a task. When that task is cancelled, so is the call.
final class PendingCall: Sendable {
  /// Set while an `await` form is in its form with a completion handler.
  @TaskLocal static var current: PendingCall?

  private struct State {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Mutex(State())

  func began(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock {
      $0.task = task
      return $0.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private func cancel() {
    let task = state.withLock {
      $0.isCancelled = true
      return $0.task
    }
    task?.cancel()
  }

  static func value<R: Sendable>(_ call: (@escaping @Sendable (R?, (any Error)?) -> Void) -> Void) async throws -> R {
    try await wait { continuation in
      call { value, error in
        if let value {
          continuation.resume(returning: value)
        } else {
          continuation.resume(throwing: error ?? THError(.badAnswer, "the call came to nothing"))
        }
      }
    }
  }

  static func end(_ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
    try await wait { (continuation: CheckedContinuation<Void, any Error>) in
      call { error in if let error { continuation.resume(throwing: error) } else { continuation.resume() } }
    }
  }

  static func answer(_ call: (@escaping @Sendable (Bool) -> Void) -> Void) async -> Bool {
    let answer: Bool? = try? await wait { continuation in call { continuation.resume(returning: $0) } }
    return answer ?? false
  }

  private static func wait<R: Sendable>(_ body: (CheckedContinuation<R, any Error>) -> Void) async throws -> R {
    let pending = PendingCall()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in $current.withValue(pending) { body(continuation) } }
    } onCancel: {
      pending.cancel()
    }
  }
}

/// Work on a thread of its own that goes on when its caller no longer waits for it.
enum AbandonableWork {
  /// - Throws: what `body` throws; `CancellationError` at once when the task is cancelled, and then
  ///   what comes of the work is not known.
  static func result<R: Sendable>(of body: @escaping @Sendable () throws -> R) async throws -> R {
    let end = End<R>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        end.resume(continuation)
        SystemThread.run { end.set(Result { try body() }) }
      }
    } onCancel: {
      end.set(.failure(CancellationError()))
    }
  }

  /// The first result counts.
  private final class End<R: Sendable>: Sendable {
    private enum State {
      case new
      case waiting(CheckedContinuation<R, any Error>)
      case ended(Result<R, any Error>)
      case over
    }

    private let state = Mutex(State.new)

    func resume(_ continuation: CheckedContinuation<R, any Error>) {
      let result: Result<R, any Error>? = state.withLock {
        guard case .ended(let result) = $0 else {
          $0 = .waiting(continuation)
          return nil
        }
        $0 = .over
        return result
      }
      if let result { continuation.resume(with: result) }
    }

    func set(_ result: Result<R, any Error>) {
      let continuation: CheckedContinuation<R, any Error>? = state.withLock {
        switch $0 {
        case .new: $0 = .ended(result)
        case .waiting(let continuation):
          $0 = .over
          return continuation
        case .ended, .over: break
        }
        return nil
      }
      continuation?.resume(with: result)
    }
  }
}
