// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Decision whether a report changes the preferred network")
struct PreferredDecisionTests {
  private let home = SampleNetwork.home
  private let guest = SampleNetwork.guest
  private let rekeyed = SampleNetwork.home.with {
    $0.networkKey = "00000000000000000000000000000001"
  }

  /// What follows from the whole chain of decisions for one report of a router of anna's.
  private func decide(
    preferred: OperationalDataset?, stored: OperationalDataset?, incoming: OperationalDataset,
    isMember: Bool = true, isForgotten: Bool = false, source: PreferredDecision.Source = .broker,
    others: [PreferredDecision.Member] = [], damaged: [PreferredMembers.Damaged] = [],
    departed: [PreferredMembers.Departed] = []
  ) throws -> PreferredDecision {
    PreferredDecision(
      preferred: preferred, isForgotten: isForgotten, reporter: try member("ff", incoming),
      isMember: isMember, change: DatasetDecision(stored: stored, incoming: incoming),
      source: source
    ) { PreferredMembers(others, damaged: damaged, departed: departed) }
  }

  @Test("The first network of a home becomes preferred")
  func establish() throws {
    let dataset = try home.dataset(at: 1)
    for stored in [nil, dataset, try guest.dataset(at: 9)] {
      #expect(
        try decide(preferred: nil, stored: stored, incoming: dataset, isMember: false)
          == .establish)
    }
  }

  @Test("After a user has forgotten the preferred network, no report establishes another one")
  func forgotten() throws {
    for source in [PreferredDecision.Source.broker, .owner] {
      #expect(
        try decide(
          preferred: nil, stored: nil, incoming: home.dataset(at: 1), isMember: false,
          isForgotten: true, source: source) == .keep)
    }
  }

  @Test("A dataset that is not stored for its router does not change the preferred network")
  func notStored() throws {
    let stored = try home.dataset(at: 5)
    for incoming in [try home.dataset(at: 4), try home.with { $0.channel = 20 }.dataset(at: 5)] {
      for preferred in [nil, stored, try guest.dataset(at: 1)] {
        #expect(try decide(preferred: preferred, stored: stored, incoming: incoming) == .keep)
      }
    }
  }

  @Test("A newer dataset with the same keys is followed from a member, not from another router")
  func sameKeys() throws {
    let preferred = try home.dataset(at: 5)
    let newer = try home.with { $0.channel = 20 }.dataset(at: 6)
    let others = [try member("01", team: "bert", preferred)]
    #expect(
      try decide(preferred: preferred, stored: preferred, incoming: newer, others: others)
        == .follow(.sameKeys))
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: newer, isMember: false, others: others)
        == .keep)
  }

  @Test("A member that is behind is followed only with a timestamp after the preferred one")
  func memberBehind() throws {
    let preferred = try home.dataset(at: 9)
    let stored = try home.dataset(at: 5)
    for seconds in [6, 8, 9] as [UInt64] {
      #expect(
        try decide(preferred: preferred, stored: stored, incoming: home.dataset(at: seconds))
          == .keep)
    }
    #expect(
      try decide(preferred: preferred, stored: stored, incoming: home.dataset(at: 10))
        == .follow(.sameKeys))
  }

  @Test("A dataset with an equal or older timestamp is not followed, whatever its keys")
  func noLaterTimestamp() throws {
    let preferred = try home.dataset(at: 9)
    for seconds in [1, 8, 9] as [UInt64] {
      for network in [rekeyed, home.with { $0.channel = 20 }] {
        #expect(
          try decide(preferred: preferred, stored: nil, incoming: network.dataset(at: seconds))
            == .keep)
      }
    }
  }

  @Test("A dataset with another Extended PAN ID is not followed, even from the only member")
  func otherNetwork() throws {
    let preferred = try home.dataset(at: 100)
    for seconds in [1, 100, 1_000] as [UInt64] {
      #expect(
        try decide(preferred: preferred, stored: preferred, incoming: guest.dataset(at: seconds))
          == .keep)
    }
  }

  @Test(
    "New keys of one member among several are disputed, also when reported again",
    arguments: ["network key", "PSKc"])
  func dispute(of key: String) throws {
    let preferred = try home.dataset(at: 1)
    let network =
      key == "PSKc"
      ? home.with { $0.pskc = "000102030405060708090a0b0c0d0e0f" } : rekeyed
    let incoming = try network.dataset(at: 2)
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: incoming,
        others: [member("01", preferred)]) == .dispute)
    // Reported again, they are still disputed.
    #expect(
      try decide(
        preferred: preferred, stored: incoming, incoming: incoming,
        others: [member("01", preferred)]) == .dispute)
  }

  @Test("New keys of the only member are followed")
  func onlyMember() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    for stored in [preferred, incoming] {
      #expect(
        try decide(preferred: preferred, stored: stored, incoming: incoming)
          == .follow(.onlyMember))
    }
  }

  @Test("New keys of the only member are disputed while damaged credentials name the network")
  func damagedMember() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    let agent = try member("01", preferred).agent
    for damaged in [
      PreferredMembers.Damaged(agent: agent, team: "anna"), .init(agent: agent, team: "bert"),
      .init(agent: nil, team: nil),
    ] {
      #expect(
        try decide(preferred: preferred, stored: preferred, incoming: incoming, damaged: [damaged])
          == .dispute)
    }
    // Nothing else depends on keys that cannot be read.
    #expect(
      try decide(
        preferred: preferred, stored: preferred,
        incoming: home.with { $0.channel = 20 }.dataset(at: 2),
        damaged: [.init(agent: nil, team: nil)]) == .follow(.sameKeys))
  }

  @Test(
    "With damaged credentials of another or unknown team, new keys need a member of another team")
  func damagedTeam() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    let own = try member("01", incoming)
    let other = try member("03", team: "bert", incoming)
    for team in ["bert", nil] {
      let damaged = [PreferredMembers.Damaged(agent: nil, team: team)]
      #expect(
        try decide(
          preferred: preferred, stored: preferred, incoming: incoming, others: [own],
          damaged: damaged) == .dispute)
      #expect(
        try decide(
          preferred: preferred, stored: preferred, incoming: incoming, others: [own, other],
          damaged: damaged) == .follow(.confirmed(by: other.agent)))
    }
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: incoming, others: [own],
        damaged: [.init(agent: nil, team: "anna")]) == .follow(.confirmed(by: own.agent)))
  }

  @Test("A router that had the key when it left counts as a member, of its team")
  func departed() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    let own = try member("01", incoming)
    func decide(_ team: String, _ others: [PreferredDecision.Member]) throws -> PreferredDecision {
      try self.decide(
        preferred: preferred, stored: preferred, incoming: incoming, others: others,
        departed: [.init(agent: member("02", preferred).agent, team: team)])
    }
    for team in ["anna", "bert"] { #expect(try decide(team, []) == .dispute) }
    #expect(try decide("bert", [own]) == .dispute)
    #expect(try decide("anna", [own]) == .follow(.confirmed(by: own.agent)))
    let other = try member("03", team: "carl", incoming)
    #expect(try decide("bert", [own, other]) == .follow(.confirmed(by: other.agent)))
  }

  @Test("New keys that a second member reports too are followed")
  func confirmed() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    let second = try member("02", incoming)
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: incoming,
        others: [member("01", preferred), second]) == .follow(.confirmed(by: second.agent)))
  }

  @Test("New keys are disputed while the second member reports another dataset")
  func otherClaim() throws {
    let preferred = try home.dataset(at: 1)
    let other = rekeyed.with { $0.networkKey = "00000000000000000000000000000002" }
    for dataset in [
      try other.dataset(at: 2), try rekeyed.with { $0.channel = 20 }.dataset(at: 3),
      // Not newer than the preferred one.
      try rekeyed.dataset(at: 1),
    ] {
      #expect(
        try decide(
          preferred: preferred, stored: preferred, incoming: rekeyed.dataset(at: 2),
          others: [member("01", dataset)]) == .dispute)
    }
  }

  @Test("With members of several teams, new keys need a second member of another team")
  func teams() throws {
    let preferred = try home.dataset(at: 1)
    let incoming = try rekeyed.dataset(at: 2)
    let own = try member("01", incoming)
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: incoming,
        others: [own, member("02", team: "bert", preferred)]) == .dispute)
    let other = try member("03", team: "bert", incoming)
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: incoming,
        others: [own, member("02", team: "bert", preferred), other])
        == .follow(.confirmed(by: other.agent)))
  }

  @Test("A router that is not a member is not followed, whatever others report")
  func notMember() throws {
    let preferred = try home.dataset(at: 1)
    for incoming in [try rekeyed.dataset(at: 2), try home.dataset(at: 9), try guest.dataset(at: 9)]
    {
      #expect(
        try decide(
          preferred: preferred, stored: nil, incoming: incoming, isMember: false,
          others: [member("01", incoming)]) == .keep)
      #expect(
        try decide(preferred: preferred, stored: nil, incoming: incoming, isMember: false) == .keep)
    }
  }

  @Test("A dataset that a local program of the owning team stores is followed, whatever it is")
  func owner() throws {
    let preferred = try home.dataset(at: 5)
    let others = [try member("01", team: "bert", preferred)]
    for incoming in [try guest.dataset(at: 1), try rekeyed.dataset(at: 1)] {
      let decision = PreferredDecision(
        preferred: preferred, reporter: try member("ff", incoming), isMember: true,
        change: .update([]), source: .owner
      ) { PreferredMembers(others) }
      #expect(decision == .follow(.owner))
    }
    #expect(
      try decide(
        preferred: preferred, stored: preferred, incoming: preferred, source: .owner,
        others: others) == .keep)
  }

  private func member(
    _ agent: String, team: String = "anna", _ dataset: OperationalDataset
  ) throws -> PreferredDecision.Member {
    PreferredDecision.Member(
      agent: try #require(BorderAgentID(hex: "00000000000000\(agent)")), team: team,
      dataset: dataset)
  }
}
