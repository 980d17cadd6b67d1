// SPDX-License-Identifier: Apache-2.0

import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Asks the daemon how it is.
struct StatusClient {
  let settings: Settings

  private static let timeout = Duration.seconds(10)

  /// - Returns: nil where no daemon answers: none runs, this user has no access to it, it is another version, or it cannot
  ///   read its store.
  /// - Throws: `CancellationError`.
  func report() async throws -> StatusReport? {
    let deadline = ContinuousClock.now + Self.timeout
    do {
      let client = try await VarlinkClient.connect(
        to: LocalAPISocket.path(settings), within: Self.timeout, actingForOwner: true)
      return try await client?.call(
        StatusEndpoints.get, VarlinkNothing(), within: deadline - .now
      ).status
    } catch {
      try Task.checkCancellation()
      return nil
    }
  }
}
