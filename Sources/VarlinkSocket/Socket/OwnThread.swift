// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// A thread for work that waits in system calls.
///
/// Dispatch has a thread for each core, and takes seconds to add one for every one that waits: in a
/// program with much to do, or with a person who takes their time, others would wait for it.
package enum OwnThread {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs on a thread of its own, which ends with it; on Dispatch's where the system has none to give.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    guard !startNew(body) else { return }
    DispatchQueue.global().async(execute: body)
  }

  /// What comes of work on a thread of its own.
  package static func result<R: Sendable>(
    of body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Result { try body() }) }
    }
  }

  /// - Returns: false where the system has no thread to give; nothing runs then.
  package static func startNew(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { work in
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
