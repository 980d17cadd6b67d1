// SPDX-License-Identifier: Apache-2.0

import CredentialService
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@Suite("The preferred network by request")
struct PreferredTests {
  let service: Service

  init() throws {
    service = try Service()
    service.isOnThisMachine = true
  }

  private func check(_ network: SampleNetwork, at seconds: UInt64) throws -> AnswerData {
    try service.ask(.checkPreferred, team: "bob") { $0.dataset = try network.dataset(at: seconds) }
  }

  private func set(_ network: SampleNetwork, team: String = "anna") throws -> Bool? {
    try service.ask(.setPreferred, team: team) {
      $0.network = ExtendedPANID(hex: network.extendedPANID)
    }.changed
  }

  @Test("available is told without consent, to everybody")
  func available() throws {
    #expect(try service.ask(.isPreferredAvailable, team: "bob").available == false)
    try service.keep(Agent.living, .home, at: 1)
    #expect(try service.ask(.isPreferredAvailable, team: "bob").available == true)
  }

  @Test("the check has three values, and names what differs")
  func check() throws {
    #expect(try check(.home, at: 1).result == AnswerData.Check.none)
    try service.keep(Agent.living, .home, at: 1)
    let match = try check(.home, at: 99)
    #expect(match.result == .match)
    #expect(match.differs == [])
    let other = SampleNetwork.home.with { $0.channel = 20 }
    let mismatch = try check(other, at: 1)
    #expect(mismatch.result == .mismatch)
    #expect(mismatch.differs == ["channel"])
  }

  @Test("a network that the own team has stored can be set; the registry hears of it")
  func set() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1)
    _ = service.takeHeard()
    #expect(try set(.guest) == true)
    #expect(try service.preferred()?.networkName == "guest-thread")
    #expect(try set(.guest) == false)
    #expect(service.takeHeard() == ["preferred guest-thread"])
  }

  @Test("of several datasets of the network the newest is taken")
  func newest() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 5)
    try service.keep(Agent.garage, .guest, at: 9)
    _ = try set(.guest)
    #expect(try service.preferred()?.activeTimestamp?.seconds == 9)
  }

  @Test("a network that only another team has stored is not found")
  func otherTeam() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1, team: "bob")
    let refusal = try service.refusal(.setPreferred) {
      $0.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    }
    #expect(refusal?.known == .notFound)
    #expect(try service.preferred()?.networkName == "home")
  }

  @Test("who has no router on the preferred network cannot replace it, by a dataset neither")
  func outsider() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1, team: "bob")
    let impostor = SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey }
    try service.keep(Agent.garage, impostor, at: 9, team: "bob")
    for network in [SampleNetwork.guest, impostor] {
      for request in [true, false] {
        let refusal = try service.refusal(.setPreferred, team: "bob") {
          if request {
            $0.network = ExtendedPANID(hex: network.extendedPANID)
          } else {
            $0.dataset = try network.dataset(at: 99)
          }
        }
        #expect(refusal?.known == .notAuthorized)
      }
    }
    #expect(try service.preferred() == SampleNetwork.home.dataset(at: 1))
    // With a router on it, the team can.
    try service.keep("0102030405060708", .home, at: 1, team: "bob")
    #expect(try set(.guest, team: "bob") == true)
  }

  @Test("the daemon's own user can replace it, a damaged one too")
  func administrator() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1, team: "bob")
    try service.damagePreferred()
    var request = ThreadRequest(.setPreferred)
    request.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    #expect(throws: AnswerFailure.self) {
      try service.reply(request, service.context(team: "bob"))
    }
    var context = service.context(team: "uid/0")
    context.isAdministrator = true
    _ = try service.reply(request, context)
    #expect(try service.preferred() == SampleNetwork.guest.dataset(at: 1))
  }

  @Test("a dataset can be set that nobody has stored")
  func setDataset() throws {
    let dataset = try SampleNetwork.guest.dataset(at: 3)
    #expect(try service.ask(.setPreferred) { $0.dataset = dataset }.changed == true)
    #expect(try service.preferred() == dataset)
  }

  @Test("a router that holds the dataset that is set is a member from then on")
  func membership() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1)
    _ = try set(.guest)
    try service.keep(Agent.attic, .guest, at: 2)
    #expect(try service.preferred() == SampleNetwork.guest.dataset(at: 2))
    // The member of the network before does not drag it back.
    try service.keep(Agent.living, .home, at: 2)
    #expect(try service.preferred() == SampleNetwork.guest.dataset(at: 2))
  }

  @Test("a damaged preferred network is named by every command that needs it, and nothing changes")
  func damaged() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.damagePreferred()
    for command in [RequestCommand.isPreferredAvailable, .getPreferred] {
      #expect(try service.refusal(command)?.known == .damagedCredentials)
    }
    _ = service.takeHeard()
    #expect(
      try service.refusal(.storeCredentials) {
        $0.agent = BorderAgentID(hex: Agent.attic)
        $0.dataset = try SampleNetwork.guest.dataset(at: 1)
      }?.known == .damagedCredentials)
    #expect(try service.stored(Agent.attic) == nil)
    #expect(service.takeHeard().isEmpty)
  }
}
