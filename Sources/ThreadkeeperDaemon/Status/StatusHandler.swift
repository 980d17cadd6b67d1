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
      StatusMethods.get.answered { _, _ in try await SystemThread.result { try report() } },
      StatusMethods.places.answered { _, _ in
        StatusMethods.Places(pid: runtime().pid, keyFile: settings.store.keyFile)
      },
      StatusMethods.watch.answered { _, _, replies in
        try await sendChanges(every: Self.interval, to: { try await replies.send($0) }) {
          try report()
        }
      },
    ]
  }

  /// Reads the disk.
  private func report() throws -> StatusMethods.Reply {
    StatusMethods.Reply(status: try StatusReport(Registry(settings, keychain), runtime: runtime()))
  }
}

/// The methods of `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
package enum StatusMethods {
  package struct Reply: Codable, Sendable {
    package let status: StatusReport
  }

  /// The process, and with which files its store is opened, for commands that name no place.
  package struct Places: Codable, Sendable {
    package let pid: Int32
    package let keyFile: String
  }

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Get", for: .reader)
  package static let places = VarlinkMethod<VarlinkNothing, Places>(
    VarlinkInterface.status.name, "Places", for: .owner)
  package static let watch = VarlinkStream<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Watch", for: .reader)
}
