// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import SystemThreads
import VarlinkSocket

/// Answers `io.threadkeeper.Lists` in the daemon.
struct ListsHandler: LocalAPIHandler {
  /// A row has a few hundred bytes, 8 KiB at most, and a message has at most 512 KiB.
  private static let rowsInReply = 50

  let settings: Settings
  let keychain: Keychain

  var interface: VarlinkInterface { .lists }

  var endpoints: [VarlinkEndpoint] {
    [
      ListsMethods.alerts.answered { request, _, replies in
        try await send(replies) { try $0.alerts(request) }
      },
      ListsMethods.routers.answered { _, _, replies in
        try await send(replies) { try $0.routers() }
      },
      ListsMethods.networks.answered { _, _, replies in
        try await send(replies) { try $0.networks() }
      },
      ListsMethods.credentials.answered { _, _, replies in
        try await send(replies) { try $0.credentials() }
      },
      ListsMethods.former.answered { request, _, replies in
        try await send(replies) { try $0.former(request) }
      },
      ListsMethods.credential.answered { router, _ in
        try await read { try $0.credential(router, showingSecrets: false) }
      },
      ListsMethods.credentialSecret.answered { router, _ in
        try await read { try $0.credential(router, showingSecrets: true) }
      },
      ListsMethods.preferred.answered { request, _ in
        try await read { try $0.preferred(request, showingSecrets: false) }
      },
      ListsMethods.preferredSecret.answered { request, _ in
        try await read { try $0.preferred(request, showingSecrets: true) }
      },
    ]
  }

  /// - Returns: the last reply.
  private func send<Row>(
    _ replies: VarlinkReplies<ListsMethods.Rows<Row>>,
    _ list: @escaping @Sendable (ListsService) throws -> ListsMethods.Rows<Row>
  ) async throws -> ListsMethods.Rows<Row> {
    var last = try await read(list)
    while last.rows.count > Self.rowsInReply {
      try await replies.send(ListsMethods.Rows(Array(last.rows.prefix(Self.rowsInReply))))
      last.rows.removeFirst(Self.rowsInReply)
    }
    return last
  }

  /// Reads the disk, so not in one of Swift's threads.
  private func read<R: Sendable>(
    _ body: @escaping @Sendable (ListsService) throws -> R
  ) async throws -> R {
    try await SystemThread.result { try body(ListsService(Registry(settings, keychain))) }
  }
}
