// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

extension VarlinkReplies {
  /// Sends a reply now, and again whenever it has changed, until the caller goes or the daemon ends.
  ///
  /// - Parameters:
  ///   - interval: from one look to the next.
  ///   - look: makes the reply.
  /// - Throws: what `look` throws; `CancellationError`.
  func sendChanges(
    every interval: Duration, of look: () async throws -> Reply
  ) async throws -> Never {
    var last = ""
    while true {
      let reply = try await look()
      let text = try JSONText.line(reply)
      if text != last { try await send(reply) }
      last = text
      try await Task.sleep(for: interval)
    }
  }
}
