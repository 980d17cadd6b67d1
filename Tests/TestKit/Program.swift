// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs the programs that tests compare themselves with.
package enum Program {
  package struct Result: Sendable {
    package var status: Int32
    package var output: String
  }

  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// Runs a program of `PATH` to its end.
  package static func run(
    _ name: String, _ arguments: [String], input: [UInt8] = [],
    environment: [String: String] = [:]
  ) throws -> Result {
    let directory = try TemporaryDirectory()
    try Data(input).write(to: URL(fileURLWithPath: directory.file("input")))
    let output = directory.file("output")
    try Data().write(to: URL(fileURLWithPath: output))
    let end = try ChildProcess(
      "/usr/bin/env", [name] + arguments,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      streams: (.file(directory.file("input")), .file(output), .sameAsOutput)
    ).wait()
    return Result(
      status: end.exitStatus, output: try String(contentsOfFile: output, encoding: .utf8))
  }

  /// The same for what must succeed.
  @discardableResult
  package static func check(
    _ name: String, _ arguments: [String], input: [UInt8] = [],
    environment: [String: String] = [:]
  ) throws -> String {
    let result = try run(name, arguments, input: input, environment: environment)
    guard result.status == 0 else {
      throw Failure(description: "\(name) ended with \(result.status): \(result.output)")
    }
    return result.output
  }
}
