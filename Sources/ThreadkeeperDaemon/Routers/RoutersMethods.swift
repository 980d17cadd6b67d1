// SPDX-License-Identifier: Apache-2.0

import Bridge
import Settings
import VarlinkSocket

/// `io.threadkeeper.Routers`: removes routers, and accepts routers and networks that are there on purpose.
package enum RoutersMethods {
  private static let interface = VarlinkInterface.routers.name

  package static let remove = VarlinkMethod<RouterSelection, RouterRemoval>(
    interface, "Remove", for: .owner)
  package static let accept = VarlinkMethod<RouterSelection, RouterAcceptance>(
    interface, "Accept", for: .owner)
  package static let acceptNetwork = VarlinkMethod<NetworkSelection, NetworkAcceptance>(
    interface, "AcceptNetwork", for: .owner)
}

/// A border agent id of a home.
package struct RouterSelection: Codable, Sendable {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }
}

/// What is removed. Also what `routers remove --json` prints.
package struct RouterRemoval: Codable, Sendable {
  package var home: String
  package var borderAgentId: String
  /// Absent where nobody owned the id.
  package var previousTeam: String?
  /// Whether credentials were stored under the id.
  package var credentials: Bool
}

/// A network of a home, and whether routers are on it on purpose.
package struct NetworkSelection: Codable, Sendable {
  package var home: String
  /// 16 hexadecimal digits.
  package var extPanId: String
  package var accepted: Bool

  package init(home: String, extPanId: String, accepted: Bool) {
    self.home = home
    self.extPanId = extPanId
    self.accepted = accepted
  }
}

/// What has changed. Also what `networks accept --json` prints.
package struct NetworkAcceptance: Codable, Sendable {
  package var home: String
  package var extPanId: String
  package var changed: Bool
  /// Whether it is listed.
  package var known: Bool
}

/// What has changed. Also what `routers accept --json` prints.
package struct RouterAcceptance: Codable, Sendable {
  package var home: String
  package var borderAgentId: String
  package var changed: Bool
}

/// Answers `io.threadkeeper.Routers` in the daemon.
struct RoutersHandler: LocalAPIHandler {
  let settings: Settings
  let ownership: OwnershipService
  let acceptance: AcceptanceService
  private let queue = HandlerQueue("routers")

  init(_ settings: Settings, ownership: OwnershipService, acceptance: AcceptanceService) {
    self.settings = settings
    self.ownership = ownership
    self.acceptance = acceptance
  }

  var interface: VarlinkInterface { .routers }

  var endpoints: [VarlinkEndpoint] {
    [
      RoutersMethods.remove.answered { request, caller in
        try await queue.run { [settings, ownership] in
          try RoutersService(
            settings: settings, ownership: ownership, actor: OpenStore.actor(user: caller.peer.user)
          ).remove(request)
        }
      },
      RoutersMethods.accept.answered { request, caller in
        try await accept(for: caller) { try $0.accept(request) }
      },
      RoutersMethods.acceptNetwork.answered { request, caller in
        try await accept(for: caller) { try $0.accept(request) }
      },
    ]
  }

  private func accept<Reply: Sendable>(
    for caller: VarlinkCaller,
    _ body: @escaping @Sendable (RouterAcceptanceService) throws -> Reply
  ) async throws -> Reply {
    try await queue.run { [settings, acceptance] in
      try body(
        RouterAcceptanceService(
          settings: settings, acceptance: acceptance,
          actor: OpenStore.actor(user: caller.peer.user)))
    }
  }
}
