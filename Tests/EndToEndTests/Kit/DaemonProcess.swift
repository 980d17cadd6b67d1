// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A running `threadkeeper`, with what it writes to standard error.
final class DaemonProcess: Sendable {
  typealias End = ChildProcess.End

  struct Unexpected: Error, CustomStringConvertible {
    let description: String
  }

  private let process: ChildProcess
  private let errorFile: String

  /// - Parameter launcher: a program and its arguments that become the daemon, by `exec`.
  init(
    _ arguments: [String], launcher: [String] = [], environment: [String: String],
    errorFile: String
  ) throws {
    let command = launcher + [ThreadkeeperBinary.executable.path] + arguments
    self.errorFile = errorFile
    process = try ChildProcess(
      command[0], Array(command.dropFirst()), environment: environment,
      streams: (.nothing, .nothing, .file(errorFile)))
  }

  /// A test that ends early leaves nothing running.
  deinit { process.signal(SIGKILL) }

  var identifier: Int32 { process.identifier }
  var isRunning: Bool { process.isRunning }

  /// All that it has written to standard error so far.
  var log: String {
    (try? Data(contentsOf: URL(fileURLWithPath: errorFile)))
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  func signal(_ number: Int32) { process.signal(number) }

  /// Has it stand still, and waits until each of its threads does. SIGCONT has it go on.
  func suspend() async throws {
    signal(SIGSTOP)
    let tasks = "/proc/\(identifier)/task"
    try await eventually("the daemon to stand still") {
      try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy {
        // A thread that has ended meanwhile stands still as well.
        let state = try? String(contentsOfFile: "\(tasks)/\($0)/stat", encoding: .utf8)
        return state?.contains(") T ") != false
      }
    }
  }

  /// Waits for its end.
  func end(within limit: Duration = .seconds(60)) async throws -> End {
    do {
      try await eventually(within: limit) { !isRunning }
    } catch is TimedOut {
      throw Unexpected(description: "process \(identifier) does not end; it wrote:\n\(log)")
    }
    return process.end ?? .exit(-1)
  }

  /// Ends it as systemd would.
  @discardableResult
  func stop(_ number: Int32 = SIGTERM) async throws -> End {
    signal(number)
    return try await end()
  }

  /// Ends it as a power cut would.
  func kill9() async throws {
    signal(SIGKILL)
    _ = try await end()
  }

  /// Resident memory in bytes.
  var residentBytes: Int { memory("VmRSS:") }

  /// The most that it ever was.
  var peakBytes: Int { memory("VmHWM:") }

  private func memory(_ name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) * 1024
  }

  /// Time that it has kept a processor busy.
  var processorSeconds: Double {
    get throws {
      let status = try String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
      // After the name in brackets: state, and from the eleventh field on utime and stime, in ticks (proc(5)).
      let fields = (status.split(separator: ")").last ?? "").split(separator: " ")
      guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        throw Unexpected(description: "\(status) is no line of /proc")
      }
      return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
  }
}
