// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Counts how often a completion handler is called, and on which threads, and keeps what it got.
final class Handler<Value: Sendable>: Sendable {
  struct Call: Sendable {
    var value: Value?
    var error: (any Error)?
    var isOnCallersThread: Bool
  }

  private let caller = UInt(pthread_self())
  private let calls = Mutex<[Call]>([])
  private let called = DispatchSemaphore(value: 0)

  func callAsFunction(_ value: Value?, _ error: (any Error)?) {
    calls.withLock {
      $0.append(
        Call(value: value, error: error, isOnCallersThread: UInt(pthread_self()) == caller))
    }
    called.signal()
  }

  /// Waits for the first call, and a moment for another one, which must not come.
  func outcome() async -> (calls: Int, call: Call?) {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      Thread {
        _ = self.called.wait(timeout: .now() + 240)
        done.resume()
      }.start()
    }
    try? await Task.sleep(for: .milliseconds(20))
    return calls.withLock { ($0.count, $0.first) }
  }
}
