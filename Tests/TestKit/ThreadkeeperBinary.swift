import Foundation

/// Runs the real `threadkeeper` that was built beside the tests.
package enum ThreadkeeperBinary {
  /// What a finished run left.
  package struct Outcome: Sendable {
    package let status: Int32
    package let output: String
    package let error: String

    /// The output as a JSON object.
    package func object() throws -> [String: any Sendable] {
      let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
      guard let object = value as? [String: any Sendable] else { throw NoObject() }
      return object
    }
  }

  package struct NoObject: Error, CustomStringConvertible {
    package var description: String { "the output is JSON, but no object" }
  }

  /// What the command reads on standard input.
  package enum Input: Sendable {
    case nothing
    case text(String)
    case file(String)
  }

  /// Runs it to its end. See `run(_:input:output:environment:)`.
  package static func run(
    _ arguments: String..., input: Input = .nothing, output: String? = nil, environment: [String: String] = [:]
  ) async throws -> Outcome { try await run(arguments, input: input, output: output, environment: environment) }

  /// Runs it to its end. Input and output are files: nobody can block on a full pipe.
  ///
  /// - Parameter launcher: a program and its arguments that become threadkeeper, by `exec`.
  package static func run(
    _ arguments: [String], input: Input = .nothing, output: String? = nil, environment: [String: String] = [:],
    launcher: [String] = []
  ) async throws -> Outcome {
    let directory = try TemporaryDirectory()
    let (outputFile, errorFile) = (output ?? directory.file("output"), directory.file("error"))
    let stream: ChildProcess.Stream
    switch input {
    case .nothing: stream = .nothing
    case .file(let path): stream = .file(path)
    case .text(let text):
      stream = .file(directory.file("input"))
      try text.write(toFile: directory.file("input"), atomically: true, encoding: .utf8)
    }
    let command = launcher + [executable.path] + arguments
    let process = try ChildProcess(
      command[0], Array(command.dropFirst()),
      environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"].merging(environment) { $1 },
      streams: (stream, .file(outputFile), .file(errorFile)))
    // A test that ends early leaves nothing running.
    defer { process.signal(SIGKILL) }
    while process.isRunning { try await Task.sleep(for: .milliseconds(2)) }
    return Outcome(
      status: process.wait().exitStatus,
      output: output == nil ? try String(contentsOfFile: outputFile, encoding: .utf8) : "",
      error: try String(contentsOfFile: errorFile, encoding: .utf8))
  }

  /// The test runner is a program in the directory of all products. `make soak` names the program that is installed.
  package static var executable: URL {
    if let path = ProcessInfo.processInfo.environment["SOAK_PROGRAM"] { return URL(fileURLWithPath: path) }
    return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("threadkeeper")
  }
}
