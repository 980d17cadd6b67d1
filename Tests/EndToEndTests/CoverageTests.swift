// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("What `make test` prints at its end", .timeLimit(.minutes(30)))
struct CoverageTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static func script(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../.ci/\(name)").standardized.path
  }

  /// Runs `.ci/test` with a script instead of the test runner.
  private func run(_ runner: String) throws -> (status: Int32, lines: [Substring]) {
    let result = try Program.run(
      "bash", [Self.script("test"), "sh", "-c", runner],
      environment: ["THREADKEEPER_COVERAGE": directory.file("profiles")])
    return (result.status, result.output.split(separator: "\n"))
  }

  @Test("After success the sum is the last line, also where no program can be covered")
  func success() throws {
    let sum = "✔ Test run with 2 tests in 1 suite passed after 0.1 seconds."
    let (status, lines) = try run("echo one; echo '\(sum)'")
    #expect(status == 0)
    try #require(lines.count == 3, "\(lines)")
    #expect(lines[0] == "one" && lines[2] == sum)
    #expect(lines[1].hasPrefix("coverage: not printed"))
  }

  @Test(
    "After a failure the reasons and the sum are last, without coverage, and the status is the runner's"
  )
  func failure() throws {
    let reason = "✘ Test \"a\" recorded an issue at A.swift:1:1: Expectation failed"
    let sum = "✘ Test run with 2 tests in 1 suite failed after 0.1 seconds with 1 issue."
    let (status, lines) = try run("echo '\(reason)'; echo two; echo '\(sum)'; exit 3")
    #expect(status == 3)
    #expect(lines.map(String.init) == [reason, "two", "What failed:", reason, sum])
  }

  @Test("The lines that a program ran are counted for each target, and in all")
  func table() async throws {
    let profile = directory.file("program.profraw")
    let version = try await ThreadkeeperBinary.run(
      "--version", environment: ["LLVM_PROFILE_FILE": profile])
    #expect(version.status == 0)
    let isWritten = FileManager.default.fileExists(atPath: profile)
    // `make test` builds with counters; other ways to run the tests need not.
    let isCounted = ProcessInfo.processInfo.environment["LLVM_PROFILE_FILE"] != nil
    #expect(isWritten || !isCounted)
    let result = try Program.run(
      "bash",
      [Self.script("coverage"), directory.path, ThreadkeeperBinary.executable.path])
    #expect(result.status == 0)
    let rows = result.output.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    // Not where the program was built without counters, or without the tools that read them.
    guard isWritten, rows.count > 1 else {
      #expect(result.output.hasPrefix("coverage: not printed"), "\(result.output)")
      return
    }
    #expect(rows[1] == ["target", "lines", "covered", "%"])
    let targets = rows.dropFirst(2).dropLast()
    #expect(targets.contains(["threadkeeper", "3", "3", "100.0"]), "\(result.output)")
    #expect(targets.contains { $0[0] == "Bridge" && $0[2] == "0" && $0[3] == "0.0" })
    let sums = [1, 2].map { column in String(targets.compactMap { Int($0[column]) }.reduce(0, +)) }
    #expect(rows.last?.prefix(3) == ["total", sums[0], sums[1]])
  }
}
