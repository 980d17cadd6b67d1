// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import Terminal

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

  private final class Caught: Sendable {
    let isCaught = Mutex(false)
  }

  private var watched: [Watched] = []
  private let caught = Caught()

  /// Watches until `stop`.
  init(_ withdrawal: QuestionWithdrawal) {
    for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
      // The default would end the process before the source sees it.
      let before = signal(number, SIG_IGN)
      // Who is told to ignore it, as by `nohup`, goes on doing so.
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

  private static func address(_ handler: sighandler_t?) -> Int {
    unsafeBitCast(handler, to: Int.self)
  }

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
