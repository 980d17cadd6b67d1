// SPDX-License-Identifier: Apache-2.0

import Dispatch

extension SystemThread {
  /// Runs `body` on a thread of its own; on one of Dispatch's when the system has none to give.
  package static func run(_ body: @escaping @Sendable () -> Void) {
    do throws(SystemThreadError) {
      try SystemThread(body).detach()
    } catch {
      DispatchQueue.global().async(execute: body)
    }
  }

  /// The result of `body`, which runs on a thread of its own.
  ///
  /// - Throws: what `body` throws.
  package static func result<R: Sendable>(
    of body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      run { continuation.resume(with: Result { try body() }) }
    }
  }
}
