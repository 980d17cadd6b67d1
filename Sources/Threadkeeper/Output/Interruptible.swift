import Dispatch
import Glibc
import Synchronization
import ThreadkeeperSupport
import UnixSignals

/// Work that puts things right before a signal ends the program: a terminal that hides what is typed
/// must not stay so.
enum Interruptible {
  /// - Throws: what `body` throws; after a signal `CancellationError`, or `DaemonClient.LeftOpen`.
  static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigquit)
    return try await withThrowingTaskGroup(of: R?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        for await _ in signals { break }
        return nil
      }
      while let result = try await group.next() {
        group.cancelAll()
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}

/// Long work on a thread of its own: a signal must find one of Swift's, of which a small machine has one.
enum InterruptibleWork {
  /// - Parameter body: checks now and then whether its task was cancelled.
  static func result<R: Sendable>(of body: @escaping @Sendable (StopFlag) throws -> R) async throws -> R {
    let isStopped = StopFlag()
    return try await withTaskCancellationHandler {
      try await SystemThread.result { try body(isStopped) }
    } onCancel: {
      isStopped.raise()
    }
  }
}

/// Whether a task that waits for a thread was cancelled.
final class StopFlag: Sendable {
  private struct State {
    var isUp = false
    var whenRaised: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var isUp: Bool { state.withLock { $0.isUp } }

  func raise() {
    let body = state.withLock { state in
      state.isUp = true
      return state.whenRaised
    }
    body?()
  }

  /// Runs `body`, and meanwhile calls `end` when the flag goes up, or at once if it is.
  func ending<R>(by end: @escaping @Sendable () -> Void, _ body: () throws -> R) rethrows -> R {
    let isUp = state.withLock { state in
      state.whenRaised = end
      return state.isUp
    }
    if isUp { end() }
    defer { state.withLock { $0.whenRaised = nil } }
    return try body()
  }
}

/// A signal that would end the program while a question hides what is typed ends the question first:
/// the terminal must not stay like that. Belongs to the thread that asks.
struct QuestionSignals {
  /// For a machine that has no time.
  private static let timeout = DispatchTimeInterval.seconds(5)

  private struct Watched {
    let number: Int32
    let before: sighandler_t?
    let source: any DispatchSourceSignal
  }

  private final class Caught: Sendable { let isCaught = Mutex(false) }

  private var watched: [Watched] = []
  private let caught = Caught()

  /// Watches until `stop`.
  init(_ withdrawal: QuestionWithdrawal) {
    for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
      // The default would end the process before the source sees it.
      let before = signal(number, SIG_IGN)
      // What was to be ignored from the start, as by `nohup`, still is.
      guard Self.address(before) != Self.address(SIG_IGN) else { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [caught] in
        caught.isCaught.withLock { $0 = true }
        withdrawal.withdraw()
      }
      // Before the source is in place the signal would be lost: it is ignored already.
      let isInPlace = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isInPlace.signal() }
      source.resume()
      _ = isInPlace.wait(timeout: .now() + Self.timeout)
      watched.append(Watched(number: number, before: before, source: source))
    }
  }

  private static func address(_ handler: sighandler_t?) -> Int { unsafeBitCast(handler, to: Int.self) }

  /// Everything as it was.
  ///
  /// - Returns: whether a signal has ended the question.
  func stop() -> Bool {
    for signal in watched {
      signal.source.cancel()
      _ = Glibc.signal(signal.number, signal.before)
    }
    return caught.isCaught.withLock { $0 }
  }
}
