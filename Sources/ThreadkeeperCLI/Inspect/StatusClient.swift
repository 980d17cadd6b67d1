// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Asks the daemon how it is.
struct StatusClient {
  let settings: Settings

  private static let timeout = Duration.seconds(10)
  /// How long a process that has the store and does not listen is given: it may be starting.
  private static let startTimeout = Duration.seconds(2)

  /// - Returns: nil where no daemon answers: none runs, this user has no access to it, it is another version, or it cannot
  ///   read its store.
  /// - Throws: `CancellationError`.
  func report() async throws -> StatusReport? {
    let end = ContinuousClock.now + Self.startTimeout
    while true {
      if let report = try await reportNow() { return report }
      guard ContinuousClock.now < end,
        StoreLock.holder(of: OpenStore.location(settings)) != nil
      else { return nil }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func reportNow() async throws -> StatusReport? {
    do {
      return try await DaemonClient(settings: settings).call(
        StatusMethods.get, VarlinkNothing(), within: Self.timeout
      )?.status
    } catch {
      try Task.checkCancellation()
      return nil
    }
  }
}
