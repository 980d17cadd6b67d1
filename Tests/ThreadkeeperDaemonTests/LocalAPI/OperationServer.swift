// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import DaemonTestKit
import KeychainCore
import LocalAPI
import Logging
import TestKit
import Testing

@testable import ThreadkeeperDaemon

extension OperationContext {
  /// Of a daemon that is not connected to its broker.
  ///
  /// - Parameter homes: of the settings; nil: the one that is there without them.
  init(_ store: TemporaryStore, homes: [String]? = nil) throws {
    var settings = MovedStore.settings(store)
    if let homes { settings.homes = homes.map { .init(name: $0, baseTopic: "tk/\($0)") } }
    let logger = Logger(label: "test")
    self.init(
      settings,
      bridge: try Bridge(
        BridgeConfiguration(settings),
        connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
        store: SealedRecords(store.keychain), logger: logger), logger: logger)
  }
}

/// A daemon's operations over a socket, for a client that may be as slow as the machine.
struct OperationServer {
  let context: OperationContext
  private let path: String
  private let server: VarlinkServer

  init(_ store: TemporaryStore) throws {
    context = try OperationContext(store)
    path = store.path + "/varlink.sock"
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    server = try VarlinkServer(
      path: path, limits: limits,
      service: VarlinkService(
        .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: [.admin],
        endpoints: OperationHandler(context).endpoints,
        failure: { VarlinkError(failing: $0) }))
  }

  func perform<Performed: Operation>(_ operation: Performed) async throws -> Performed.Reply {
    let client = try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    let call = OperationCall(operation)
    return try await client.call(call.method, call, within: .seconds(600)).reply
  }

  /// - Parameter each: false ends it.
  func follow<Performed: StreamOperation>(
    _ operation: Performed, _ each: (Performed.Reply) throws -> Bool
  ) async throws {
    let client = try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    let call = OperationCall(operation)
    for try await reply in try client.replies(to: call.stream, call, firstWithin: .seconds(600)) {
      guard try each(reply.reply) else { return }
    }
  }
}
