// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import DaemonSocket

@Suite("Open files that go to the daemon with a request", .timeLimit(.minutes(30)))
struct PassedDescriptorTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("daemon.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func open(_ name: String, _ text: String) throws -> FileHandle {
    let path = directory.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try FileHandle(forUpdating: URL(fileURLWithPath: path))
  }

  /// Answers with what the files hold, and writes into the last one.
  private func listen() throws -> DaemonListener {
    try DaemonListener(path: path, patience: 600) { request, connection in
      var answer = request
      let files = connection.passed
      for file in files {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(file, &bytes, bytes.count, 0)
        answer += bytes.prefix(max(count, 0))
      }
      if let last = files.last { pwrite(last, "written", 7, 0) }
      return answer
    }
  }

  @Test("It reads and writes them without a path, whatever the size of the request")
  func passed() async throws {
    let listener = try listen()
    defer { listener.stop() }
    for size in [1, 100_000, DaemonConnection.limit - 100] {
      let files = [try open("a", "first "), try open("b", "second")]
      // A name that is gone is no obstacle.
      try FileManager.default.removeItem(atPath: directory.file("a"))
      let request = [UInt8](repeating: 7, count: size)
      let answer = try await DaemonCaller.ask(
        request, passing: files.map(\.fileDescriptor), at: path, within: 240)
      #expect(answer == request + Array("first second".utf8))
      #expect(try String(contentsOfFile: directory.file("b"), encoding: .utf8) == "written")
      // They stay open here.
      #expect(fcntl(files[0].fileDescriptor, F_GETFD) >= 0)
    }
  }

  @Test("A request without any has none")
  func none() async throws {
    let listener = try listen()
    defer { listener.stop() }
    #expect(try await DaemonCaller.ask([1, 2], at: path, within: 240) == [1, 2])
  }

  @Test("What nobody takes is closed with the connection")
  func untaken() async throws {
    let listener = try DaemonListener(path: path, patience: 600) { request, _ in request }
    defer { listener.stop() }
    // The other end of a pipe that is closed everywhere says so.
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    #expect(
      try await DaemonCaller.ask([1], passing: [ends[1]], at: path, within: 240) == [1])
    close(ends[1])
    try await eventually("the end of the pipe") {
      var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
      return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLHUP) != 0
    }
    close(ends[0])
  }
}
