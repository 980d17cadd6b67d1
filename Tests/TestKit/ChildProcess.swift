// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import ThreadkeeperSupport

/// A program that runs beside the tests.
///
/// Unlike Foundation's `Process` it leaves the child nothing of ours, also not what another thread
/// opens in the same moment: the end of a pipe that a daemon holds by accident keeps the reader of
/// that pipe waiting as long as the daemon lives. And the child has no signal blocked, as all
/// threads of Swift's executors have.
package final class ChildProcess: Sendable {
  /// How a process ended.
  package enum End: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)

    /// -1 after a signal.
    package var exitStatus: Int32 {
      switch self {
      case .exit(let status): status
      case .signal: -1
      }
    }

    init(waitStatus status: Int32) {
      let signal = status & 0x7f
      self = signal == 0 ? .exit(status >> 8 & 0xff) : .signal(signal)
    }
  }

  package typealias Stream = ProcessStart.Stream

  package let identifier: pid_t
  private let ending = Mutex<End?>(nil)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts it.
  ///
  /// - Parameter environment: all of it besides `TestSandbox.environment`; nil: the same as ours.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String]? = nil,
    streams: (input: Stream, output: Stream, error: Stream) = (.nothing, .nothing, .nothing)
  ) throws {
    var start = ProcessStart(
      program: program, arguments: arguments,
      environment: (environment.map { TestSandbox.environment.merging($0) { $1 } }
        ?? ProcessInfo.processInfo.environment)
        .map { "\($0.key)=\($0.value)" })
    (start.input, start.output, start.error) = streams
    // Ctrl-C ends the tests with all that they have started.
    start.hasOwnGroup = false
    let (identifier, code) = start.start()
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    self.identifier = identifier
    // At once, so that no number is ever taken for a process that has ended.
    Thread { self.waitForEnd() }.start()
  }

  package var isRunning: Bool { ending.withLock { $0 == nil } }
  package var end: End? { ending.withLock { $0 } }

  package func signal(_ number: Int32) {
    // Not after it has been waited for: the number may belong to somebody else by then.
    ending.withLock { if $0 == nil { _ = kill(identifier, number) } }
  }

  /// Blocks until it has ended; one that does not within the limit is killed.
  @discardableResult
  package func wait(within seconds: Int = 120) -> End {
    if hasEnded.wait(timeout: .now() + .seconds(seconds)) == .timedOut {
      signal(SIGKILL)
      hasEnded.wait()
    }
    hasEnded.signal()
    return end ?? .exit(-1)
  }

  private func waitForEnd() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    ending.withLock {
      var status: Int32 = 0
      var found = waitpid(identifier, &status, 0)
      while found < 0, errno == EINTR { found = waitpid(identifier, &status, 0) }
      // Somebody else has waited for it: how it ended is not known, so it did not end well.
      $0 = found == identifier ? End(waitStatus: status) : .exit(-1)
    }
    hasEnded.signal()
  }
}
