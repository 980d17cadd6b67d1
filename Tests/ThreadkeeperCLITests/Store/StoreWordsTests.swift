// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What is said of all that is in a store")
struct StoreWordsTests {
  private static let router = BorderAgentID(high: 0xA1B2_C3D4_E5F6_0718, low: 0)

  private func place() throws -> MovedStore {
    let place = try MovedStore()
    try place.fill()
    try place.storeCredentials(of: Self.router)
    return place
  }

  @Test("Records and items are counted apart")
  func whole() throws {
    let place = try place()
    let outcome = try VerificationOutcome(verifying: place.keychain)
    #expect(outcome.isWell && outcome.items == 1 && outcome.records > 5)
    #expect(outcome.text == "All \(outcome.records) records and 1 item are as they were left.\n")
    #expect(try JSONText.line(outcome).contains(#""records":\#(outcome.records)"#))
    #expect(String.contents(records: 1, items: 2) == "1 record and 2 items")
  }

  @Test("A damaged record is named with its home, and with what helps")
  func state() throws {
    let place = try place()
    let number = try place.damageLastRecord("state")
    let outcome = try VerificationOutcome(verifying: place.keychain)
    #expect(!outcome.isWell && outcome.damagedRecords == [.init(number: number, home: "home")])
    #expect(
      outcome.text == """
        1 of \(outcome.records) records and 0 of 1 item are damaged; the store is healthy.
        Damaged: record \(number) of the home home. Restore a backup, or give it up with \
        `threadkeeper store forget-damaged --home home`.

        """)
  }

  @Test("Where only the credentials of a router are damaged, the router is named")
  func secret() throws {
    let place = try place()
    let number = try place.damageLastRecord("secret")
    let outcome = try VerificationOutcome(verifying: place.keychain)
    let agent = Self.router.description
    let damage = VerificationOutcome.Damage(number: number, home: "home", borderAgentId: agent)
    #expect(outcome.damagedRecords == [damage])
    let remedy = "give it up with `threadkeeper store forget-damaged --home home`"
    let words = "Damaged: the credentials of the router \(agent) of the home home. Restore"
    #expect(outcome.text.contains(words) && outcome.text.contains(remedy), "\(outcome.text)")
    #expect(
      try JSONText.line(outcome).contains(
        #""damaged_records":[{"border_agent_id":"\#(agent)","home":"home","number":\#(number)}]"#))
  }

  @Test("What was given up is named, and what remains")
  func forgotten() throws {
    typealias Damage = VerificationOutcome.Damage
    var report = ForgetDamaged.Reply(
      forgotten: [
        Damage(number: 7, home: "home"), Damage(number: 8),
        Damage(number: 9, home: "home", network: "preferred"),
        Damage(number: 10, home: "home", network: "p-5f3a9c01"),
        Damage(number: 11, home: "home", network: "1111111122222222", user: "home-assistant"),
      ], remaining: 0)
    let text = StoreForgetDamagedCommand.text(report, of: nil)
    #expect(
      text == """
        Given up: record 7 of the home home.
        Given up: record 8.
        Given up: the credentials of the preferred network of the home home.
        Given up: the credentials of the former network p-5f3a9c01 of the home home.
        Given up: the credentials of the network 1111111122222222 that the login home-assistant shares of the home home.

        """)
    report.remaining = 2
    let more = StoreForgetDamagedCommand.text(report, of: "home")
    #expect(more.hasPrefix(text) && more.contains("2 records of other homes cannot be read"))
    report = ForgetDamaged.Reply(forgotten: [], remaining: 0)
    #expect(
      StoreForgetDamagedCommand.text(report, of: "home")
        == "All that is stored of the home home can be read.\n")
  }

  @Test("A list that may be incomplete says so, and of which homes")
  func unreadable() throws {
    try CommandFailure.check(unreadable: nil)
    try CommandFailure.check(unreadable: [:])
    var failure = try #require(
      #expect(throws: CommandFailure.self) { try CommandFailure.check(unreadable: ["home": 2]) })
    #expect(failure.status == .badInput)
    #expect(
      failure.message == "2 records of the home home cannot be read, and each may be of one more")
    #expect(failure.remedy?.contains("`threadkeeper store forget-damaged --home home`") == true)
    failure = try #require(
      #expect(throws: CommandFailure.self) {
        try CommandFailure.check(unreadable: ["home": 2, "attic": 1])
      })
    #expect(failure.message.hasPrefix("1 record of the home attic, 2 records of the home home"))
    #expect(failure.remedy?.contains("`threadkeeper store forget-damaged`") == true)
  }
}
