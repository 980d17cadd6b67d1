// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// `threadkeeper agent`, which runs until this object goes.
final class AgentProcess: Sendable {
  enum Kind: String, Sendable {
    case otbr, ssid
    case homeAssistant = "home-assistant"

    /// Its login.
    var user: String {
      switch self {
      case .otbr: "attic"
      case .ssid: "hall"
      case .homeAssistant: "phones"
      }
    }

    /// So that a test takes seconds.
    var options: [String] {
      switch self {
      case .otbr:
        [
          "--poll", "1", "--hold", "2", "--heartbeat", "2", "--request-timeout", "2",
          "--router-user", "\(getuid())",
        ]
      case .ssid: ["--interval", "1"]
      case .homeAssistant: ["--poll", "1", "--home-assistant-user", "\(getuid())"]
      }
    }
  }

  private let process: ChildProcess
  private let log: String

  /// - Parameters:
  ///   - arguments: URLs of routers, a source, other options.
  ///   - environment: besides that of all agents.
  ///   - directory: its home, for what it prints, and with programs that come before those of the system.
  init(
    _ kind: Kind, _ arguments: [String], user: String? = nil,
    environment: [String: String] = [:], broker: TestBroker,
    in directory: TemporaryDirectory, _ more: String...
  ) throws {
    log = directory.file("agent-\(UInt32.random(in: 0 ... .max)).log")
    process = try ChildProcess(
      ThreadkeeperBinary.executable.path,
      Self.arguments(kind, arguments + more, user: user, broker),
      environment: Self.environment(directory).merging(environment) { $1 },
      streams: (.nothing, .file(log), .sameAsOutput))
  }

  static func arguments(
    _ kind: Kind, _ arguments: [String], user: String? = nil, _ broker: TestBroker
  ) -> [String] {
    ["agent", kind.rawValue] + kind.options + arguments + [
      "--host", "127.0.0.1", "--port", "\(broker.port)", "--username", user ?? kind.user,
    ]
  }

  static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    [
      "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
    ]
  }

  deinit { process.signal(SIGKILL) }

  var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  var identifier: Int32 { process.identifier }

  func signal(_ number: Int32) { process.signal(number) }

  func end() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait(within: 60)
  }
}
