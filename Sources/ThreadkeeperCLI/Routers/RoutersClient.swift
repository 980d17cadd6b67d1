// SPDX-License-Identifier: Apache-2.0

import Bridge
import Glibc
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// Has the owner of a border agent id changed: by the running daemon, or without one in the store itself.
struct RoutersClient: Sendable {
  /// Seconds.
  private static let timeout = 60

  let settings: Settings

  func perform(_ request: RoutersRequest) async throws -> RoutersReport {
    // A second release or removal finds nothing.
    try await DaemonClient.orStore(isRepeatable: request.command == .transfer) {
      try await DaemonClient(settings: settings).ask(request, within: Self.timeout)
    } store: {
      let keychain = try OpenStore.forWriting(settings)
      defer { keychain.close() }
      do {
        return try RoutersService(
          settings: settings,
          ownership: OwnershipService(BridgeConfiguration(settings), keychain: keychain),
          actor: OpenStore.actor(user: geteuid())
        ).answer(request)
      } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
  }
}
