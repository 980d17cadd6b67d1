// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

/// A running `threadkeeper`, with what it writes to standard error.
final class DaemonProcess: Sendable {
  /// How a process ended.
  enum End: Hashable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  struct Unexpected: Error, CustomStringConvertible {
    let description: String
  }

  let identifier: Int32
  private let errorFile: String
  private let ending: Ending

  private final class Ending: Sendable {
    let value = Mutex<End?>(nil)
  }

  /// - Parameter launcher: a program and its arguments that become the daemon, by `exec`.
  init(
    _ arguments: [String], launcher: [String] = [], environment: [String: String],
    errorFile: String
  ) throws {
    let process = Process()
    let command = launcher + [ThreadkeeperBinary.executable.path] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try Data().write(to: URL(fileURLWithPath: errorFile))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorFile))
    self.errorFile = errorFile
    let ending = Ending()
    process.terminationHandler = { process in
      ending.value.withLock {
        $0 =
          process.terminationReason == .exit
          ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
      }
    }
    try process.run()
    identifier = process.processIdentifier
    self.ending = ending
  }

  /// A test that ends early leaves nothing running.
  deinit {
    if isRunning { kill(identifier, SIGKILL) }
  }

  var isRunning: Bool { ending.value.withLock { $0 == nil } }

  /// All that it has written to standard error so far.
  var log: String {
    (try? Data(contentsOf: URL(fileURLWithPath: errorFile)))
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  func signal(_ number: Int32) { kill(identifier, number) }

  /// Waits for its end.
  func end(within limit: Duration = .seconds(60)) async throws -> End {
    do {
      try await eventually(within: limit) { !isRunning }
    } catch is TimedOut {
      throw Unexpected(description: "process \(identifier) does not end; it wrote:\n\(log)")
    }
    return ending.value.withLock { $0 } ?? .exit(-1)
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

  /// Resident memory in octets.
  var residentOctets: Int {
    let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) * 1024
  }
}
