// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Glibc
import SodiumCrypto
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A program that seals or unseals what opens a shard: from its standard input to its standard output.
package struct KeyCommand: Sendable {
  /// More bytes, in either direction, are no key. Less than a pipe holds.
  private static let most = 16_384

  /// The name of its setting, for messages.
  private let setting: String
  private let command: [String]
  private let limit: Duration

  /// - Parameter command: the program, looked up in PATH, and its arguments.
  package init(_ setting: String, _ command: [String], within limit: Duration = .seconds(30)) {
    (self.setting, self.command, self.limit) = (setting, command, limit)
  }

  /// Runs it to its end, on the caller's thread. Its standard error is that of this process.
  ///
  /// - Throws: `CommandFailure`: 78 where there is none, 75 where it does not do it.
  package func run(_ input: SecretBytes, shard: Int) throws(CommandFailure) -> SecretBytes {
    guard let program = command.first else {
      throw CommandFailure(
        .configuration, "`\(setting)` is not set, so no key of a shard can be used",
        remedy: "set it to the program of your key service: see docs/guides/fleet.md")
    }
    let deadline = ContinuousClock.now + limit
    var (source, sink): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    defer { for end in source + sink where end >= 0 { close(end) } }
    guard pipe(&source) == 0, pipe(&sink) == 0 else { throw failure(shard, "no pipe") }
    // All of it fits into the pipe, so nobody waits, and a program that does not read it is no trouble.
    let written = input.withUnsafeBytes {
      write(source[1], $0.baseAddress, min($0.count, Self.most))
    }
    var start = ProcessStart(
      program: program, arguments: Array(command.dropFirst()),
      environment: ProcessInfo.processInfo.environment
        .merging(["THREADKEEPER_SHARD": "\(shard)"]) { $1 }.map { "\($0.key)=\($0.value)" })
    start.searchesPath = true
    (start.input, start.output, start.error) =
      (.descriptor(source[0]), .descriptor(sink[1]), .inherited)
    guard written == input.count else { throw failure(shard, "its input is too long") }
    let (identifier, code) = start.start()
    guard code == 0 else {
      throw failure(shard, "\(program) cannot be started: \(String(cString: strerror(code)))")
    }
    for end in [source[1], sink[1]] { close(end) }
    (source[1], sink[1]) = (-1, -1)
    let output = SecretBytes(capacity: Self.most + 1) { Self.read(sink[0], $0, until: deadline) }
    close(sink[0])
    sink[0] = -1
    let status = Self.end(of: identifier, until: deadline)
    guard output.count <= Self.most else { throw failure(shard, "it prints too much") }
    guard let status else { throw failure(shard, "it takes longer than \(limit)") }
    guard status == 0 else { throw failure(shard, "it ends with \(status)") }
    guard output.count > 0 else { throw failure(shard, "it prints nothing") }
    return output
  }

  private func failure(_ shard: Int, _ reason: String) -> CommandFailure {
    CommandFailure(
      .temporary, "`\(setting)` does not work for shard \(shard): \(reason)",
      remedy: "run it with THREADKEEPER_SHARD=\(shard), and see that the key service answers")
  }

  private static func read(
    _ descriptor: Int32, _ memory: UnsafeMutableRawBufferPointer,
    until deadline: ContinuousClock.Instant
  ) -> Int {
    var filled = 0
    while filled < memory.count, ContinuousClock.now < deadline {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, (deadline - .now).pollMilliseconds) > 0 else { continue }
      let count = Glibc.read(
        descriptor, memory.baseAddress?.advanced(by: filled), memory.count - filled)
      guard count > 0 else { break }
      filled += count
    }
    return filled
  }

  /// - Returns: as a shell has it; nil after the time, when it and all that it has started are killed.
  private static func end(of identifier: pid_t, until deadline: ContinuousClock.Instant) -> Int32? {
    var (status, found): (Int32, pid_t) = (0, 0)
    while found == 0, ContinuousClock.now < deadline {
      found = waitpid(identifier, &status, WNOHANG)
      if found == 0 { usleep(5_000) }
    }
    guard found == identifier else {
      kill(-identifier, SIGKILL)
      waitpid(identifier, &status, 0)
      return nil
    }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }
}
#endif
