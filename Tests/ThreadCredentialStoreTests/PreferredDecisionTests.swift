// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Whether the preferred network follows")
struct PreferredDecisionTests {
  typealias Following = PreferredDecision.Following

  let home = SampleNetwork.home
  let guest = SampleNetwork.guest

  /// What follows from the whole chain of decisions for one report.
  private func decide(
    preferred: OperationalDataset?, stored: OperationalDataset?, incoming: OperationalDataset,
    isMember: Bool, following: Following = .sameNetwork
  ) -> PreferredDecision {
    PreferredDecision(
      preferred: preferred, isMember: isMember,
      change: DatasetDecision(stored: stored, incoming: incoming), incoming: incoming,
      following: following)
  }

  @Test("The first network becomes preferred", arguments: [Following.sameNetwork, .any])
  func establish(following: Following) throws {
    let dataset = try home.dataset(at: 1)
    #expect(
      decide(
        preferred: nil, stored: nil, incoming: dataset, isMember: false, following: following)
        == .establish)
    #expect(
      decide(
        preferred: nil, stored: try guest.dataset(at: 9), incoming: dataset, isMember: false,
        following: following) == .establish)
  }

  @Test("Nothing follows from what is not stored", arguments: [Following.sameNetwork, .any])
  func notStored(following: Following) throws {
    let stored = try home.dataset(at: 5)
    let unstored = [
      stored, try home.dataset(at: 4), try home.with { $0.channel = 20 }.dataset(at: 5),
    ]
    for incoming in unstored {
      for preferred in [nil, stored, try guest.dataset(at: 1)] {
        for isMember in [false, true] {
          #expect(
            decide(
              preferred: preferred, stored: stored, incoming: incoming, isMember: isMember,
              following: following) == .keep)
        }
      }
    }
  }

  @Test("A member's newer dataset moves the preferred network, nobody else's does")
  func follow() throws {
    let preferred = try home.dataset(at: 5)
    let newer = try home.with { $0.channel = 20 }.dataset(at: 6)
    for following in [Following.sameNetwork, .any] {
      for (isMember, expected) in [(true, PreferredDecision.follow), (false, .keep)] {
        #expect(
          decide(
            preferred: preferred, stored: preferred, incoming: newer, isMember: isMember,
            following: following) == expected)
      }
    }
  }

  @Test("A member that is behind does not turn the preferred network back")
  func memberBehind() throws {
    let preferred = try home.dataset(at: 9)
    let stored = try home.dataset(at: 5)
    for seconds in [6, 8, 9] as [UInt64] {
      #expect(
        decide(
          preferred: preferred, stored: stored, incoming: try home.dataset(at: seconds),
          isMember: true) == .keep)
    }
    #expect(
      decide(
        preferred: preferred, stored: stored, incoming: try home.dataset(at: 10), isMember: true)
        == .follow)
  }

  @Test("A member that brings other content of the preferred network's age does not replace it")
  func memberConflict() throws {
    let preferred = try home.dataset(at: 9)
    #expect(
      decide(
        preferred: preferred, stored: try home.dataset(at: 5),
        incoming: try home.with { $0.channel = 20 }.dataset(at: 9), isMember: true) == .keep)
  }

  @Test("A member that drifts away takes nothing along, unless every change is to be followed")
  func drift() throws {
    let preferred = try home.dataset(at: 100)
    for seconds in [1, 100, 1_000] as [UInt64] {
      let incoming = try guest.dataset(at: seconds)
      #expect(
        decide(preferred: preferred, stored: preferred, incoming: incoming, isMember: true)
          == .keep)
      #expect(
        decide(
          preferred: preferred, stored: preferred, incoming: incoming, isMember: true,
          following: .any) == .follow)
      #expect(
        decide(
          preferred: preferred, stored: preferred, incoming: incoming, isMember: false,
          following: .any) == .keep)
    }
  }

  @Test("A router that comes over to the preferred network moves nothing, however new its dataset")
  func comingOver() throws {
    let preferred = try home.dataset(at: 5)
    for following in [Following.sameNetwork, .any] {
      for seconds in [4, 5, 500] as [UInt64] {
        #expect(
          decide(
            preferred: preferred, stored: try guest.dataset(at: 1),
            incoming: try home.dataset(at: seconds), isMember: false, following: following)
            == .keep)
      }
    }
  }

  @Test("A new router moves nothing", arguments: [Following.sameNetwork, .any])
  func newRouter(following: Following) throws {
    for incoming in [try home.dataset(at: 500), try guest.dataset(at: 500)] {
      #expect(
        decide(
          preferred: try home.dataset(at: 5), stored: nil, incoming: incoming, isMember: false,
          following: following) == .keep)
    }
  }
}
