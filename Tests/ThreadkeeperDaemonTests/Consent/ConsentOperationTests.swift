// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import ConsentLedger
import DaemonTestKit
import Foundation
import Logging
import TestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperDaemon

@Suite("Decisions about consent that are sent twice")
struct ConsentOperationTests {
  private let store: TemporaryStore
  private let context: OperationContext

  init() throws {
    store = try TemporaryStore()
    let (settings, logger) = (MovedStore.settings(store), Logger(label: "test"))
    context = OperationContext(
      settings,
      bridge: try Bridge(
        BridgeConfiguration(settings),
        connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
        keychain: store.keychain, logger: logger), logger: logger)
  }

  /// The id of a question that waits.
  private func ask(for user: String) throws -> String {
    let network = try #require(ExtendedPANID(hex: "1111111122222222"))
    let subject = ConsentSubject(
      home: "home", command: "preferred/get",
      networks: [ConsentNetwork(id: network, name: "home-thread")])
    return try store.keychain.database.write { tx in
      let outcome = try ConsentLedger(store.keychain).ask(
        ConsentRequest(
          subject, by: ConsentRequester(.mqttUser(user), team: user), reply: .socket),
        now: Int64(Date().timeIntervalSince1970 * 1_000), tx)
      guard case .pending(let pending, _) = outcome else { throw CancellationError() }
      return pending.id.description
    }
  }

  /// A command would end with 66 for what is done, had the daemon ended before it answered.
  private func onlyOnce<Performed: ThreadkeeperDaemon.Operation>(_ decision: Performed) throws {
    _ = try decision.perform(context)
    #expect(throws: ConsentRefusal.self) { _ = try decision.perform(context) }
    #expect(!Performed.isRepeatable)
  }

  @Test("The second one is refused, so no command sends it by itself")
  func twice() throws {
    try onlyOnce(DenyConsent(id: ask(for: "phone")))
    try onlyOnce(ApproveConsent(id: ask(for: "tablet"), scope: .always))
    let grant = try #require(try ListGrants().perform(context).grants.first)
    try onlyOnce(RevokeGrant(id: grant.id))
  }
}
