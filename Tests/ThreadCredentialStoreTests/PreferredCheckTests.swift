// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("A router against the preferred network")
struct PreferredCheckTests {
  let home = SampleNetwork.home
  let guest = SampleNetwork.guest

  @Test("Without a dataset or a preferred network there is nothing to check")
  func none() throws {
    let dataset = try home.dataset(at: 1)
    #expect(PreferredCheck(nil, preferred: dataset) == .none)
    #expect(PreferredCheck(dataset, preferred: nil) == .none)
    #expect(PreferredCheck(nil, preferred: nil) == .none)
  }

  @Test("Equal essential parameters match, whatever the timestamps say", arguments: [1, 5, 9])
  func match(seconds: UInt64) throws {
    #expect(
      PreferredCheck(try home.dataset(at: seconds), preferred: try home.dataset(at: 5)) == .match)
  }

  @Test("Another network is a mismatch at any age", arguments: [1, 100, 1_000])
  func otherNetwork(seconds: UInt64) throws {
    #expect(
      PreferredCheck(try guest.dataset(at: seconds), preferred: try home.dataset(at: 100))
        == .mismatch([.networkKey, .extendedPANID, .networkName]))
  }

  @Test("The preferred network with other content: stale, conflict or mismatch by its age")
  func sameNetwork() throws {
    let other = home.with { $0.networkKey = "00000000000000000000000000000001" }
    let preferred = try home.dataset(at: 5)
    #expect(
      PreferredCheck(try other.dataset(at: 4), preferred: preferred) == .stale([.networkKey]))
    #expect(
      PreferredCheck(try other.dataset(at: 5), preferred: preferred) == .conflict([.networkKey]))
    #expect(
      PreferredCheck(try other.dataset(at: 6), preferred: preferred) == .mismatch([.networkKey]))
  }

  @Test("Three words are published")
  func names() {
    #expect(PreferredCheck.none.name == "none")
    #expect(PreferredCheck.match.name == "match")
    #expect(PreferredCheck.mismatch([]).name == "mismatch")
    #expect(PreferredCheck.stale([]).name == "mismatch")
    #expect(PreferredCheck.conflict([]).name == "mismatch")
  }
}
