// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// `watch-otbr` of the example's script, which runs until this object goes.
final class WatchScript: Sendable {
  private let process: ChildProcess
  private let log: String

  /// - Parameters:
  ///   - script: below `examples`.
  ///   - directory: for what it prints, and its state.
  init(
    _ script: String, _ arguments: [String], in directory: TemporaryDirectory,
    _ variables: [String: String]
  ) throws {
    log = directory.file("watch-\(UInt32.random(in: 0 ... .max)).log")
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../examples/\(script)").standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let environment = [
      "PATH": "\(tools):/usr/local/bin:/usr/bin:/bin", "HOME": directory.path,
      "TMPDIR": directory.path, "POLL_SECONDS": "1", "REQUEST_SECONDS": "1",
      "HEARTBEAT_SECONDS": "2", "MQTT_HOST": "127.0.0.1",
    ]
    process = try ChildProcess(
      "/bin/sh", [path] + arguments, environment: environment.merging(variables) { $1 },
      streams: (.nothing, .file(log), .sameAsOutput))
  }

  deinit { process.signal(SIGTERM) }

  var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  func end() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait(within: 60)
  }
}
