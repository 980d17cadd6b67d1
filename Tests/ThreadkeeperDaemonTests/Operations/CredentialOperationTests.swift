// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperDaemon

@Suite("Operations that show what is stored")
struct CredentialOperationTests {
  private static let agent = "a1b2c3d4e5f607180000000000000001"
  private static let other = "a1b2c3d4e5f607180000000000000002"
  private let store: TemporaryStore
  private let context: OperationContext
  private let dataset: OperationalDataset

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
    dataset = try SampleNetwork.home.dataset(at: 7)
  }

  private func announce(_ agents: String...) throws {
    try context.bridge.loop.received(
      agents.map { agent in
        IncomingMessage(
          topic: "threadkeeper/in/hub/announce",
          payload: Array(#"{"border_agent_id":"\#(agent)","dataset":"\#(dataset.hex)"}"#.utf8))
      })
  }

  private func show(secret: Bool = false) -> ShowCredential {
    ShowCredential(home: "home", borderAgentId: Self.agent, secret: secret)
  }

  private func failure(
    of operation: some ThreadkeeperDaemon.Operation, _ context: OperationContext
  ) throws -> CommandFailure {
    try #require(
      #expect(throws: CommandFailure.self) { _ = try operation.perform(context) })
  }

  @Test("Credentials are listed without their secrets, and shown with them for who asks for that")
  func credentials() throws {
    #expect(try failure(of: show(), context).status == .noInput)
    try announce(Self.agent, Self.other)
    let rows = try ListCredentials().list(context)
    #expect(rows.rows.map(\.borderAgentID) == [Self.agent, Self.other] && rows.unreadable == 0)
    #expect(rows.rows.allSatisfy { $0.dataset == nil && $0.team == "hub" })
    let shown = try show(secret: true).perform(context)
    #expect(shown.dataset == dataset.hex)
    #expect((shown.networkName, shown.extendedPANID) == ("home", "1111111122222222"))
    #expect((shown.channel, shown.panID, shown.activeTimestamp) == (15, 0x1234, 7))
    #expect(try show().perform(context).dataset == nil)
  }

  @Test("The preferred network is shown with its secrets for who asks for that")
  func preferred() throws {
    let none = try failure(of: ShowPreferred(home: "home", secret: false), context)
    #expect(none.status == .noInput && none.message == "no network is preferred yet")
    try announce(Self.agent)
    let shown = try ShowPreferred(home: "home", secret: true).perform(context)
    #expect(shown.credentials && shown.dataset == dataset.hex && shown.reportedBy.isEmpty)
    #expect((shown.channel, shown.panID, shown.activeTimestamp) == (15, 0x1234, 7))
    #expect(try ShowPreferred(home: "home", secret: false).perform(context).dataset == nil)
  }

  @Test("A home that the settings do not name is refused with 64")
  func otherHome() throws {
    let failures = [
      try failure(of: ShowPreferred(home: "cabin", secret: false), context),
      try failure(of: ForgetDamaged(home: "cabin"), context),
      try failure(of: RevokeClient(home: "cabin", user: "hub", forgets: false), context),
    ]
    #expect(failures.allSatisfy { $0.status == .usage })
  }

  @Test("Why no router is listed is said as far as it is known")
  func noRouter() throws {
    let nobody = try ListRouters().list(context)
    #expect(nobody.note?.hasPrefix("No border router is listed.") == true)
    try announce(Self.agent)
    #expect(try ListRouters().list(context).note == nil)
    try context.bridge.loop.received([
      IncomingMessage(
        topic: "threadkeeper/in/hub/leave",
        payload: Array(#"{"border_agent_id":"\#(Self.agent)"}"#.utf8))
    ])
    let left = try ListRouters().list(context)
    #expect(left.note?.contains("all that announced themselves have left") == true)
  }

  /// Alters a byte before the tag, which the manifest does not see.
  private func damageSecretRecords() throws -> Int {
    try store.keychain.database.write { tx in
      var states: [(id: Int64, state: [UInt8])] = []
      try tx.forEach("SELECT id, state FROM records WHERE secret_version <> 0", bound: []) {
        states.append(($0.integer(0), $0.blob(1)))
        return true
      }
      for (id, state) in states {
        var altered = state
        altered[altered.count - 17] ^= 1
        try tx.execute(
          "UPDATE records SET state = ? WHERE id = ?", .blob(altered), .integer(id))
      }
      return states.count
    }
  }

  @Test("What cannot be read is counted, until a person gives it up")
  func damaged() throws {
    try announce(Self.agent)
    // The router's and the preferred network's.
    #expect(try damageSecretRecords() == 2)
    let context = try OperationContext(store)
    #expect(try ListCredentials().list(context).unreadable == 2)
    let preferred = ShowPreferred(home: "home", secret: false)
    let failure = try failure(of: preferred, context)
    #expect(failure.status == .badInput && failure.message.contains("damaged"), "\(failure)")
    let forgotten = try ForgetDamaged(home: "home").perform(context)
    #expect(forgotten.records == 2 && forgotten.home == "home")
    #expect(try ForgetDamaged(home: "home").perform(context).records == 0)
    #expect(!ForgetDamaged.isRepeatable)
    #expect(try ListCredentials().list(context).unreadable == 0)
    #expect(try self.failure(of: preferred, context).status == .noInput)
    let verified = try VerifyStore().perform(context)
    #expect(verified.isWell, "\(verified)")
  }
}
