// SPDX-License-Identifier: Apache-2.0

import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Reads what a command shows: by the running daemon, or without one in the store itself.
struct ListsClient: Sendable {
  private static let timeout = Duration.seconds(60)

  let settings: Settings

  /// A whole list.
  func rows<Request: Encodable & Sendable, Row: Codable & Sendable>(
    _ list: VarlinkStream<Request, ListsMethods.Rows<Row>>, _ request: Request,
    here: (ListsService) throws -> ListsMethods.Rows<Row>
  ) async throws -> ListsMethods.Rows<Row> {
    try await DaemonClient.orStore(isRepeatable: true) {
      var rows: [Row] = []
      var last = try await DaemonClient(settings: settings).follow(
        list, request, firstWithin: Self.timeout
      ) { rows += $0.rows }
      last?.rows = rows
      return last
    } store: {
      try stored(here)
    }
  }

  func one<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request,
    here: (ListsService) throws -> Reply
  ) async throws -> Reply {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
    } store: {
      try stored(here)
    }
  }

  private func stored<Reply>(_ read: (ListsService) throws -> Reply) throws -> Reply {
    try read(ListsService(Registry(settings, OpenStore.forReading(settings))))
  }
}
