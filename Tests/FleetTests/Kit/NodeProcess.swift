// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import TestKit

/// A running node of a fleet, with what it writes to standard error.
final class NodeProcess: Sendable {
  let name: String
  let startedAt = ContinuousClock.now
  private let process: ChildProcess
  private let errorFile: String

  init(_ name: String, settings: String, environment: [String: String], errorFile: String) throws {
    self.name = name
    self.errorFile = errorFile
    process = try ChildProcess(
      ThreadkeeperBinary.executable.path, ["run", "--config", settings], environment: environment,
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

  /// Waits for its end.
  @discardableResult
  func end(within limit: Duration = .seconds(60)) async throws -> ChildProcess.End {
    do {
      try await eventually(within: limit, "the end of \(name)") { !isRunning }
    } catch let error as TimedOut {
      throw FleetFailure(description: "\(error); it wrote:\n\(log.suffix(6000))")
    }
    return process.end ?? .exit(-1)
  }

  /// Ends it as a power cut would.
  func kill9() async throws {
    signal(SIGKILL)
    try await end()
  }

  /// Has it stand still, and waits until each of its threads does. SIGCONT has it go on.
  func suspend() async throws {
    signal(SIGSTOP)
    let tasks = "/proc/\(identifier)/task"
    try await eventually("\(name) to stand still") {
      try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy {
        let state = try? String(contentsOfFile: "\(tasks)/\($0)/stat", encoding: .utf8)
        return state?.contains(") T ") != false
      }
    }
  }
}

#endif
