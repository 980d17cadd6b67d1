// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker
import Foundation
import Synchronization

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

  /// What the child has as one of its three streams.
  package enum Stream: Sendable {
    case nothing
    /// Read from its beginning, or emptied and written.
    case file(String)
    /// Stays open here.
    case descriptor(Int32)
    /// For the error stream.
    case sameAsOutput
  }

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
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    streams.input.add(to: &actions, as: STDIN_FILENO)
    streams.output.add(to: &actions, as: STDOUT_FILENO)
    streams.error.add(to: &actions, as: STDERR_FILENO)
    InheritedDescriptors.close(in: &actions)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    let words = ([program] + arguments).map { strdup($0) }
    let variables =
      (environment.map { TestSandbox.environment.merging($0) { $1 } }
      ?? ProcessInfo.processInfo.environment)
      .map { strdup("\($0.key)=\($0.value)") }
    defer { for text in words + variables { free(text) } }
    var identifier: pid_t = 0
    let code = posix_spawn(
      &identifier, program, &actions, &attributes, words + [nil], variables + [nil])
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

extension ChildProcess.Stream {
  fileprivate func add(to actions: inout posix_spawn_file_actions_t, as number: Int32) {
    let mode = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
    switch self {
    case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", mode, 0)
    case .file(let path): posix_spawn_file_actions_addopen(&actions, number, path, mode, 0o600)
    case .descriptor(let descriptor):
      posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .sameAsOutput:
      posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, number)
    }
  }
}
