// SPDX-License-Identifier: Apache-2.0

import CredentialService
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@Suite("Storing and deleting by request")
struct StoreTests {
  let service: Service

  init() throws { service = try Service() }

  @Test("the first one is stored, the same again is unchanged, another is an update")
  func upsert() throws {
    #expect(try service.keep(Agent.living, .home, at: 1).change == .stored)
    #expect(try service.keep(Agent.living, .home, at: 1).change == .unchanged)
    #expect(try service.keep(Agent.living, .home, at: 2).change == .updated)
    #expect(try service.stored(Agent.living)?.dataset.activeTimestamp?.seconds == 2)
    #expect(
      service.takeHeard() == [
        "stored \(Agent.living), preferred", "kept \(Agent.living)",
        "updated \(Agent.living), preferred",
      ])
  }

  @Test("an older dataset of the same network replaces the newer one: it is what holds now")
  func older() throws {
    try service.keep(Agent.living, .home, at: 10)
    #expect(try service.keep(Agent.living, .home, at: 3).change == .updated)
    #expect(try service.stored(Agent.living)?.dataset.activeTimestamp?.seconds == 3)
  }

  @Test("a dataset of the same age with other content replaces it too")
  func conflict() throws {
    try service.keep(Agent.living, .home, at: 10)
    let other = SampleNetwork.home.with { $0.channel = 25 }
    #expect(try service.keep(Agent.living, other, at: 10).change == .updated)
    #expect(try service.stored(Agent.living)?.dataset.channel?.number == 25)
  }

  @Test("the first network that is stored becomes the preferred one, the second does not")
  func firstIsPreferred() throws {
    #expect(try service.keep(Agent.living, .home, at: 1).preferred == .match)
    #expect(try service.keep(Agent.attic, .guest, at: 1).preferred == .mismatch)
    #expect(try service.preferred()?.networkName == "home")
  }

  @Test("a home has a preferred network of its own")
  func homes() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.living, .guest, at: 1, home: "cabin")
    #expect(try service.preferred("home")?.networkName == "home")
    #expect(try service.preferred("cabin")?.networkName == "guest-thread")
  }

  @Test("a program of the owning team on this machine moves the preferred network anywhere")
  func memberMoves() throws {
    service.isOnThisMachine = true
    try service.keep(Agent.living, .home, at: 1)
    #expect(try service.keep(Agent.living, .guest, at: 1).preferred == .match)
    #expect(try service.preferred()?.networkName == "guest-thread")
    #expect(try service.keep(Agent.living, .home, at: 1).preferred == .match)
    #expect(try service.preferred()?.networkName == "home")
  }

  @Test("over the broker a change under a member's id moves it to no other network, key or past")
  func memberOverTheBroker() throws {
    try service.keep(Agent.living, .home, at: 5)
    try service.keep(Agent.attic, .home, at: 5)
    let rekeyed = SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey }
    for (network, seconds) in [(SampleNetwork.guest, 9), (rekeyed, 4), (rekeyed, 9)] {
      #expect(try service.keep(Agent.living, network, at: UInt64(seconds)).preferred == .mismatch)
      #expect(try service.preferred() == SampleNetwork.home.dataset(at: 5))
      try service.keep(Agent.living, .home, at: 5)
    }
  }

  @Test("a change under the id of a router that is no member leaves the preferred network alone")
  func notMember() throws {
    try service.keep(Agent.living, .home, at: 1)
    try service.keep(Agent.attic, .guest, at: 1)
    try service.keep(Agent.attic, .guest, at: 2)
    #expect(try service.preferred() == SampleNetwork.home.dataset(at: 1))
  }

  @Test("to name the preferred network's Extended PAN ID makes no member")
  func impostor() throws {
    try service.keep(Agent.living, .home, at: 1)
    let impostor = SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey }
    try service.keep(Agent.attic, impostor, at: 5)
    try service.keep(Agent.attic, impostor, at: 6)
    #expect(try service.preferred() == SampleNetwork.home.dataset(at: 1))
  }

  @Test("deleted, then stored under a new id: the preferred network stays as it is")
  func newID() throws {
    try service.keep(Agent.living, .home, at: 1)
    #expect(
      try service.ask(.deleteCredentials) { $0.agent = BorderAgentID(hex: Agent.living) }.deleted
        == true)
    #expect(try service.preferred()?.networkName == "home")
    #expect(try service.keep(Agent.attic, .guest, at: 1).preferred == .mismatch)
    #expect(try service.preferred()?.networkName == "home")
    // And the old id is no member any more either.
    try service.keep(Agent.living, .guest, at: 1)
    #expect(try service.preferred()?.networkName == "home")
  }

  @Test("16 bytes with a tail of zeros are the same router as the 8 bytes")
  func alias() throws {
    try service.keep(Agent.living, .home, at: 1)
    #expect(
      try service.keep(Agent.living + "0000000000000000", .home, at: 1).change == .unchanged)
    #expect(try service.keep(Agent.garage, .home, at: 1).change == .stored)
    #expect(
      try service.ask(.listCredentials).credentials?.compactMap(\.agent?.description)
        == [Agent.living, Agent.garage])
  }

  @Test("to delete what is not there is not found, and nothing changes")
  func deleteUnknown() throws {
    try service.keep(Agent.living, .home, at: 1)
    _ = service.takeHeard()
    let refusal = try service.refusal(.deleteCredentials) {
      $0.agent = BorderAgentID(hex: Agent.attic)
    }
    #expect(refusal?.known == .notFound)
    #expect(refusal?.field == "border_agent_id")
    #expect(try service.stored(Agent.living) != nil)
    #expect(service.takeHeard().isEmpty)
  }

  @Test("another team can neither store nor delete under a border agent id, nor take it over")
  func otherTeam() throws {
    try service.keep(Agent.living, .home, at: 1)
    for _ in 0..<2 {
      let stored = try service.refusal(.storeCredentials, team: "bob") {
        $0.agent = BorderAgentID(hex: Agent.living)
        $0.dataset = try SampleNetwork.guest.dataset(at: 9)
      }
      #expect(stored?.known == .notAuthorized)
    }
    #expect(
      try service.refusal(.deleteCredentials, team: "bob") {
        $0.agent = BorderAgentID(hex: Agent.living)
      }?.known == .notAuthorized)
    #expect(try service.stored(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    // The id goes on belonging to its team when its credentials are gone.
    _ = try service.ask(.deleteCredentials) { $0.agent = BorderAgentID(hex: Agent.living) }
    #expect(
      try service.refusal(.storeCredentials, team: "bob") {
        $0.agent = BorderAgentID(hex: Agent.living)
        $0.dataset = try SampleNetwork.guest.dataset(at: 9)
      }?.known == .notAuthorized)
    #expect(try service.keep(Agent.living, .home, at: 2).change == .stored)
  }

  @Test("teams whose names only look the same are two teams")
  func lookalikes() throws {
    try service.keep(Agent.living, .home, at: 1, team: "caf\u{E9}")
    #expect(
      try service.refusal(.deleteCredentials, team: "cafe\u{301}") {
        $0.agent = BorderAgentID(hex: Agent.living)
      }?.known == .notAuthorized)
    #expect(try service.ask(.listCredentials, team: "cafe\u{301}").credentials == [])
  }

  @Test("the daemon's own user may delete what any team has stored")
  func administrator() throws {
    try service.keep(Agent.living, .home, at: 1)
    var context = service.context(team: "somebody")
    context.isAdministrator = true
    var request = ThreadRequest(.deleteCredentials)
    request.agent = BorderAgentID(hex: Agent.living)
    _ = try service.reply(request, context)
    #expect(try service.stored(Agent.living) == nil)
  }

}
