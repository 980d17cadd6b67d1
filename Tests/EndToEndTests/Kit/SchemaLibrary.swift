// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

/// Validates payloads against JSON Schemas, by Debian's fastjsonschema in a process of its own, which ends with the
/// tests.
final class SchemaLibrary: Sendable {
  struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// JSON pointer of what is wrong; empty for the payload itself.
    let pointer: String
    /// Never a value: it may be a key.
    let text: String

    var description: String { "\(pointer.isEmpty ? "the payload" : pointer) \(text)" }
  }

  struct Ended: Error, CustomStringConvertible {
    let description = "the process that validates payloads has ended; see .ci/schema-check.py"
  }

  /// Payloads of one question.
  private static let most = 500

  /// Nil where the package is not to be had.
  static let shared: SchemaLibrary? = DebianTool.jsonSchema.flatMap { try? SchemaLibrary($0) }

  private let process: ChildProcess
  private let input: PrivatePipe
  private let output: PrivatePipe
  /// One question at a time. What was read past an answer.
  private let turn = Mutex<[UInt8]>([])

  /// - Parameter packages: a folder of Python's.
  init(_ packages: String) throws {
    input = try PrivatePipe()
    output = try PrivatePipe()
    let root = ProjectFiles.root.path
    process = try ChildProcess(
      DebianTool.python,
      ["\(root)/.ci/schema-check.py", "\(root)/\(AsyncAPIDocument.schemas)"],
      environment: ["PYTHONPATH": packages],
      streams: (.descriptor(input.reading), .descriptor(output.writing), .nothing))
    input.closeReading()
    output.closeWriting()
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter payloads: each with its schema, as `AsyncAPIDocument.Message.schema`.
  /// - Returns: nil for each that is valid.
  func problems(_ payloads: [(schema: String, payload: [UInt8])]) throws -> [Problem?] {
    var problems: [Problem?] = []
    var rest = payloads[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.most)
      rest = rest.dropFirst(part.count)
      let question = part.map { [$0.schema, Data($0.payload).base64EncodedString()] }
      let answer = try turn.withLock { read in
        try ask(JSONEncoder().encode(question) + [0x0A], &read)
      }
      let found = try JSONDecoder().decode([[String]?].self, from: Data(answer))
      guard found.count == part.count else { throw Ended() }
      problems += found.map { $0.map { Problem(pointer: $0[0], text: $0[1]) } }
    }
    return problems
  }

  func problem(_ schema: String, _ payload: [UInt8]) throws -> Problem? {
    try problems([(schema, payload)])[0]
  }

  private func ask(_ question: Data, _ read: inout [UInt8]) throws -> [UInt8] {
    try question.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        // The pipe is a socket: its end must not end the tests.
        let count = send(
          input.writing, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
          Int32(MSG_NOSIGNAL))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Ended() }
        sent += count
      }
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end = read.firstIndex(of: 0x0A) {
        defer { read.removeFirst(end + 1) }
        return Array(read[..<end])
      }
      let count = Foundation.read(output.reading, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Ended() }
      read += buffer[..<count]
    }
  }
}
