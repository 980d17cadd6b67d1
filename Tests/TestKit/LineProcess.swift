import Foundation
import Synchronization

/// A program that reads lines and writes lines. It is killed with this object.
package final class LineProcess: Sendable {
  private struct State {
    var lines: [String] = []
    var hasEnded = false
    /// How many of the lines `ask` has returned.
    var taken = 0
  }

  private final class Output: Sendable {
    let state = Mutex(State())
    let changed = DispatchSemaphore(value: 0)
  }

  package let process: ChildProcess
  private let input: PrivatePipe
  private let output = Output()

  /// - Parameters:
  ///   - command: a program of `PATH` and its arguments.
  ///   - environment: besides ours.
  ///   - errorFile: where its error stream goes; nil: nowhere.
  package init(_ command: [String], environment: [String: String] = [:], errorFile: String? = nil) throws {
    let input = try PrivatePipe()
    let pipe = try PrivatePipe()
    self.input = input
    process = try ChildProcess(
      "/usr/bin/env", command, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      streams: (.descriptor(input.reading), .descriptor(pipe.writing), errorFile.map { .file($0) } ?? .nothing))
    input.closeReading()
    pipe.closeWriting()
    Thread { [output] in Self.read(pipe, into: output) }.start()
  }

  deinit { process.signal(SIGKILL) }

  /// All that it has written so far, without what is not a whole line.
  package var lines: [String] { output.state.withLock(\.lines) }

  package func send(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Foundation.send(input.writing, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Program.Failure(description: "it takes no input: \(errno)") }
      start += count
    }
  }

  /// Sends a line and returns the next one that it writes.
  ///
  /// - Throws: it has ended, or needs more than two minutes.
  @discardableResult package func ask(_ line: String) throws -> String {
    try send(line)
    return try answer(to: line)
  }

  /// The next line that it writes.
  package func answer(to question: String = "the start") throws -> String {
    let limit = DispatchTime.now() + .seconds(120)
    while true {
      let next = output.state.withLock { state -> (line: String?, hasEnded: Bool) in
        guard state.taken < state.lines.count else { return (nil, state.hasEnded) }
        state.taken += 1
        return (state.lines[state.taken - 1], false)
      }
      if let line = next.line { return line }
      if next.hasEnded { throw Program.Failure(description: "it ended instead of: \(question)") }
      guard output.changed.wait(timeout: limit) == .success else {
        throw Program.Failure(description: "no answer to: \(question)")
      }
    }
  }

  private static func read(_ pipe: PrivatePipe, into output: Output) {
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(pipe.reading, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest += buffer[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        rest.removeSubrange(...end)
        output.state.withLock { $0.lines.append(line) }
        output.changed.signal()
      }
    }
    output.state.withLock { $0.hasEnded = true }
    output.changed.signal()
  }
}
