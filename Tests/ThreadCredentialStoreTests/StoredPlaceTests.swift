// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Validation of imported items")
struct StoredPlaceTests {
  private let dataset: [UInt8]

  init() throws { dataset = try SampleNetwork.home.dataset(at: 1).bytes }

  private func rejectionReason(
    _ service: String, account: String, group: String, secret: [UInt8],
    accessible: Accessibility = .afterFirstUnlock
  ) -> String? {
    let item = NewItem(
      .genericPassword,
      attributes: [
        .service: .string(service), .account: .string(account), .accessGroup: .string(group),
      ], secret: SecretBytes(copying: secret), accessible: accessible)
    return StoredPlace(item.itemClass, item.attributes)?.rejectionReason(for: item)
  }

  private let agent = "a1b2c3d4e5f60718"
  private let own = ThreadCredentialStore.internalGroup

  @Test("Items as the bridge writes them are accepted, and so are items of programs")
  func accepted() {
    #expect(
      rejectionReason("thread-network/home", account: agent, group: "hub", secret: dataset) == nil)
    #expect(rejectionReason("thread-owner/home", account: agent, group: own, secret: []) == nil)
    #expect(
      rejectionReason("thread-preferred/home", account: "", group: own, secret: dataset) == nil)
    #expect(
      rejectionReason("mail", account: "anna", group: "own", secret: [1], accessible: .always)
        == nil)
    // Of a program, which has its own meaning for it.
    #expect(rejectionReason("thread-owner/x", account: "anna", group: "own", secret: [1]) == nil)
  }

  @Test("Items that the daemon cannot use are rejected with a reason")
  func rejected() {
    for account in ["", "anna", agent.uppercased(), agent + "0000000000000000"] {
      #expect(
        rejectionReason("thread-network/home", account: account, group: "hub", secret: dataset)
          == "names no border agent id")
    }
    let broken = Array(dataset.dropLast())
    for (service, group) in [("thread-network/home", "hub"), ("thread-preferred/home", own)] {
      #expect(
        rejectionReason(service, account: agent, group: group, secret: broken)
          == "has a dataset that is none")
      #expect(
        rejectionReason(
          service, account: agent, group: group, secret: dataset, accessible: .whenUnlocked)
          != nil)
    }
    // A team of that name would own the daemon's decisions.
    #expect(
      rejectionReason("thread-network/home", account: agent, group: own, secret: dataset) != nil)
  }

  @Test("The home is the part of the service name after the prefix, split by bytes")
  func homes() {
    func home(_ service: String) -> String? {
      StoredPlace(
        .genericPassword, [.service: .string(service), .accessGroup: .string(own)])?.home
    }
    #expect(home("thread-network/villa") == "villa" && home("thread-owner/home") == "home")
    #expect(home("mail") == nil)
    // A mark on the slash makes another letter of it, and no other service.
    #expect(home("thread-owner/\u{301}home").map { Array($0.utf8) } == Array("\u{301}home".utf8))
  }
}
