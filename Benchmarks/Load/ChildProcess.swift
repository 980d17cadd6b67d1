import CBareSubscriber
import Foundation
import Synchronization

/// A program in a process of its own whose lines are read as they come, each with its time.
final class ChildProcess: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  struct Line {
    /// Nanoseconds of `bare_now`.
    let time: Int64
    let text: String
  }

  private struct State {
    var lines: [Line] = []
    var isAtEnd = false
    /// Lines that `nextLine` has returned.
    var taken = 0
  }

  let name: String
  let startedAt: Int64
  /// All that were started and whose end nobody has waited for.
  private static let started = Mutex<[Int32: Process]>([:])

  private let process = Process()
  private let input: FileHandle?
  private let state = Mutex(State())

  enum Stream { case output, error }

  /// Starts it. Only one of its two streams is read; the other one is thrown away.
  init(_ program: String, _ arguments: [String], reading stream: Stream, takesInput: Bool = false) throws {
    name = ([program] + arguments.prefix(1)).map { URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: " ")
    let pipe = Pipe()
    let inputPipe = takesInput ? Pipe() : nil
    input = inputPipe?.fileHandleForWriting
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/dev/null"]
    process.standardInput = inputPipe ?? FileHandle.nullDevice
    process.standardOutput = stream == .output ? pipe : FileHandle.nullDevice
    process.standardError = stream == .error ? pipe : FileHandle.standardError
    startedAt = bare_now()
    try Self.started.withLock { started in
      try process.run()
      started[process.processIdentifier] = process
    }
    let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
    Thread.detachNewThread { [self] in read(descriptor) }
  }

  var identifier: Int32 { process.processIdentifier }

  /// Writes a line to its standard input.
  func write(_ line: String) throws { try input?.write(contentsOf: Data("\(line)\n".utf8)) }

  /// Waits for a line that contains `text`.
  func line(containing text: String, within limit: Double = 60) throws -> Line {
    try line(containing: [text], within: limit)
  }

  /// Waits for a line that contains one of `texts`.
  func line(containing texts: [String], within limit: Double = 60) throws -> Line {
    try wait("`\(texts.joined(separator: "` or `"))`", within: limit) { state in
      state.lines.first { line in texts.contains { line.text.contains($0) } }
    }
  }

  /// Waits for the line after the one that this returned last.
  func nextLine(within limit: Double) throws -> Line {
    try wait("another line", within: limit) { state in
      guard state.lines.count > state.taken else { return nil }
      state.taken += 1
      return state.lines[state.taken - 1]
    }
  }

  private func wait(_ what: String, within limit: Double, for found: (inout State) -> Line?) throws -> Line {
    let deadline = bare_now() + Int64(limit * 1e9)
    while true {
      let (line, isAtEnd) = state.withLock { state in (found(&state), state.isAtEnd) }
      if let line { return line }
      if isAtEnd || bare_now() > deadline {
        let said = state.withLock { $0.lines.suffix(5).map(\.text).joined(separator: "\n  ") }
        throw Failure(description: "\(name) did not say \(what) but:\n  \(said)")
      }
      usleep(200)
    }
  }

  var isRunning: Bool { process.isRunning }

  /// Whether it has ended with 0.
  var endedWell: Bool { !process.isRunning && process.terminationStatus == 0 }

  /// Waits for its end.
  func wait() {
    process.waitUntilExit()
    Self.started.withLock { _ = $0.removeValue(forKey: identifier) }
  }

  /// SIGKILL to all that were started and run. None is started any more before `last` ends this program.
  static func killAll(andEnd last: () -> Never) -> Never {
    started.withLock { started in
      for process in started.values where process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
      last()
    }
  }

  /// Closes its standard input, SIGTERM, and waits for its end.
  func end() {
    // A script would not get the signal: like the threads here, it has that blocked.
    try? input?.close()
    if process.isRunning { process.terminate() }
    wait()
  }

  /// SIGKILL, and waits for its end.
  func kill() {
    if process.isRunning { Glibc.kill(identifier, SIGKILL) }
    wait()
  }

  private func read(_ descriptor: Int32) {
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      let time = bare_now()
      rest.append(contentsOf: buffer[..<count])
      while let end = rest.firstIndex(of: 0x0A) {
        let text = String(decoding: rest[..<end], as: UTF8.self)
        state.withLock { $0.lines.append(Line(time: time, text: text)) }
        rest.removeSubrange(...end)
      }
    }
    close(descriptor)
    state.withLock { $0.isAtEnd = true }
  }
}
