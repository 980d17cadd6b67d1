// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

@testable import Bridge

@Suite("New keys of the preferred network need confirmation")
struct PreferredKeyTests {
  let bridge: TestBridge
  let home = SampleNetwork.home
  let rekeyed = SampleNetwork.home.with { $0.networkKey = "000102030405060708090a0b0c0d0e0f" }

  init() throws {
    bridge = try TestBridge()
    try bridge.announce(Agent.living, home, at: 1)
    try bridge.announce(Agent.attic, home, at: 1)
    _ = try bridge.takeEvents()
  }

  private var dispute: AlertRecord? {
    get throws { try bridge.alert(.preferredKeyDisputed) }
  }

  private func set(_ change: (inout ThreadRequest) throws -> Void) throws -> AnswerData {
    var request = ThreadRequest(.setPreferred)
    try change(&request)
    return try bridge.command(request).result()
  }

  @Test("One member's new key is stored for it, disputed, and no router is called stale")
  func disputed() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try bridge.takeNames() == ["dataset_updated"])
    #expect(try bridge.credential(Agent.living)?.dataset == rekeyed.dataset(at: 2))
    #expect(try bridge.preferred() == home.dataset(at: 1))
    #expect(try bridge.router(Agent.attic)?.preferred == "match")
    #expect(try dispute?.phase == .held)
    try bridge.pass(30)
    #expect(try bridge.firing().filter { !$0.hasPrefix("Plaintext") } == ["PreferredKeyDisputed"])
    let facts = try #require(try dispute).facts
    #expect(facts.summary.contains(Agent.living) && facts.summary.contains(Agent.attic))
    #expect(
      facts.remedy.contains(
        "`threadkeeper preferred set \(home.extendedPANID) --router \(Agent.living)`"))
    #expect(facts.remedy.contains("give \(Agent.living) the current dataset"))
    #expect(facts.differs == ["network_key"])
    // A restart, and saying it again, change nothing.
    try bridge.restart()
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.pass(1)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute?.phase == .firing)
  }

  @Test("The alert's field has the router's whole name, its sentences have it quoted and cut")
  func longName() throws {
    let name = "The living room on the second floor, by the window"
    try bridge.announce(Agent.living, rekeyed, at: 2, ["name": name])
    let facts = try #require(try dispute).facts
    #expect(facts.routerName == name)
    #expect(facts.summary.hasPrefix("\"The living room") && !facts.summary.contains(name))
  }

  @Test("A PSKc counts as a key")
  func pskc() throws {
    let other = home.with { $0.pskc = "000102030405060708090a0b0c0d0e0f" }
    try bridge.announce(Agent.living, other, at: 2)
    #expect(try bridge.preferred() == home.dataset(at: 1))
    #expect(try dispute?.facts.differs == ["pskc"])
  }

  @Test(
    "A second member's report makes the new key the preferred one; an event and an alert say so")
  func confirmed() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2, ["name": "Living room"])
    _ = try bridge.takeEvents()
    try bridge.announce(Agent.attic, rekeyed, at: 2, ["name": "Attic"])
    #expect(
      try bridge.takeNames().filter { !$0.hasPrefix("alert") }
        == ["dataset_updated", "preferred_changed"])
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2))
    for agent in [Agent.living, Agent.attic] {
      #expect(try bridge.router(agent)?.preferred == "match")
      #expect(try bridge.credential(agent)?.followsPreferred == true)
    }
    #expect(try dispute?.phase != .held && dispute?.phase != .firing)
    let changed = try #require(try bridge.alert(.preferredNetworkChanged))
    #expect(changed.phase == .firing && changed.name.severity == .info)
    #expect(
      changed.facts.summary
        == #"the preferred network "home" has new keys: "Attic" and "Living room" report them"#)
    #expect(changed.facts.remedy.contains("`threadkeeper preferred set p-"))
    try bridge.pass(86_399)
    #expect(try bridge.alert(.preferredNetworkChanged)?.phase == .firing)
    try bridge.pass(1)
    #expect(try bridge.alert(.preferredNetworkChanged)?.phase == .resolved)
  }

  @Test("Where two teams have members, a second router of the same team confirms nothing")
  func teams() throws {
    try bridge.announce(Agent.garage, home, at: 1, user: "bert")
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.announce(Agent.attic, rekeyed, at: 2)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute?.phase == .held)
    try bridge.announce(Agent.garage, rekeyed, at: 2, user: "bert")
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
  }

  @Test("A claim ends when its router takes the current dataset, which is older than its own")
  func takenBack() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.pass(30)
    try bridge.announce(Agent.living, home, at: 1)
    #expect(try dispute?.phase == .resolved)
    #expect(try bridge.credential(Agent.living)?.dataset == home.dataset(at: 1))
    #expect(try bridge.router(Agent.living)?.credential == .stored)
    #expect(try bridge.router(Agent.living)?.preferred == "match")
  }

  @Test("A claim ends when its router leaves, moves away or loses its credentials")
  func gone() throws {
    for end in 0..<3 {
      try bridge.announce(Agent.living, home, at: 1)
      try bridge.announce(Agent.living, rekeyed, at: 2)
      #expect(try dispute != nil)
      switch end {
      case 0: try bridge.say(.leave, Agent.living)
      case 1: try bridge.announce(Agent.living, .guest, at: 1)
      default:
        _ = try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.living])
      }
      #expect(try dispute == nil, "end \(end)")
      #expect(try bridge.preferred() == home.dataset(at: 1))
    }
  }

  @Test("When the other side leaves, the claim is that of the only member after 30 days")
  func otherSideGone() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2)
    try bridge.say(.leave, Agent.attic)
    try bridge.pass(30)
    #expect(try dispute?.phase == .firing && bridge.preferred() == home.dataset(at: 1))
    #expect(
      try dispute?.facts.summary.hasSuffix(
        "; \(Agent.attic) had the current ones and left less than 30 days ago") == true)
    try bridge.pass(29 * 86_400)
    #expect(try bridge.preferred() == home.dataset(at: 1))
    try bridge.pass(86_400)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2))
    #expect(try dispute?.phase == .resolved)
  }

  @Test("A person takes the new key by the command of the alert; the others are behind then")
  func personAgrees() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2)
    let answer = try set {
      $0.network = ExtendedPANID(hex: home.extendedPANID)
      $0.agent = BorderAgentID(hex: Agent.living)
    }
    #expect(answer.changed == true)
    #expect(try bridge.preferred() == rekeyed.dataset(at: 2) && dispute == nil)
    #expect(try bridge.router(Agent.attic)?.preferred == "mismatch")
    #expect(try bridge.alert(.staleDataset, Agent.attic)?.phase == .held)
    #expect(try bridge.alert(.preferredNetworkChanged)?.facts.summary.contains("a person") == true)
  }

  @Test("A person stays with the current key: the claim is a mismatch of that router then")
  func personRefuses() throws {
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try set { $0.dataset = try home.dataset(at: 1) }.changed == false)
    #expect(try dispute == nil)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.living)?.phase == .held)
    // It goes on saying so, alone and later with another one.
    try bridge.announce(Agent.living, rekeyed, at: 3)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute == nil)
  }

  @Test("What a person has set is not undone by routers that still have the newer keys")
  func personGoesBack() throws {
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, rekeyed, at: 2) }
    let former = try #require(
      try bridge.database.read { try bridge.store.formerNetworks(of: "home", $0) }.first)
    #expect(try set { $0.id = former.id }.changed == true)
    for seconds in [2, 3] as [UInt64] {
      for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, rekeyed, at: seconds) }
    }
    #expect(try bridge.preferred() == home.dataset(at: 1))
  }

  @Test(
    "Routers that a person's choice has left behind do not undo it with new keys",
    arguments: [InboundEventKind.dataset, nil])
  func leftBehind(event: InboundEventKind?) throws {
    let moved = home.with { $0.channel = 20 }
    for agent in [Agent.living, Agent.attic] { try bridge.announce(agent, moved, at: 5) }
    #expect(try set { $0.dataset = try home.dataset(at: 1) }.changed == true)
    for agent in [Agent.living, Agent.attic] {
      #expect(try bridge.credential(agent)?.followsPreferred == true)
      if event == nil {
        _ = try bridge.storeCredentials(agent, rekeyed, at: 6)
      } else {
        try bridge.say(.dataset, agent, ["dataset": rekeyed.dataset(at: 6).hex])
      }
      #expect(try bridge.credential(agent)?.dataset == rekeyed.dataset(at: 6))
      #expect(try bridge.credential(agent)?.followsPreferred == false)
    }
    try bridge.say(.leave, Agent.attic)
    #expect(try bridge.preferred() == home.dataset(at: 1) && dispute == nil)
    #expect(try bridge.alert(.preferredNetworkMismatch, Agent.living) != nil)
  }

  @Test("By request a router that a person's choice has left behind does not undo it either")
  func leftBehindRequest() throws {
    let moved = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, moved, at: 5)
    #expect(try set { $0.dataset = try home.dataset(at: 1) }.changed == true)
    for network in [moved, home.with { $0.channel = 21 }] {
      let answer = try bridge.storeCredentials(Agent.living, network, at: 6)
      #expect(answer.data?.change == .updated && answer.data?.preferred == .mismatch)
    }
    #expect(try bridge.preferred() == home.dataset(at: 1))
    #expect(try bridge.credential(Agent.living)?.followsPreferred == true)
    // With the preferred parameters it is a member like any other.
    _ = try bridge.storeCredentials(Agent.living, home, at: 7)
    _ = try bridge.storeCredentials(Agent.living, moved, at: 8)
    #expect(try bridge.preferred() == moved.dataset(at: 8))
  }

  @Test("A claimant that takes the current keys again leads, with whatever channel")
  func claimantReturns() throws {
    let moved = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try dispute != nil)
    try bridge.announce(Agent.living, moved, at: 3)
    #expect(try bridge.preferred() == moved.dataset(at: 3) && dispute == nil)
    #expect(try bridge.router(Agent.living)?.preferred == "match")
  }

  @Test("A person who chooses other parameters of the current keys decides the dispute, too")
  func personChoosesParameters() throws {
    let chosen = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, rekeyed, at: 2)
    #expect(try set { $0.dataset = try chosen.dataset(at: 1) }.changed == true)
    #expect(try dispute == nil)
    #expect(try bridge.credential(Agent.living)?.followsPreferred == false)
    #expect(try bridge.credential(Agent.attic)?.followsPreferred == true)
    try bridge.say(.leave, Agent.attic)
    #expect(try bridge.preferred() == chosen.dataset(at: 1))
  }

  @Test("Other parameters follow a single member at once; the alert waits for the others")
  func otherParameters() throws {
    let moved = home.with { $0.channel = 20 }
    try bridge.announce(Agent.living, moved, at: 2)
    #expect(try bridge.preferred() == moved.dataset(at: 2))
    let held = try #require(try bridge.alert(.preferredNetworkChanged))
    #expect(try dispute == nil && held.phase == .held && held.severity == .warning)
    #expect(
      held.facts.summary
        == #"the preferred network "home" has other parameters (channel): "#
        + "\(Agent.living) reports them, and \(Agent.attic) has others")
    let former = try bridge.database.read { try bridge.store.formerNetworks(of: "home", $0) }
    #expect(try former.map(\.dataset) == [home.dataset(at: 1)])
    try bridge.announce(Agent.attic, moved, at: 2)
    let notice = try #require(try bridge.alert(.preferredNetworkChanged))
    #expect(notice.phase == .firing && notice.severity == .info)
    #expect(notice.facts.remedy.contains(former[0].id))
  }

  @Test("Where others do not follow within the hold, the alert is a warning that names them")
  func notFollowed() throws {
    try bridge.announce(Agent.living, home.with { $0.channel = 20 }, at: 2)
    try bridge.pass(30)
    let alert = try #require(try bridge.alert(.preferredNetworkChanged))
    #expect(alert.phase == .firing && alert.severity == .warning)
  }

  @Test(
    "By request no login moves the preferred network back in time, elsewhere, or to a key of its own"
  )
  func request() throws {
    let elsewhere = try SampleNetwork.guest.dataset(at: 9)
    for dataset in [
      try rekeyed.dataset(at: 1), try rekeyed.dataset(at: 0), try rekeyed.dataset(at: 9),
      elsewhere, try home.with { $0.channel = 20 }.dataset(at: 1),
    ] {
      let answer = try bridge.ask(
        .storeCredentials, ["border_agent_id": Agent.living, "dataset": dataset.hex])
      #expect(answer.data?.change == .updated && answer.data?.preferred == .mismatch)
      #expect(try bridge.credential(Agent.living)?.dataset == dataset)
      #expect(try bridge.preferred() == home.dataset(at: 1))
      _ = try bridge.ask(
        .storeCredentials, ["border_agent_id": Agent.living, "dataset": home.dataset(at: 1).hex])
    }
    for fields in [["ext_pan_id": home.extendedPANID], ["dataset": elsewhere.hex]] {
      #expect(try bridge.ask(.setPreferred, fields).code == "not_authorized")
    }
    #expect(try bridge.preferred() == home.dataset(at: 1))
  }

  @Test("Setting the preferred network by name or id never takes the dataset of an untrusted login")
  func untrustedDataset() throws {
    let untrusted = home.with { $0.networkKey = "00000000000000000000000000000001" }
    try bridge.announce(Agent.garage, untrusted, at: 99, user: "mallory")
    #expect(try set { $0.network = ExtendedPANID(hex: home.extendedPANID) }.changed == false)
    #expect(try set { $0.networkName = "home" }.changed == false)
    #expect(try bridge.preferred() == home.dataset(at: 1))
    #expect(try dispute == nil)
  }
}
