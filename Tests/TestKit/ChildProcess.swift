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
        ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" })
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
  @discardableResult package func wait(within seconds: Int = 120) -> End {
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

/// Runs the programs that tests compare themselves with.
package enum Program {
  package struct Result: Sendable {
    package var status: Int32
    package var output: String
  }

  package struct Failure: Error, CustomStringConvertible { package var description: String }

  /// Runs a program of `PATH` to its end.
  package static func run(
    _ name: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
  ) throws -> Result {
    let directory = try TemporaryDirectory()
    try Data(input).write(to: URL(fileURLWithPath: directory.file("input")))
    let output = directory.file("output")
    let end = try ChildProcess(
      "/usr/bin/env", [name] + arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      streams: (.file(directory.file("input")), .file(output), .sameAsOutput)
    ).wait()
    return Result(status: end.exitStatus, output: try String(contentsOfFile: output, encoding: .utf8))
  }

  /// The same for what must succeed.
  @discardableResult package static func check(
    _ name: String, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
  ) throws -> String {
    let result = try run(name, arguments, input: input, environment: environment)
    guard result.status == 0 else {
      throw Failure(description: "\(name) ended with \(result.status): \(result.output)")
    }
    return result.output
  }
}

/// A pipe of which no child inherits an end that it is not given. (A pair of sockets: the library's
/// `pipe` has no way to say so at once.)
package final class PrivatePipe: Sendable {
  package let reading: Int32
  package let writing: Int32
  private let open: Mutex<Set<Int32>>

  package init() throws {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    (reading, writing) = (ends[0], ends[1])
    open = Mutex(Set(ends))
  }

  deinit {
    closeReading()
    closeWriting()
  }

  /// Of an end that only a child still needs.
  package func closeReading() { close(reading) }
  package func closeWriting() { close(writing) }

  private func close(_ end: Int32) { open.withLock { open in if open.remove(end) != nil { Foundation.close(end) } } }
}
