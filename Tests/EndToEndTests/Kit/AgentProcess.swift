// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// `threadkeeper agent otbr`, which runs until this object goes.
final class AgentProcess: Sendable {
  private let process: ChildProcess
  private let log: String

  /// - Parameters:
  ///   - urls: of its routers.
  ///   - directory: its home, and for what it prints.
  init(
    _ urls: [String], user: String = "attic", broker: TestBroker, in directory: TemporaryDirectory,
    _ more: String...
  ) throws {
    log = directory.file("agent-\(UInt32.random(in: 0 ... .max)).log")
    process = try ChildProcess(
      ThreadkeeperBinary.executable.path,
      Self.arguments(urls, user: user, broker) + more,
      environment: ["PATH": "/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path],
      streams: (.nothing, .file(log), .sameAsOutput))
  }

  static func arguments(_ urls: [String], user: String, _ broker: TestBroker) -> [String] {
    ["agent", "otbr"] + urls + [
      "--host", "127.0.0.1", "--port", "\(broker.port)", "--username", user, "--poll", "1",
      "--hold", "2", "--heartbeat", "2", "--request-timeout", "2",
    ]
  }

  deinit { process.signal(SIGKILL) }

  var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  func signal(_ number: Int32) { process.signal(number) }

  func end() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait(within: 60)
  }
}
