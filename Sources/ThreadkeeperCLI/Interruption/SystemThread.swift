// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A thread of the system's, for work that holds it for long: a signal must find one of Swift's, of which a
/// small machine has one.
enum SystemThread {
  /// - Parameter body: looks now and then whether it is to stop.
  static func run<R: Sendable>(
    _ body: @escaping @Sendable (StopFlag) throws -> R
  ) async throws -> R {
    let isStopped = StopFlag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try body(isStopped) })
        }
      }
    } onCancel: {
      isStopped.raise()
    }
  }
}
