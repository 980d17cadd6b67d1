// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber
import Foundation
import Synchronization

/// A program in a process of its own whose lines are read as they come, each with its time.
final class ChildProcess: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Line {
    /// Nanoseconds of `bare_now`.
    let time: Int64
    let text: String
  }

  private struct State {
    var lines: [Line] = []
    var isAtEnd = false
  }

  let name: String
  let startedAt: Int64
  private let process = Process()
  private let state = Mutex(State())

  enum Stream { case output, error }

  /// Starts it. Only one of its two streams is read; the other one is thrown away.
  init(_ program: String, _ arguments: [String], reading stream: Stream) throws {
    name = ([URL(fileURLWithPath: program).lastPathComponent] + arguments.prefix(1))
      .joined(separator: " ")
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = stream == .output ? pipe : FileHandle.nullDevice
    process.standardError = stream == .error ? pipe : FileHandle.standardError
    startedAt = bare_now()
    try process.run()
    let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
    Thread.detachNewThread { [self] in read(descriptor) }
  }

  var identifier: Int32 { process.processIdentifier }

  /// Waits for a line that contains `text`.
  func line(containing text: String, within limit: Double = 60) throws -> Line {
    let deadline = bare_now() + Int64(limit * 1e9)
    while true {
      let (line, isAtEnd) = state.withLock { state in
        (state.lines.first { $0.text.contains(text) }, state.isAtEnd)
      }
      if let line { return line }
      if isAtEnd || bare_now() > deadline {
        let said = state.withLock { $0.lines.suffix(5).map(\.text).joined(separator: "\n  ") }
        throw Failure(description: "\(name) did not say `\(text)` but:\n  \(said)")
      }
      usleep(500)
    }
  }

  /// Waits for its end.
  func wait() { process.waitUntilExit() }

  /// SIGTERM, and waits for its end.
  func end() {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
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
