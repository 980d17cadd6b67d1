// SPDX-License-Identifier: Apache-2.0

import Bridge
import Glibc
import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Has the owner of a border agent id changed: by the running daemon, or without one in the store itself.
struct RoutersClient: Sendable {
  private static let timeout = Duration.seconds(60)

  let settings: Settings

  func transfer(_ request: RouterTransfer) async throws -> RoutersReport {
    try await perform(RoutersMethods.transfer, request, isRepeatable: true) {
      try $0.transfer(request)
    }
  }

  func release(_ router: RouterSelection) async throws -> RoutersReport {
    try await perform(RoutersMethods.release, router, isRepeatable: false) {
      try $0.release(router)
    }
  }

  func remove(_ router: RouterSelection) async throws -> RoutersReport {
    try await perform(RoutersMethods.remove, router, isRepeatable: false) { try $0.remove(router) }
  }

  /// - Parameter isRepeatable: a second release or removal finds nothing.
  private func perform<Request: Encodable & Sendable>(
    _ method: VarlinkMethod<Request, RoutersReport>, _ request: Request, isRepeatable: Bool,
    here: (RoutersService) throws -> RoutersReport
  ) async throws -> RoutersReport {
    try await DaemonClient.orStore(isRepeatable: isRepeatable) {
      try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
    } store: {
      let keychain = try OpenStore.forWriting(settings)
      defer { keychain.close() }
      do {
        return try here(
          RoutersService(
            settings: settings,
            ownership: OwnershipService(BridgeConfiguration(settings), keychain: keychain),
            actor: OpenStore.actor(user: geteuid())))
      } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
  }
}
