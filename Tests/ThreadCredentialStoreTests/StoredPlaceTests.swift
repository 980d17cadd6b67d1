// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Which of a home's items an item is")
struct StoredPlaceTests {
  private let own = "threadkeeper.internal"

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
