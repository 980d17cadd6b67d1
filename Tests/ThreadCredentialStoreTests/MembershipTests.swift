// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Membership of the preferred network")
struct MembershipTests {
  let home = SampleNetwork.home

  private func follows(
    _ wasMember: Bool, _ dataset: OperationalDataset, _ preferred: OperationalDataset?
  ) -> Bool {
    Membership.follows(wasMember: wasMember, dataset: dataset, preferred: preferred)
  }

  @Test("Without a preferred network no router is a member")
  func noPreferred() throws {
    #expect(!follows(true, try home.dataset(at: 1), nil))
  }

  @Test("A router with the preferred dataset becomes a member, whatever the timestamp")
  func holder() throws {
    for seconds in [1, 5, 9] as [UInt64] {
      #expect(follows(false, try home.dataset(at: seconds), try home.dataset(at: 5)))
    }
  }

  @Test("A router with the preferred keys is a member, whatever else its dataset says")
  func keyHolder() throws {
    let moved = home.with { $0.channel = 20 }
    for seconds in [1, 5, 9] as [UInt64] {
      #expect(follows(false, try moved.dataset(at: seconds), try home.dataset(at: 5)))
    }
  }

  @Test("A timestamp is too far ahead of the clock after a year, with the preferred keys only")
  func farAhead() throws {
    let year: UInt64 = 365 * 86_400
    let now: Int64 = 1_700_000_000
    let latest = UInt64(now) + year
    let preferred = try home.dataset(at: 5)
    let moved = home.with { $0.channel = 20 }
    let table: [(SampleNetwork, UInt64, Bool)] = [
      (moved, 6, false), (moved, latest, false), (moved, latest + 1, true),
      (home, latest + 1, true),
      (moved, 0xFFFF_FFFF_FFFF, true), (.guest, latest + 1, false),
      (home.with { $0.networkKey = SampleNetwork.guest.networkKey }, latest + 1, false),
    ]
    for (network, seconds, expected) in table {
      #expect(
        Membership.isTooFarAhead(try network.dataset(at: seconds), preferred: preferred, now: now)
          == expected, "\(seconds)")
    }
    let far = try home.dataset(at: latest + 100)
    // What a person has chosen is not further ahead than itself.
    #expect(!Membership.isTooFarAhead(far, preferred: far, now: now))
    #expect(!Membership.isTooFarAhead(far, preferred: nil, now: now))
    #expect(Membership.isTooFarAhead(far, preferred: preferred, now: -1))
  }

  @Test("A router with only the preferred Extended PAN ID, but another key, is not a member")
  func otherKey() throws {
    let otherKey = home.with { $0.networkKey = "00000000000000000000000000000001" }
    for seconds in [1, 5, 1_000] as [UInt64] {
      #expect(!follows(false, try otherKey.dataset(at: seconds), try home.dataset(at: 5)))
    }
  }

  @Test("A member stays a member until it reports another Extended PAN ID")
  func staying() throws {
    let preferred = try home.dataset(at: 5)
    #expect(follows(true, try home.with { $0.channel = 20 }.dataset(at: 6), preferred))
    #expect(!follows(true, try SampleNetwork.guest.dataset(at: 6), preferred))
  }

  @Test(
    "A member left behind by a user's choice leads again only with the preferred parameters"
  )
  func leftBehind() throws {
    let rekeyed = home.with { $0.networkKey = "00000000000000000000000000000001" }
    let preferred = try home.dataset(at: 5)
    let stored = try home.with { $0.channel = 20 }.dataset(at: 9)
    for incoming in [
      try home.with { $0.channel = 20 }.dataset(at: 10),
      try home.with { $0.channel = 21 }.dataset(at: 10), try rekeyed.dataset(at: 10),
    ] {
      #expect(!Membership.leads(stored: stored, incoming: incoming, preferred: preferred))
      #expect(
        Membership.stays(false, dataset: incoming, preferred: preferred)
          == incoming.hasKeys(of: preferred))
    }
    #expect(
      Membership.leads(stored: stored, incoming: try home.dataset(at: 10), preferred: preferred))
  }

  @Test(
    "A member leads if it is up to date or behind, claims other keys or has no credentials")
  func leads() throws {
    let rekeyed = home.with { $0.networkKey = "00000000000000000000000000000001" }
    let preferred = try home.dataset(at: 5)
    for stored in [
      nil, preferred, try home.with { $0.channel = 20 }.dataset(at: 4),
      try home.with { $0.channel = 20 }.dataset(at: 5), try rekeyed.dataset(at: 9),
    ] {
      for incoming in [
        try home.with { $0.channel = 21 }.dataset(at: 10), try rekeyed.dataset(at: 10),
      ] {
        #expect(Membership.leads(stored: stored, incoming: incoming, preferred: preferred))
        #expect(Membership.stays(true, dataset: incoming, preferred: preferred))
      }
    }
    #expect(Membership.leads(stored: preferred, incoming: preferred, preferred: nil))
    #expect(Membership.stays(false, dataset: preferred, preferred: nil))
  }

  @Test(
    "A router without the preferred key never changes the preferred network, whatever it reports")
  func otherKeyReportedOften() throws {
    var generator = SeededGenerator(seed: 11)
    let preferred = try home.dataset(at: 50)
    let otherKey = home.with { $0.networkKey = "00000000000000000000000000000001" }
    var stored: OperationalDataset?
    var isMember = false
    for _ in 0..<300 {
      let network = [otherKey, otherKey.with { $0.channel = 20 }, .guest]
        .randomElement(using: &generator)
      let incoming = try #require(network).dataset(
        at: UInt64.random(in: 1...100, using: &generator))
      let change = DatasetDecision(stored: stored, incoming: incoming)
      let agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
      #expect(
        PreferredDecision(
          preferred: preferred,
          reporter: .init(agent: agent, team: "mallory", dataset: incoming), isMember: isMember,
          change: change
        ) { PreferredMembers() } == .keep)
      guard change.isStored else { continue }
      stored = incoming
      isMember = follows(isMember, incoming, preferred)
      #expect(!isMember)
    }
  }
}
