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
  package func join() { if let thread = take() { pthread_join(thread, nil) } }

  /// Lets the thread end on its own.
  package func detach() { if let thread = take() { pthread_detach(thread) } }

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
    for own in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGSEGV, SIGSYS, SIGTRAP] { sigdelset(&signals, own) }
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
    do throws(SystemThreadError) { try SystemThread(body).detach() } catch {
      DispatchQueue.global().async(execute: body)
    }
  }

  /// The result of `body`, which runs on a thread of its own.
  ///
  /// - Throws: what `body` throws.
  package static func result<R: Sendable>(of body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in run { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// A thread could not be started.
package struct SystemThreadError: Error, Equatable {
  /// The result of pthread_create(3): `EAGAIN` when the system or the user has no more threads.
  package let code: Int32
}

/// A flag that a thread can wait for in `poll`: `raise` sets it, and then writes a byte to a pipe. It stays raised until
/// it is cleared. Who polls may wake once more than it was raised. (An eventfd would do with one descriptor, but Swift's Glibc does not know it.)
package final class WakeSignal: Sendable {
  /// Becomes readable when raised; -1 when the system had no descriptor left.
  package let descriptor: Int32
  private let writeEnd: Int32
  /// No lock: whoever is woken would wait until the one that wakes it has left the system call.
  private let flag = Atomic(false)

  package init() {
    var ends: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) { pipe($0.bindMemory(to: Int32.self).baseAddress) }
    (descriptor, writeEnd) = made == 0 ? ends : (-1, -1)
    for end in [descriptor, writeEnd] where end >= 0 {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit { for end in [descriptor, writeEnd] where end >= 0 { close(end) } }

  package var isRaised: Bool { flag.load(ordering: .acquiring) }

  package func raise() {
    guard !flag.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// What was written before a `raise` is visible after this. A raise at the same time may wake once more.
  package func clear() {
    // First: the byte of a raise that comes later stays.
    var bytes: UInt64 = 0
    _ = read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes))
    _ = flag.exchange(false, ordering: .acquiringAndReleasing)
  }

  /// Returns when one of the signals is raised, or after the time.
  package static func wait(for signals: [WakeSignal], within limit: Duration) {
    var polled = signals.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polled, nfds_t(polled.count), limit.pollMilliseconds)
  }
}

extension Duration {
  /// For `poll`: rounded up, at least 0.
  package var pollMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 20 else { return Int32(1 << 30) }
    return max(0, Int32(seconds * 1_000 + attoseconds / 1_000_000_000_000_000) + 1)
  }
}
