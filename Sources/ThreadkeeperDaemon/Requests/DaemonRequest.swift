// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Dispatch

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a command asks of the running daemon, as JSON with a `v` and a `command`. Each kind has commands
/// of its own, and none that `RequestCommand` has, so that only one kind can be read from it. See
/// docs/reference/daemon-socket.md.
package protocol DaemonRequest: Codable, Sendable {
  /// What comes of it.
  associatedtype Report: Codable & Sendable

  /// `DaemonRequestVersion.current` of who asks.
  var v: Int { get }
}

extension DaemonRequest {
  package typealias Answer = DaemonAnswer<Report>

  /// Nil when it is no request of this kind.
  init?(bytes: [UInt8]) {
    guard let request = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
    self = request
  }

  package var bytes: [UInt8] { get throws { try Array(JSONEncoder().encode(self)) } }

  /// In the daemon: what comes of it, or why nothing does.
  package func answer(_ work: () throws -> Report) -> [UInt8] {
    let answer: Answer
    do {
      try DaemonRequestVersion.check(v)
      answer = Answer(try work())
    } catch {
      answer = Answer(failing: error)
    }
    guard let bytes = try? answer.bytes else { return [] }
    guard bytes.count > DaemonConnection.limit else { return bytes }
    return (try? Answer.tooLarge.bytes) ?? []
  }

  /// The same on a queue of the system's: a commit waits for the disk, and Swift has few threads.
  package func answer(
    on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Report
  ) async -> [UInt8] {
    await withCheckedContinuation { (done: CheckedContinuation<[UInt8], Never>) in
      queue.async { done.resume(returning: answer(work)) }
    }
  }
}
