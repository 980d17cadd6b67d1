// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@Suite("Adoptions in the store")
struct AdoptionItemTests {
  private let temporary: TemporaryStore
  private var store: ThreadCredentialStore { ThreadCredentialStore(temporary.keychain) }
  private let agent: BorderAgentID

  init() throws {
    temporary = try TemporaryStore()
    agent = try #require(BorderAgentID(hex: "a1b2c3d4e5f60718"))
  }

  private func find(_ home: String = "home") throws -> Adoption? {
    try temporary.keychain.database.read { try store.adoption(of: agent, in: home, $0) }
  }

  @Test("An adoption is saved, replaced and deleted for one router and home, also after a restart")
  func life() throws {
    #expect(try find() == nil)
    var adoption = Adoption(
      home: "home", agent: agent, user: "anna", key: "0123456789abcdef", phase: .asked,
      consent: "c-0123456789abcdef",
      preferred: try SampleNetwork.home.dataset(at: 5),
      reported: try SampleNetwork.guest.dataset(at: 1))
    try temporary.keychain.database.write { try store.save(adoption, $0) }
    adoption.phase = .sent
    adoption.id = "a-1"
    adoption.deadline = 1_795_235_760_000
    try temporary.keychain.database.write { try store.save(adoption, $0) }
    try temporary.reopen()
    let found = try #require(try find())
    #expect(
      found.user == "anna" && found.key == adoption.key && found.consent == "c-0123456789abcdef")
    #expect(found.phase == .sent && found.id == "a-1")
    #expect(found.deadline == 1_795_235_760_000)
    #expect(found.preferred == adoption.preferred && found.reported == adoption.reported)
    #expect(try find("cabin") == nil)
    try temporary.keychain.database.write { try store.deleteAdoption(of: agent, in: "home", $0) }
    #expect(try find() == nil)
    try temporary.keychain.database.write { try store.deleteAdoption(of: agent, in: "home", $0) }
  }
}
