// SPDX-License-Identifier: Apache-2.0

import Broker
import CredentialService
import Foundation
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("What requests do")
struct RequestEffectTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge() }

  @Test("Requests and events of one batch are acted upon in their order")
  func order() throws {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    try bridge.receive([
      try bridge.request("credentials/list"),
      try bridge.message(.announce, Agent.living, ["dataset": hex]),
      try bridge.request("credentials/list"),
      try bridge.message(.leave, Agent.living),
      try bridge.request("credentials/list"),
    ])
    #expect(bridge.published.map { $0.data?.credentials?.count } == [0, 1, 0])
  }

  @Test("Stored for a router that is listed: registry, network, events and alerts as with an event")
  func storeListed() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.announce(Agent.living, .home, at: 1)
    _ = try bridge.takeEvents()
    let answered = try bridge.storeCredentials(Agent.living, .guest, at: 1)
    #expect(answered.data?.change == .updated)
    #expect(answered.data?.preferred == .mismatch)
    #expect(try bridge.takeNames() == ["dataset_updated"])
    #expect(try bridge.preferred()?.networkName == "home")
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.networkName == "guest-thread")
    #expect(router.preferred == "mismatch")
    #expect(try bridge.network(.guest)?.routers == 1)
    #expect(try bridge.network(.home)?.routers == 1)
    try bridge.pass(1)
    try bridge.pass(40)
    #expect(
      try bridge.firing().filter { $0.hasPrefix("Preferred") }
        == ["PreferredNetworkMismatch \(Agent.living)"])
  }

  @Test("An older dataset by hand replaces the newer, and the router is what it says it is")
  func storeOlder() throws {
    try bridge.announce(Agent.living, .home, at: 10)
    try bridge.announce(Agent.living, .home, at: 5)
    #expect(try bridge.router(Agent.living)?.credential == .stale)
    #expect(try bridge.storeCredentials(Agent.living, .home, at: 5).data?.change == .updated)
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.credential == .stored)
    #expect(router.activeSeconds == 5)
  }

  @Test("Stored for a router that has not announced itself: credentials and an event, no router")
  func storeUnlisted() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    _ = try bridge.takeEvents()
    #expect(try bridge.storeCredentials(Agent.living, .guest, at: 1).data?.change == .stored)
    #expect(try bridge.router(Agent.living)?.isPresent == false)
    #expect(try bridge.home().routers == 1)
    let event = try #require(try bridge.takeEvents().first { $0.types == .datasetStored })
    #expect(event.user == "anna")
    #expect(event.router?.description == Agent.living)
    #expect(event.detail.networkName == "guest-thread")
    // When it comes, it has its credentials already.
    try bridge.say(.announce, Agent.living)
    #expect(try bridge.router(Agent.living)?.credential == .stored)
  }

  @Test("A router that comes with another dataset than was stored for it shows the stored one")
  func storeThenAnnounce() throws {
    try bridge.announce(Agent.attic, .home, at: 1)
    let conflicting = SampleNetwork.home.with { $0.channel = 20 }
    for (agent, network, seconds, state) in [
      (Agent.living, SampleNetwork.home, UInt64(2), CredentialState.stale),
      (Agent.garage, conflicting, 5, .conflict),
    ] {
      _ = try bridge.storeCredentials(agent, .home, at: 5)
      try bridge.announce(agent, network, at: seconds)
      let router = try #require(try bridge.router(agent))
      #expect(router.credential == state)
      #expect(router.activeSeconds == 5)
      #expect(router.channel == 15)
    }
    #expect(try bridge.network(.home)?.routers == 3)
  }

  @Test("The first network that is stored by request is preferred, and its topic says so")
  func establish() throws {
    #expect(try bridge.storeCredentials(Agent.living, .home, at: 1).data?.preferred == .match)
    #expect(try bridge.preferred()?.networkName == "home")
    #expect(try bridge.home().preferredName == "home")
    #expect(try bridge.network(.home)?.routers == 0)
  }

  @Test("Deleted: the router stays, its credentials are missing, the preferred network stays")
  func delete() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.living]).code == nil)
    #expect(try bridge.router(Agent.living)?.credential == .missing)
    #expect(try bridge.preferred()?.networkName == "home")
    #expect(
      try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.living]).code == "not_found")
  }

  @Test("An approver sets the preferred network over MQTT; every router is checked at once")
  func setPreferred() throws {
    bridge.configuration.approvers = ["anna"]
    bridge.configuration.approversMustSign = false
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .guest, at: 1)
    _ = try bridge.takeEvents()
    let network = ["ext_pan_id": SampleNetwork.guest.extendedPANID]
    #expect(try bridge.ask(.setPreferred, network).data?.changed == true)
    let event = try #require(try bridge.takeEvents().first { $0.types == .preferredChanged })
    #expect(event.user == "anna")
    #expect(event.detail.networkName == "guest-thread")
    #expect(event.detail.previousExtendedPANID == SampleNetwork.home.extendedPANID)
    #expect(try bridge.router(Agent.attic)?.preferred == "match")
    #expect(try bridge.router(Agent.living)?.preferred == "mismatch")
    #expect(try bridge.home().preferredName == "guest-thread")
    #expect(try bridge.ask(.setPreferred, network).data?.changed == false)
    // The router that runs on it is a member now: it takes the preferred network along.
    try bridge.announce(Agent.attic, .guest, at: 2)
    #expect(try bridge.preferred()?.activeTimestamp?.seconds == 2)
  }

  @Test("Active are the routers that are listed and online")
  func active() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.say(.offline, Agent.attic)
    _ = try bridge.storeCredentials(Agent.garage, .home, at: 1)
    #expect(
      try bridge.ask(.listActiveCredentials).data?.credentials?.compactMap(\.agent?.description)
        == [Agent.living])
    #expect(try bridge.ask(.listCredentials).data?.credentials?.count == 3)
  }

  @Test("A dataset in plaintext is noted as one of an event is")
  func plaintext() throws {
    _ = try bridge.storeCredentials(Agent.living, .home, at: 1)
    try bridge.pass(40)
    #expect(try bridge.firing().contains("PlaintextCredentials anna"))
  }

  @Test("Damaged credentials are an answer, and the batch continues")
  func damaged() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.announce(Agent.attic, .home, at: 1)
    try bridge.damageCredential(of: Agent.attic)
    try bridge.receive([
      try bridge.request(
        "credentials/store",
        ["border_agent_id": Agent.attic, "dataset": try SampleNetwork.home.dataset(at: 2).hex]),
      try bridge.request("credentials/list"),
      try bridge.request("credentials/delete", ["border_agent_id": Agent.attic]),
      try bridge.request("credentials/list"),
    ])
    #expect(bridge.published.map(\.code) == ["damaged_credentials", nil, nil, nil])
    #expect(bridge.published[1].data?.damaged == [Agent.attic])
    #expect(bridge.published[3].data?.damaged == nil)
  }
}
