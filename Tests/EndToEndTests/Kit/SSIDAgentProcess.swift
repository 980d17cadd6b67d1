// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// `threadkeeper agent ssid`, which runs until this object goes.
final class SSIDAgentProcess: Sendable {
  private let process: ChildProcess
  private let log: String

  /// - Parameters:
  ///   - directory: its home, for what it prints, and with programs that come before those of the system.
  init(
    _ arguments: [String], user: String = "hall", broker: TestBroker,
    in directory: TemporaryDirectory
  ) throws {
    log = directory.file("agent-\(UInt32.random(in: 0 ... .max)).log")
    process = try ChildProcess(
      ThreadkeeperBinary.executable.path,
      Self.arguments(arguments, user: user, broker),
      environment: Self.environment(directory), streams: (.nothing, .file(log), .sameAsOutput))
  }

  static func arguments(_ arguments: [String], user: String, _ broker: TestBroker) -> [String] {
    ["agent", "ssid"] + arguments + [
      "--host", "127.0.0.1", "--port", "\(broker.port)", "--username", user, "--interval", "1",
    ]
  }

  static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    [
      "PATH": "\(directory.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
    ]
  }

  deinit { process.signal(SIGKILL) }

  var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  func end() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait(within: 60)
  }
}

extension TemporaryDirectory {
  /// A file that is there whole or not at all.
  func put(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
  }

  /// A program of this name.
  func putScript(_ text: String, _ name: String) throws {
    try put("#!/bin/sh\n" + text, name)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file(name))
  }
}
