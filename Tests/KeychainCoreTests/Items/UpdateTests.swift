// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@Suite struct UpdateTests {
  @Test func onlyWhatIsGivenChanges() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let item = try keychain.add(Sample.password("anna"))
    let labelled = try keychain.update(item, attributes: [.label: .string("Anna's")])
    #expect(labelled[.label] == .string("Anna's") && labelled[.account] == .string("anna"))
    #expect(try keychain.secret(of: labelled) == Sample.secret("secret"))
    let renewed = try keychain.update(labelled, secret: Sample.secret("new"))
    #expect(renewed[.label] == .string("Anna's"))
    let bare = try keychain.update(renewed, removing: [.label])
    #expect(bare[.label] == nil)
    try store.reopen()
    let found = try #require(try store.keychain.items(ItemQuery()).first)
    #expect(found.attributes == bare.attributes && found.version == 4)
    #expect(try store.keychain.secret(of: found) == Sample.secret("new"))
    #expect(store.keychain.condition == .healthy)
  }

  @Test func anItemThatWasReadEarlierStillGivesItsSecret() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let old = try keychain.add(Sample.password("anna"))
    try keychain.update(old, secret: Sample.secret("second"))
    #expect(try keychain.secret(of: old) == Sample.secret("second"))
    try keychain.update(old, attributes: [.label: .string("x")])
    #expect(try keychain.secret(of: old) == Sample.secret("second"))
  }
}
