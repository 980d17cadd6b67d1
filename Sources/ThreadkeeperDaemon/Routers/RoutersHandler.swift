// SPDX-License-Identifier: Apache-2.0

import Bridge
import DaemonSocket
import Dispatch
import Settings

/// Answers `routers transfer`, `release` and `remove` on the daemon's own socket.
final class RoutersHandler: Sendable {
  private let settings: Settings
  private let ownership: OwnershipService
  private let turns = DispatchQueue(label: "threadkeeper.routers")

  init(_ settings: Settings, ownership: OwnershipService) {
    self.settings = settings
    self.ownership = ownership
  }

  /// - Returns: nil when it is no request of this kind.
  func answer(_ octets: [UInt8], from peer: SocketPeer) async -> [UInt8]? {
    guard let request = RoutersRequest(octets: octets) else { return nil }
    let work = RoutersWork(
      settings: settings, ownership: ownership, actor: OpenStore.actor(user: peer.user))
    return await request.answer(on: turns) { try work.answer(request) }
  }
}
