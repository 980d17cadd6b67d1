// SPDX-License-Identifier: Apache-2.0

import CredentialService
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite struct StoreDecisionTests {
  private func decide(
    _ stored: OperationalDataset?, _ incoming: OperationalDataset,
    preferred: OperationalDataset? = nil, isMember: Bool = false
  ) -> StoreDecision {
    StoreDecision(stored: stored, incoming: incoming, preferred: preferred, isMember: isMember)
  }

  @Test("what is stored by hand replaces what is there, older and of the same age too")
  func replaces() throws {
    let network = SampleNetwork.home
    let other = network.with { $0.channel = 20 }
    let stored = try network.dataset(at: 10)
    #expect(decide(nil, stored).change == .store)
    #expect(decide(stored, stored).change == .keep)
    #expect(decide(stored, try network.dataset(at: 11)).change == .update([]))
    #expect(decide(stored, try network.dataset(at: 9)).change == .update([]))
    #expect(decide(stored, try other.dataset(at: 10)).change == .update([.channel]))
    let guest = try SampleNetwork.guest.dataset(at: 1)
    let moved = decide(stored, guest).change
    #expect(moved == .move(from: stored.extendedPANID, guest.essentialDifferences(from: stored)))
  }

  @Test("the preferred network follows every change of a member, and of nobody else")
  func follows() throws {
    let home = try SampleNetwork.home.dataset(at: 10)
    let guest = try SampleNetwork.guest.dataset(at: 1)
    let older = try SampleNetwork.home.dataset(at: 9)
    #expect(decide(nil, home).preferred == .establish)
    #expect(decide(home, home).preferred == .establish)
    #expect(decide(nil, guest, preferred: home).preferred == .keep)
    for incoming in [guest, older] {
      #expect(decide(home, incoming, preferred: home, isMember: true).preferred == .follow)
      #expect(decide(home, incoming, preferred: home).preferred == .keep)
    }
    #expect(decide(home, home, preferred: home, isMember: true).preferred == .keep)
  }
}
