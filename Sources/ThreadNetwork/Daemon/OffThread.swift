// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Work that waits for a disk, a lock or a person: on a thread of its own, because Swift has few.
enum OffThread {
  /// - Throws: what `body` throws; `CancellationError` at once when the task is cancelled, and then
  ///   what comes of the work is not known.
  static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    let end = End<R>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        end.waits(continuation)
        OwnThread.start { end.comes(Result { try body() }) }
      }
    } onCancel: {
      end.comes(.failure(CancellationError()))
    }
  }

  /// Whatever comes first is the end.
  private final class End<R: Sendable>: Sendable {
    private enum State {
      case new
      case waiting(CheckedContinuation<R, any Error>)
      case come(Result<R, any Error>)
      case over
    }

    private let state = Mutex(State.new)

    func waits(_ continuation: CheckedContinuation<R, any Error>) {
      let result: Result<R, any Error>? = state.withLock {
        guard case .come(let result) = $0 else {
          $0 = .waiting(continuation)
          return nil
        }
        $0 = .over
        return result
      }
      if let result { continuation.resume(with: result) }
    }

    func comes(_ result: Result<R, any Error>) {
      let continuation: CheckedContinuation<R, any Error>? = state.withLock {
        switch $0 {
        case .new: $0 = .come(result)
        case .waiting(let continuation):
          $0 = .over
          return continuation
        case .come, .over: break
        }
        return nil
      }
      continuation?.resume(with: result)
    }
  }
}
