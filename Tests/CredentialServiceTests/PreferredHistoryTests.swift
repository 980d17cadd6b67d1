// SPDX-License-Identifier: Apache-2.0

import CredentialService
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@Suite("Networks that were preferred")
struct PreferredHistoryTests {
  let service: Service

  init() throws {
    service = try Service()
    service.isAdministrator = true
    service.isOnThisMachine = true
  }

  private var history: [FormerNetwork] {
    get throws { try service.database.read { try service.store.formerNetworks(of: "home", $0) } }
  }

  private func network(_ number: Int) -> SampleNetwork {
    SampleNetwork.home.with {
      $0.extendedPANID = "111111110000000\(number)"
      $0.name = "network-\(number)"
      $0.networkKey = "0000000000000000000000000000000\(number)"
    }
  }

  private func set(_ change: (inout ThreadRequest) throws -> Void) throws -> Bool? {
    try service.ask(.setPreferred, change).changed
  }

  @Test("the one that is replaced is kept, and is preferred again by its id")
  func back() throws {
    let first = try network(1).dataset(at: 7)
    _ = try set { $0.dataset = first }
    #expect(try history.isEmpty)
    _ = try set { $0.dataset = try network(2).dataset(at: 1) }
    let kept = try history
    #expect(kept.map(\.dataset) == [first] && kept.first?.networkName == "network-1")
    let id = try #require(kept.first?.id)
    #expect(FormerNetwork.isID(id))
    #expect(try set { $0.id = id } == true)
    #expect(try service.preferred() == first)
    #expect(try history.map(\.networkName) == ["network-2"])
  }

  @Test("it is preferred again by its Extended PAN ID or its name, though no router has it")
  func byName() throws {
    for number in 1...3 { _ = try set { $0.dataset = try network(number).dataset(at: 1) } }
    #expect(try set { $0.network = ExtendedPANID(hex: network(1).extendedPANID) } == true)
    #expect(try service.preferred()?.networkName == "network-1")
    #expect(try set { $0.networkName = "network-2" } == true)
    #expect(try service.preferred()?.networkName == "network-2")
    #expect(
      try service.refusal(.setPreferred) { $0.networkName = "network-9" }?.known == .notFound)
  }

  @Test("of several keys that a network had, its id means those that were preferred last")
  func lastKeys() throws {
    let rekeyed = network(1).with { $0.networkKey = SampleNetwork.guest.networkKey }
    for next in [network(1), rekeyed, network(2)] {
      _ = try set { $0.dataset = try next.dataset(at: 1) }
    }
    let first = try #require(try history.last)
    #expect(try set { $0.network = ExtendedPANID(hex: network(1).extendedPANID) } == true)
    #expect(try service.preferred() == rekeyed.dataset(at: 1))
    #expect(try set { $0.id = first.id } == true)
    #expect(try service.preferred() == network(1).dataset(at: 1))
  }

  @Test("eight are kept, each once, the newest first")
  func limit() throws {
    for number in 0...9 { _ = try set { $0.dataset = try network(number).dataset(at: 1) } }
    #expect(try history.map(\.networkName) == (1...8).reversed().map { "network-\($0)" })
    _ = try set { $0.networkName = "network-5" }
    _ = try set { $0.networkName = "network-9" }
    #expect(
      try history.map(\.networkName) == [5, 8, 7, 6, 4, 3, 2, 1].map { "network-\($0)" })
  }

  @Test("datasets with the same keys push out neither other keys nor the first of their own")
  func sameKeys() throws {
    _ = try set { $0.dataset = try network(1).dataset(at: 1) }
    for channel in 11...24 as ClosedRange<UInt16> {
      _ = try set { $0.dataset = try network(2).with { $0.channel = channel }.dataset(at: 1) }
    }
    #expect(try history.count == FormerNetwork.limit)
    #expect(try history.last?.networkName == "network-1")
    let channels: [UInt16] = [23, 22, 21, 20, 19, 18, 11]
    let kept: [OperationalDataset?] = try channels.map { channel in
      try network(2).with { $0.channel = channel }.dataset(at: 1)
    }
    #expect(try history.dropLast().map(\.dataset) == kept)
  }

  @Test("a name that two networks have is refused, and both are named")
  func ambiguousName() throws {
    _ = try set { $0.dataset = try network(1).dataset(at: 1) }
    try service.keep(Agent.living, network(2).with { $0.name = "network-1" }, at: 1, team: "bob")
    let refusal = try service.refusal(.setPreferred) { $0.networkName = "network-1" }
    #expect(refusal?.known == .invalidPayload && refusal?.field == "network_name")
    for number in 1...2 {
      #expect(refusal?.message.contains(network(number).extendedPANID) == true)
    }
  }

  @Test("different keys of one network are refused, and who has them is named")
  func ambiguousKeys() throws {
    _ = try set { $0.dataset = try network(1).dataset(at: 1) }
    let other = network(2).with { $0.networkKey = SampleNetwork.guest.networkKey }
    try service.keep(Agent.living, network(2), at: 1, team: "bob")
    try service.keep(Agent.attic, other, at: 9, team: "mallory")
    let id = ExtendedPANID(hex: network(2).extendedPANID)
    let refusal = try service.refusal(.setPreferred) { $0.network = id }
    #expect(refusal?.known == .invalidPayload)
    for agent in [Agent.living, Agent.attic] { #expect(refusal?.message.contains(agent) == true) }
    #expect(refusal?.help?.contains("--router") == true)
    let changed = try set {
      $0.network = id
      $0.agent = BorderAgentID(hex: Agent.living)
    }
    #expect(changed == true)
    #expect(try service.preferred() == network(2).dataset(at: 1))
  }

  @Test("forgotten, no network is preferred until a person chooses one, whoever stores what")
  func forget() throws {
    try service.keep(Agent.living, .home, at: 1)
    let kept = try service.ask(.forgetPreferred).forgotten
    #expect(kept?.map(\.networkName) == ["home"])
    #expect(try service.preferred() == nil)
    service.isAdministrator = false
    for isOnThisMachine in [true, false] {
      service.isOnThisMachine = isOnThisMachine
      try service.keep(Agent.living, .home, at: 2)
      try service.keep(Agent.attic, .guest, at: 1)
      #expect(try service.preferred() == nil)
      #expect(
        try service.refusal(.setPreferred) { $0.dataset = try SampleNetwork.guest.dataset(at: 1) }?
          .known == .notAuthorized)
    }
    service.isAdministrator = true
    #expect(try service.refusal(.forgetPreferred)?.known == .notFound)
    _ = try service.ask(.deleteCredentials) { $0.agent = BorderAgentID(hex: Agent.living) }
    #expect(try set { $0.networkName = "home" } == true)
    #expect(try service.preferred() == SampleNetwork.home.dataset(at: 1))
  }

  @Test("a network is deleted from the history, and the preferred one is not")
  func forgetNetwork() throws {
    for number in 1...2 { _ = try set { $0.dataset = try network(number).dataset(at: 1) } }
    try service.keep(Agent.living, network(1), at: 1)
    let preferred = try service.refusal(.forgetNetwork) {
      $0.network = ExtendedPANID(hex: network(2).extendedPANID)
    }
    #expect(preferred?.known == .conflict && preferred?.help?.contains("preferred set") == true)
    let data = try service.ask(.forgetNetwork) {
      $0.network = ExtendedPANID(hex: network(1).extendedPANID)
    }
    #expect(data.forgotten?.map(\.networkName) == ["network-1"])
    #expect(data.remaining == [Agent.living])
    #expect(try history.isEmpty)
    #expect(
      try service.refusal(.forgetNetwork) {
        $0.network = ExtendedPANID(hex: network(1).extendedPANID)
      }?.known == .notFound)
  }

  @Test("only the daemon's own user forgets anything")
  func others() throws {
    try service.keep(Agent.living, .home, at: 1)
    service.isAdministrator = false
    for isOnThisMachine in [true, false] {
      service.isOnThisMachine = isOnThisMachine
      #expect(try service.refusal(.forgetPreferred)?.known == .notAuthorized)
      #expect(
        try service.refusal(.forgetNetwork) {
          $0.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
        }?.known == .notAuthorized)
    }
  }

  @Test("a damaged preferred network can be forgotten and replaced")
  func damaged() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.damagePreferred()
    #expect(try service.ask(.forgetPreferred).changed == true)
    #expect(try service.preferred() == nil)
    #expect(try set { $0.networkName = "home" } == true)
  }
}
