// SPDX-License-Identifier: Apache-2.0

import CredentialService
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite struct StoreDecisionTests {
  @Test("what is stored by hand replaces what is there, older and of the same age too")
  func replaces() throws {
    let network = SampleNetwork.home
    let other = network.with { $0.channel = 20 }
    let stored = try network.dataset(at: 10)
    func change(_ stored: OperationalDataset?, _ incoming: OperationalDataset) -> DatasetDecision {
      StoreDecision.change(stored: stored, incoming: incoming)
    }
    #expect(change(nil, stored) == .store)
    #expect(change(stored, stored) == .keep)
    #expect(change(stored, try network.dataset(at: 11)) == .update([]))
    #expect(change(stored, try network.dataset(at: 9)) == .update([]))
    #expect(change(stored, try other.dataset(at: 10)) == .update([.channel]))
    let guest = try SampleNetwork.guest.dataset(at: 1)
    #expect(
      change(stored, guest)
        == .move(from: stored.extendedPANID, guest.essentialDifferences(from: stored)))
  }
}
