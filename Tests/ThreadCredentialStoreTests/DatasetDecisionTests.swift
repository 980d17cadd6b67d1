// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Decision about a reported dataset")
struct DatasetDecisionTests {
  let home = SampleNetwork.home

  private func decision(_ stored: OperationalDataset?, _ incoming: OperationalDataset)
    -> DatasetDecision
  {
    DatasetDecision(stored: stored, incoming: incoming)
  }

  @Test("The first dataset of a router is stored, whatever its timestamp")
  func first() throws {
    #expect(decision(nil, try home.dataset(at: 0)) == .store)
    #expect(decision(nil, try home.dataset(at: 100)) == .store)
  }

  @Test("The stored dataset reported again, with its TLVs in any order, changes nothing")
  func same() throws {
    let vectors = try DatasetVectors.all()
    let first = try OperationalDataset(hex: try #require(vectors.first { $0.id == "G1" }).hex)
    let reordered = try OperationalDataset(
      hex: try #require(vectors.first { $0.id == "G14-reordered" }).hex)
    #expect(decision(first, first) == .keep)
    #expect(decision(first, reordered) == .keep)
    #expect(decision(reordered, first) == .keep)
  }

  @Test("Datasets of the same age that differ in non-essential TLVs only do not conflict")
  func notEssential() throws {
    let stored = try home.dataset(at: 5)
    let mask = try stored.replacing(.channelMask(ChannelMask(channels: [15])))
    let unknown = try stored.replacing(.other(TLV(type: 170, value: [1])))
    #expect(decision(stored, mask) == .keep)
    #expect(decision(stored, unknown) == .keep)
  }

  @Test("A newer dataset of the same network is stored, and names the changed parameters")
  func newer() throws {
    let stored = try home.dataset(at: 5)
    #expect(decision(stored, try home.dataset(at: 6)) == .update([]))
    #expect(decision(stored, try home.dataset(at: 5, ticks: 1)) == .update([]))
    let moved = home.with {
      $0.channel = 20
      $0.networkKey = "00000000000000000000000000000001"
    }
    #expect(decision(stored, try moved.dataset(at: 6)) == .update([.networkKey, .channel]))
  }

  @Test("An older dataset of the same network is ignored, whether its content differs or not")
  func older() throws {
    let stored = try home.dataset(at: 5, ticks: 7)
    #expect(decision(stored, try home.dataset(at: 5, ticks: 6)) == .ignoreOlder)
    #expect(decision(stored, try home.dataset(at: 4)) == .ignoreOlder)
    #expect(decision(stored, try home.with { $0.channel = 20 }.dataset(at: 4)) == .ignoreOlder)
  }

  @Test("A different dataset of the same age is a conflict, and names the differing parameters")
  func conflict() throws {
    let stored = try home.dataset(at: 5)
    let other = home.with {
      $0.name = "Home"
      $0.pskc = "00000000000000000000000000000001"
    }
    #expect(decision(stored, try other.dataset(at: 5)) == .conflict([.networkName, .pskc]))
  }

  @Test(
    "A dataset of another network is a move, whatever its timestamp", arguments: [1, 100, 1_000])
  func move(seconds: UInt64) throws {
    let stored = try home.dataset(at: 100)
    let incoming = try SampleNetwork.guest.dataset(at: seconds)
    #expect(
      decision(stored, incoming)
        == .move(from: stored.extendedPANID, [.networkKey, .extendedPANID, .networkName]))
  }

  @Test("Only a first, newer or moved dataset is stored")
  func stored() {
    let all: [(DatasetDecision, Bool)] = [
      (.store, true), (.keep, false), (.update([]), true), (.move(from: nil, []), true),
      (.ignoreOlder, false), (.conflict([.channel]), false),
    ]
    for (decision, isStored) in all { #expect(decision.isStored == isStored, "\(decision)") }
  }
}
