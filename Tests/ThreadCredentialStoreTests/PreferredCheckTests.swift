// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Check of a router's dataset against the preferred network")
struct PreferredCheckTests {
  let home = SampleNetwork.home
  let guest = SampleNetwork.guest

  @Test("Without a dataset or a preferred network the result is `none`")
  func none() throws {
    let dataset = try home.dataset(at: 1)
    #expect(PreferredCheck(nil, preferred: dataset) == .none)
    #expect(PreferredCheck(dataset, preferred: nil) == .none)
    #expect(PreferredCheck(nil, preferred: nil) == .none)
  }

  @Test("Equal essential parameters match, whatever the timestamps", arguments: [1, 5, 9])
  func match(seconds: UInt64) throws {
    #expect(
      PreferredCheck(try home.dataset(at: seconds), preferred: try home.dataset(at: 5)) == .match)
  }

  @Test(
    "A dataset of another network is a mismatch, whatever its timestamp",
    arguments: [1, 100, 1_000])
  func otherNetwork(seconds: UInt64) throws {
    #expect(
      PreferredCheck(try guest.dataset(at: seconds), preferred: try home.dataset(at: 100))
        == .mismatch([.networkKey, .extendedPANID, .networkName]))
  }

  @Test(
    "Other parameters of the preferred network are stale, a conflict or a mismatch by their age")
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

  @Test("The published name is `none`, `match` or `mismatch`")
  func names() {
    #expect(PreferredCheck.none.name == "none")
    #expect(PreferredCheck.match.name == "match")
    #expect(PreferredCheck.mismatch([]).name == "mismatch")
    #expect(PreferredCheck.stale([]).name == "mismatch")
    #expect(PreferredCheck.conflict([]).name == "mismatch")
  }
}
