import Foundation

/// A `threadkeeper` that runs until this object goes: a daemon, a node of a fleet or an agent, with what it writes.
package final class DaemonProcess: Sendable {
  package typealias End = ChildProcess.End

  package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  /// What messages about it call it.
  package let name: String
  package let startedAt = ContinuousClock.now
  private let process: ChildProcess
  private let errorFile: String

  /// - Parameters:
  ///   - launcher: a program and its arguments that become the daemon, by `exec`.
  ///   - errorFile: gets standard error.
  ///   - keepsOutput: whether standard output goes there as well.
  package init(
    _ arguments: [String], name: String = "the daemon", launcher: [String] = [], environment: [String: String],
    errorFile: String, keepsOutput: Bool = false
  ) throws {
    let command = launcher + [ThreadkeeperBinary.executable.path] + arguments
    (self.name, self.errorFile) = (name, errorFile)
    process = try ChildProcess(
      command[0], Array(command.dropFirst()), environment: environment,
      streams: keepsOutput ? (.nothing, .file(errorFile), .sameAsOutput) : (.nothing, .nothing, .file(errorFile)))
  }

  /// A test that ends early leaves nothing running.
  deinit { process.signal(SIGKILL) }

  package var identifier: Int32 { process.identifier }
  package var isRunning: Bool { process.isRunning }

  /// All that it has written so far.
  package var log: String {
    (try? Data(contentsOf: URL(fileURLWithPath: errorFile))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  package func signal(_ number: Int32) { process.signal(number) }

  /// Has it stand still, and waits until each of its threads does. SIGCONT has it go on.
  package func suspend() async throws {
    signal(SIGSTOP)
    let tasks = "/proc/\(identifier)/task"
    try await eventually("\(name) to stand still") {
      try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy {
        // A thread that has ended meanwhile stands still as well.
        let state = try? String(contentsOfFile: "\(tasks)/\($0)/stat", encoding: .utf8)
        return state?.contains(") T ") != false
      }
    }
  }

  /// Waits for its end.
  @discardableResult package func end(within limit: Duration = .seconds(60)) async throws -> End {
    try await eventually(within: limit, "the end of \(name)") {
      !isRunning
    } otherwise: {
      "it wrote:\n\(log.suffix(6_000))"
    }
    return process.end ?? .exit(-1)
  }

  /// Ends it as systemd would.
  @discardableResult package func stop(_ number: Int32 = SIGTERM) async throws -> End {
    signal(number)
    return try await end()
  }

  /// The same for a caller that may block.
  package func stopAndWait() -> End {
    signal(SIGTERM)
    return process.wait(within: 60)
  }

  /// Ends it as a power cut would.
  package func kill9() async throws { try await stop(SIGKILL) }

  /// Resident memory in bytes.
  package var residentBytes: Int { memory("VmRSS:") }

  /// The most that it ever was.
  package var peakBytes: Int { memory("VmHWM:") }

  private func memory(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) * 1024
  }
}
