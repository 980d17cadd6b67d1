// SPDX-License-Identifier: Apache-2.0

import Synchronization

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
