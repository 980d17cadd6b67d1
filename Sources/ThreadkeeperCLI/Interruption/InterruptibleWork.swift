// SPDX-License-Identifier: Apache-2.0

import SystemThreads

/// Long work on a thread of its own: a signal must find one of Swift's, of which a small machine has one.
enum InterruptibleWork {
  /// - Parameter body: checks now and then whether its task was cancelled.
  static func result<R: Sendable>(
    of body: @escaping @Sendable (StopFlag) throws -> R
  ) async throws -> R {
    let isStopped = StopFlag()
    return try await withTaskCancellationHandler {
      try await SystemThread.result { try body(isStopped) }
    } onCancel: {
      isStopped.raise()
    }
  }
}
