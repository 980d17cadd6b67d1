// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@Suite("The daemon's memory", .inTurns, .timeLimit(.minutes(30)))
struct ProcessMemoryTests {
  /// The words after `name` in a file of a process.
  private static func words(after name: String, in file: String) throws -> [Substring] {
    let text = try String(contentsOfFile: "/proc/" + file, encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
    return line.dropFirst(name.count).split(whereSeparator: \.isWhitespace)
  }

  /// Whether a process may lock what sodium_malloc locks for the keys of a store.
  private static var mayLock: Bool {
    let limit = try? words(after: "Max locked memory", in: "self/limits").first
    return limit == "unlimited" || limit.flatMap { Int($0) } ?? 0 >= 64 << 10
  }

  @Test("Keys are locked into RAM, and no core is dumped", .enabled(if: mayLock))
  func hardened() async throws {
    let broker = try TestBroker()
    let installation = try Installation(port: broker.port, hold: 0)
    let daemon = try await installation.start()
    let files = "\(daemon.identifier)/"
    let core = try Self.words(after: "Max core file size", in: files + "limits")
    #expect(core.prefix(2) == ["0", "0"])
    let locked = try Self.words(after: "VmLck:", in: files + "status").first
    #expect(locked.flatMap { Int($0) } ?? 0 > 0)
    #expect(try await daemon.stop() == .exit(0))
  }

  /// The process of the tests is linked with the program, so with its `free` as well.
  @Test("A program that releases a block twice ends", arguments: [24, 100, 1_000, 5_000])
  func twice(size: Int) async {
    await #expect(processExitsWith: .failure) { [size = size as Int] in
      let block = malloc(size)
      free(block)
      free(block)
      exit(0)
    }
  }
}
