import DaemonTestKit
import SodiumCrypto
import Testing
import ThreadDataset

@testable import Threadkeeper

@Suite("Who has access in a store that was put back") struct RestoredAccessTests {
  @Test("Clients, consents and logins are named, and what is revoked is not") func named() throws {
    let place = try MovedStore()
    try place.fill()
    let address = BrokerAddress(host: "broker.local", port: 8883, isEncrypted: true)
    let password = SecretBytes(copying: Array("open sesame".utf8))
    _ = try place.keychain.database.write { tx in
      try BrokerLoginStore(place.keychain, address).save(BrokerLogin(username: "keeper", password: password), tx)
    }
    let access = try RestoredAccess(place.keychain)
    #expect(access.clients.map(\.user) == ["hub", "router"])
    #expect(access.grants.count == 1)
    #expect(access.brokerLogins.map(\.broker) == ["mqtts://broker.local:8883"])
    let text = access.text(made: "2026-11-21T00:00:00Z")
    let id = try #require(access.grants.first?.id)
    for words in [
      "As of 2026-11-21T00:00:00Z", "Revoke again who was revoked since", "  2 enrolled clients\n",
      "    hub, home home\n", "  1 consent \"always\"\n", "    \(id): ", "phone",
      "    keeper at mqtts://broker.local:8883\n", "`threadkeeper login`",
    ] { #expect(text.contains(words), "\(words) in \(text)") }
    #expect(!text.contains("sesame"))
    let json = try JSONText.line(access)
    #expect(json.contains(#""broker_logins""#) && !json.contains("sesame"))

    try place.revoke("router")
    #expect(try RestoredAccess(place.keychain).clients.map(\.user) == ["hub"])
  }

  @Test("Where the name of a home is lost, who has access there is named all the same") func lostName() throws {
    let place = try MovedStore()
    try place.fill()
    let name = "lost-\(try place.damageName())"
    let access = try RestoredAccess(place.keychain)
    #expect(access.clients.map(\.user) == ["hub", "router"])
    #expect(access.clients.allSatisfy { $0.home == name } && access.damaged == [name])
    #expect(access.grants.map(\.home) == [name])
    let text = access.text(made: "then")
    let words = "  maybe more, in records that cannot be read\n    home \(name)\n"
    #expect(text.contains("    hub, home \(name)\n") && text.contains(words), "\(text)")
  }

  @Test("Of a store that lets nobody have anything, only the ways into it are listed") func nobody() throws {
    let place = try MovedStore()
    let text = try RestoredAccess(place.keychain).text(made: "then")
    #expect(text.hasPrefix("The store's key slots are as they were then."), "\(text)")
    #expect(text.hasSuffix("  1 key slot\n    1: key_file\n"), "\(text)")
    withExtendedLifetime(place) {}
  }
}

@Suite("What is said of all that is in a store") struct StoreWordsTests {
  private static let router = BorderAgentID(high: 0xA1B2_C3D4_E5F6_0718, low: 0)

  private func place() throws -> MovedStore {
    let place = try MovedStore()
    try place.fill()
    try place.storeCredentials(of: Self.router)
    return place
  }

  @Test("Records and items are counted apart") func whole() throws {
    let place = try place()
    let outcome = try VerificationOutcome(verifying: place.keychain)
    #expect(outcome.isWell && outcome.items == 1 && outcome.records > 5)
    #expect(outcome.text == "All \(outcome.records) records and 1 item are as they were left.\n")
    #expect(try JSONText.line(outcome).contains(#""records":\#(outcome.records)"#))
    #expect(String.contents(records: 1, items: 2) == "1 record and 2 items")
  }

  @Test("A damaged record is named with its home, and with what helps") func state() throws {
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

  @Test("Where only the credentials of a router are damaged, the router is named") func secret() throws {
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

  @Test("What was given up is named, and what remains") func forgotten() throws {
    typealias Damage = VerificationOutcome.Damage
    var report = ForgetDamaged.Reply(
      forgotten: [
        Damage(number: 7, home: "home"), Damage(number: 8), Damage(number: 9, home: "home", network: "preferred"),
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
    #expect(StoreForgetDamagedCommand.text(report, of: "home") == "All that is stored of the home home can be read.\n")
  }

  @Test("A list that may be incomplete says so, and of which homes") func unreadable() throws {
    try CommandFailure.check(unreadable: nil)
    try CommandFailure.check(unreadable: [:])
    var failure = try #require(
      #expect(throws: CommandFailure.self) { try CommandFailure.check(unreadable: ["home": 2]) })
    #expect(failure.status == .badInput)
    #expect(failure.message == "2 records of the home home cannot be read, and each may be of one more")
    #expect(failure.remedy?.contains("`threadkeeper store forget-damaged --home home`") == true)
    failure = try #require(
      #expect(throws: CommandFailure.self) { try CommandFailure.check(unreadable: ["home": 2, "attic": 1]) })
    #expect(failure.message.hasPrefix("1 record of the home attic, 2 records of the home home"))
    #expect(failure.remedy?.contains("`threadkeeper store forget-damaged`") == true)
  }
}
