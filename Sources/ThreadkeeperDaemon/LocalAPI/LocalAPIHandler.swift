// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SystemThreads
import VarlinkSocket

/// Answers the methods of one interface: decodes, checks and encodes. It has no rules of its own.
protocol LocalAPIHandler: Sendable {
  var interface: VarlinkInterface { get }
  /// A row for each method of the interface.
  var endpoints: [VarlinkEndpoint] { get }
}

/// A queue on which the calls of a handler are fulfilled one after the other: each may wait for the disk, and Swift has
/// few threads.
struct HandlerQueue: Sendable {
  private let queue: DispatchQueue

  init(_ name: String) { queue = DispatchQueue(label: "threadkeeper.\(name)") }

  /// Also when the caller has gone, and when the daemon ends: what was asked is done.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// Sends a reply now, and again whenever it has changed, until the caller goes or the daemon ends.
///
/// - Parameters:
///   - interval: from one look to the next.
///   - look: makes the reply; may wait for the disk.
/// - Throws: what `look` throws; `CancellationError`.
func sendChanges<Reply: Encodable & Sendable>(
  every interval: Duration, to send: (Reply) async throws -> Void,
  of look: @escaping @Sendable () throws -> Reply
) async throws -> Never {
  var last = ""
  while true {
    let reply = try await SystemThread.result { try look() }
    let text = try JSONText.line(reply)
    if text != last { try await send(reply) }
    last = text
    try await Task.sleep(for: interval)
  }
}
