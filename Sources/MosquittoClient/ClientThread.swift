// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// One POSIX thread with a body. It takes no signals: those are the main thread's.
final class ClientThread: Sendable {
  private let thread = Mutex<pthread_t?>(nil)

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  func start(_ body: @escaping @Sendable () -> Void) throws(MosquittoError) {
    let box = Unmanaged.passRetained(Body(body))
    let code = thread.withLock { thread -> Int32 in
      var signals = sigset_t()
      var before = sigset_t()
      sigfillset(&signals)
      // A thread inherits the mask, so that there is no moment in which it could take a signal.
      pthread_sigmask(SIG_SETMASK, &signals, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      var created = pthread_t()
      let code = pthread_create(
        &created, nil,
        { argument in
          if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, box.toOpaque())
      if code == 0 { thread = created }
      return code
    }
    guard code == 0 else {
      box.release()
      throw .system("pthread_create", code)
    }
  }

  /// Waits for the end of a body that has nothing more to do than to return.
  func join() {
    if let thread = take() { pthread_join(thread, nil) }
  }

  /// Lets the thread end on its own.
  func detach() {
    if let thread = take() { pthread_detach(thread) }
  }

  private func take() -> pthread_t? {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
  }
}
