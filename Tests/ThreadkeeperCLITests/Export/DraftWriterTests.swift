// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Synchronization
import TestKit
import Testing

@testable import ThreadkeeperCLI

@Suite("Writing an export that comes over the socket", .timeLimit(.minutes(5)))
struct DraftWriterTests {
  private final class Count: Sendable {
    private let value = Mutex(0)
    var now: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  @Test("A disk that takes nothing holds up the reader after a bounded number of pieces")
  func bounded() async throws {
    // A pipe that is full and that nobody reads is a disk that takes nothing.
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reader, draft) = (ends[0], ends[1])
    defer { close(reader) }
    let length = 100_000
    let writer = try DraftWriter(draft, path: "draft", room: 3 * length)
    close(draft)
    let taken = Count()
    let writing = Task {
      for piece in 0..<20 {
        try await writer.append(Data(repeating: UInt8(piece), count: length))
        taken.add()
      }
    }
    try await eventually("the room to be full") { taken.now == 3 }
    // All of it arrives in order once it is taken.
    let bytes = try await Task.detached {
      var bytes: [UInt8] = []
      var room = [UInt8](repeating: 0, count: length)
      while bytes.count < 20 * length {
        let count = read(reader, &room, room.count)
        try #require(count > 0)
        #expect(taken.now <= bytes.count / length + 5)
        bytes += room.prefix(count)
      }
      return bytes
    }.value
    try await writing.value
    #expect(taken.now == 20)
    for piece in 0..<20 { #expect(bytes[piece * length] == piece) }
  }

  @Test("A disk that fails ends the export with its error, and holds up nobody")
  func failing() async throws {
    let directory = try TemporaryDirectory()
    let descriptor = open(directory.file("draft"), O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let writer = try DraftWriter(descriptor, path: "draft", room: 10)
    let error = await #expect(throws: KeychainError.self) {
      for _ in 0..<10 { try await writer.append(Data(count: 100)) }
    }
    #expect(error?.status == .io)
    await #expect(throws: KeychainError.self) { try await writer.finish() }
  }
}
