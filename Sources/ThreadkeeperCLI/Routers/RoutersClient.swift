// SPDX-License-Identifier: Apache-2.0

import Bridge
import Glibc
import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Has a router removed, or a router or network accepted: by the running daemon, or without one in the store itself.
struct RoutersClient: Sendable {
  private static let timeout = Duration.seconds(60)

  let settings: Settings

  func remove(_ router: RouterSelection) async throws -> RouterRemoval {
    // A second removal finds nothing.
    try await perform(RoutersMethods.remove, router, isRepeatable: false) { keychain in
      try RoutersService(
        settings: settings,
        ownership: OwnershipService(BridgeConfiguration(settings), keychain: keychain),
        actor: OpenStore.actor(user: geteuid())
      ).remove(router)
    }
  }

  func accept(_ router: RouterSelection) async throws -> RouterAcceptance {
    try await accept(RoutersMethods.accept, router) { try $0.accept(router) }
  }

  func accept(_ network: NetworkSelection) async throws -> NetworkAcceptance {
    try await accept(RoutersMethods.acceptNetwork, network) { try $0.accept(network) }
  }

  private func accept<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request,
    here: (RouterAcceptanceService) throws -> Reply
  ) async throws -> Reply {
    try await perform(method, request, isRepeatable: true) { keychain in
      try here(
        RouterAcceptanceService(
          settings: settings,
          acceptance: AcceptanceService(BridgeConfiguration(settings), keychain: keychain),
          actor: OpenStore.actor(user: geteuid())))
    }
  }

  private func perform<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request, isRepeatable: Bool,
    store: (Keychain) throws -> Reply
  ) async throws -> Reply {
    try await DaemonClient.orStore(isRepeatable: isRepeatable) {
      try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
    } store: {
      let keychain = try OpenStore.forWriting(settings)
      defer { keychain.close() }
      do {
        return try store(keychain)
      } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
  }
}
