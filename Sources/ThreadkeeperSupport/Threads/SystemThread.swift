// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// A POSIX thread, for work that waits in system calls or takes long. Swift and Dispatch have about one thread for
/// each core, so work that keeps one of those keeps everything else waiting.
///
/// All signals are blocked, except those of the thread's own faults and SIGPIPE.
package final class SystemThread: Sendable {
  private let thread: Mutex<pthread_t?>

  /// Starts a thread that ends with `body`. Call `join()` or `detach()` in the end.
  ///
  /// - Throws: `SystemThreadError`: the system has no thread to give.
  package init(_ body: @escaping @Sendable () -> Void) throws(SystemThreadError) {
    let box = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let code = Self.withoutSignals {
      pthread_create(
        &thread, nil,
        { argument in
          if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, box.toOpaque())
    }
    guard code == 0 else {
      box.release()
      throw SystemThreadError(code: code)
    }
    self.thread = Mutex(thread)
  }

  /// Waits until the body has returned.
  package func join() {
    if let thread = take() { pthread_join(thread, nil) }
  }

  /// Lets the thread end on its own.
  package func detach() {
    if let thread = take() { pthread_detach(thread) }
  }

  private func take() -> pthread_t? {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
  }

  /// A thread inherits the mask of the one that starts it, so it takes no signal from its first moment.
  private static func withoutSignals<R>(_ body: () -> R) -> R {
    var signals = sigset_t()
    var previous = sigset_t()
    sigfillset(&signals)
    for own in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGSEGV, SIGSYS, SIGTRAP] {
      sigdelset(&signals, own)
    }
    pthread_sigmask(SIG_SETMASK, &signals, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return body()
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

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

/// A thread could not be started.
package struct SystemThreadError: Error, Equatable {
  /// The result of pthread_create(3): `EAGAIN` when the system or the user has no more threads.
  package let code: Int32
}
