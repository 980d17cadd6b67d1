// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Settings
import SystemThreads
import VarlinkSocket

/// Answers `io.threadkeeper.Status` in the daemon.
struct StatusHandler: LocalAPIHandler {
  /// From one look to the next. Each reads the registry, so it is not more often.
  private static let interval = Duration.seconds(1)

  let settings: Settings
  let keychain: Keychain
  let runtime: @Sendable () -> DaemonState

  var interface: VarlinkInterface { .status }

  var endpoints: [VarlinkEndpoint] {
    [
      StatusMethods.get.answered { _, _ in try await report() },
      StatusMethods.places.answered { _, _ in
        StatusMethods.Places(pid: runtime().pid, keyFile: settings.store.keyFile)
      },
      StatusMethods.watch.answered { _, _, replies in
        try await replies.sendChanges(every: Self.interval) { try await report() }
      },
    ]
  }

  /// Reads the disk, so not in one of Swift's threads.
  private func report() async throws -> StatusMethods.Reply {
    try await SystemThread.result {
      StatusMethods.Reply(
        status: try StatusReport(Registry(settings, keychain), runtime: runtime()))
    }
  }
}
