// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import VarlinkSocket

/// Answers `io.threadkeeper.Consent` in the daemon.
struct ConsentHandler: LocalAPIHandler {
  /// From one look at what waits to the next.
  private static let interval = Duration.milliseconds(300)

  let keychain: Keychain
  /// Decides, and has those who wait answered.
  let consents: ConsentDecisions
  private let queue = HandlerQueue("consent")

  init(keychain: Keychain, consents: ConsentDecisions) {
    self.keychain = keychain
    self.consents = consents
  }

  var interface: VarlinkInterface { .consent }

  private var service: ConsentService { ConsentService(keychain) }

  var endpoints: [VarlinkEndpoint] {
    [
      ConsentMethods.list.answered { _, _ in try await list() },
      ConsentMethods.watch.answered { _, _, replies in
        try await replies.sendChanges(every: Self.interval) { try await list() }
      },
      ConsentMethods.approve.answered { request, caller in
        try await queue.run {
          .init(
            decision: .init(
              try consents.approve(request.id, request.scope, by: caller.peer.user)))
        }
      },
      ConsentMethods.deny.answered { request, caller in
        try await queue.run {
          .init(decision: .init(try consents.deny(request.id, by: caller.peer.user)))
        }
      },
      ConsentMethods.grants.answered { _, _ in try await queue.run { try service.grants() } },
      ConsentMethods.revoke.answered { request, caller in
        try await queue.run {
          .init(grant: .init(try consents.revoke(request.id, by: caller.peer.user)))
        }
      },
      ConsentMethods.history.answered { request, _ in
        try await queue.run { try service.history(request.limit) }
      },
    ]
  }

  private func list() async throws -> ConsentReport.List {
    try await queue.run { try service.list(namingHome: consents.hasSeveralHomes) }
  }
}
