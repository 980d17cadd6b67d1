// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import Settings
import SystemThreads
import VarlinkSocket

/// `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
package struct StatusEndpoints: LocalAPIHandler {
  package struct Reply: Codable, Sendable {
    package let status: StatusReport
  }

  /// The process, and with which files its store is opened, for commands that name no place.
  package struct Places: Codable, Sendable {
    package let pid: Int32
    package let keyFile: String
    package let anchorPath: String
  }

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Get", for: .owner)
  package static let places = VarlinkMethod<VarlinkNothing, Places>(
    VarlinkInterface.status.name, "Places", for: .owner)
  static let watch = VarlinkStream<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Watch", for: .owner)

  /// From one look to the next. Each reads the registry, so it is not more often.
  private static let interval = Duration.seconds(1)

  let settings: Settings
  let keychain: Keychain
  let runtime: @Sendable () -> DaemonState

  var interface: VarlinkInterface { .status }

  var endpoints: [VarlinkEndpoint] {
    [
      Self.get.answered { _, _ in try await report() },
      Self.places.answered { _, _ in
        Places(
          pid: runtime().pid, keyFile: settings.store.keyFile,
          anchorPath: settings.store.anchorPath)
      },
      Self.watch.answered { _, _, replies in
        try await replies.sendChanges(every: Self.interval) { try await report() }
      },
    ]
  }

  /// Reads the disk, so not in one of Swift's threads.
  private func report() async throws -> Reply {
    try await SystemThread.result {
      Reply(status: try StatusReport(Registry(settings, keychain), runtime: runtime()))
    }
  }
}
