// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import SodiumCrypto
import Testing

@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("Who has access in a store that was put back")
struct RestoredAccessTests {
  @Test("Clients, consents and logins are named, and what is revoked is not")
  func named() throws {
    let place = try MovedStore()
    try place.fill()
    let address = BrokerAddress(host: "broker.local", port: 8883, isEncrypted: true)
    let password = SecretBytes(copying: Array("open sesame".utf8))
    _ = try place.keychain.database.write { tx in
      try BrokerLoginStore(place.keychain, address).save(
        BrokerLogin(username: "keeper", password: password), tx)
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

  @Test("Where the name of a home is lost, who has access there is named all the same")
  func lostName() throws {
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

  @Test("Of a store that lets nobody have anything, only the ways into it are listed")
  func nobody() throws {
    let place = try MovedStore()
    let text = try RestoredAccess(place.keychain).text(made: "then")
    #expect(text.hasPrefix("The store's key slots are as they were then."), "\(text)")
    #expect(text.hasSuffix("  1 key slot\n    1: key_file\n"), "\(text)")
    withExtendedLifetime(place) {}
  }
}
