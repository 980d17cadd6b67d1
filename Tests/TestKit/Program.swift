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
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    let standardInput = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = standardInput
    try process.runUnmasked()
    try standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
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

extension Process {
  /// Starts it with no signal blocked.
  ///
  /// Swift's executors block all signals in their threads, and a child inherits that: it would not
  /// end at SIGTERM, and `mosquitto_sub -W` would not hear its own alarm.
  func runUnmasked() throws {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try run()
  }
}
