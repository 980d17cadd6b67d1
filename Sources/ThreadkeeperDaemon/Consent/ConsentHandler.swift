// SPDX-License-Identifier: Apache-2.0

import Bridge
import ConsentLedger
import KeychainCore
import ThreadDataset
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
      ConsentMethods.ask.answered { request, caller in
        try await queue.run {
          try consents.askAgain(about: request, by: .commandLine(user: caller.peer.user))
          return VarlinkNothing()
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

extension ConsentDecisions {
  /// - Throws: `CommandFailure`, `ConsentRefusal`, or what the store throws.
  func askAgain(about router: RouterSelection, by approver: ConsentApprover) throws {
    guard let agent = BorderAgentID(hex: router.borderAgentId) else {
      throw CommandFailure(.usage, "a border agent id has 16 or 32 hex digits")
    }
    do {
      try askAgain(about: agent, in: router.home, by: approver)
    } catch let refusal as ConsentRefusal where refusal.code == .notFound {
      throw CommandFailure(
        .noInput, refusal.message, remedy: "`threadkeeper routers` shows the ids")
    }
  }
}
