// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

/// `first` says what `items` and `secret` say, by every way through the store.
@Suite struct FirstItemTests {
  private let whole: ItemAttributes = [
    .account: .string("anna"), .service: .string("mail"), .accessGroup: .string("own"),
  ]

  @Test func aWholePrimaryKeyAndAnyOtherQueryFindTheSame() throws {
    let store = try TemporaryStore()
    let anna = try store.keychain.add(Sample.password("anna", secret: "of anna"))
    try store.keychain.add(Sample.password("berta", secret: "of berta"))
    for query in [
      ItemQuery(.genericPassword, whole), ItemQuery(.genericPassword, [.account: .string("anna")]),
      ItemQuery(reference: anna.reference), ItemQuery(), ItemQuery(limit: 1),
    ] {
      let found = try #require(try store.keychain.first(query))
      #expect(found.item.id == anna.id)
      #expect(found.item.attributes == anna.attributes)
      #expect(found.secret == Sample.secret("of anna"))
    }
  }

  @Test func aSecretThatWasChangedIsTheNewOne() throws {
    let store = try TemporaryStore()
    let anna = try store.keychain.add(Sample.password("anna"))
    let second = try store.keychain.update(anna, secret: Sample.secret("second"))
    try store.keychain.update(second, attributes: [.label: .string("changed")])
    let found = try store.keychain.first(ItemQuery(.genericPassword, whole))
    #expect(found?.secret == Sample.secret("second"))
  }

  @Test func whatIsNotMeantIsNotFound() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    var other = whole
    other[.account] = .string("berta")
    var labelled = whole
    labelled[.label] = .string("none has it")
    for query in [
      ItemQuery(.genericPassword, other), ItemQuery(.genericPassword, labelled),
      ItemQuery(.genericPassword, whole, synchronizable: .yes),
      ItemQuery(.genericPassword, whole, accessible: .always),
      ItemQuery(.genericPassword, whole, accessGroups: ["other"]),
      ItemQuery(.genericPassword, whole, limit: 0),
    ] {
      let found = try store.keychain.first(query)
      #expect(found == nil, "\(query)")
    }
  }

  @Test func aTransactionFindsWhatItHasAdded() throws {
    let store = try TemporaryStore()
    try store.keychain.database.write { tx in
      _ = try store.keychain.add(Sample.password("anna"), in: tx)
      let query = ItemQuery(.genericPassword, whole)
      #expect(try store.keychain.first(matching: query, in: tx)?.secret == Sample.secret("secret"))
    }
  }

  @Test func aMissingRowIsNotCalledMissingInAnAlteredStore() throws {
    let store = try TemporaryStore()
    try store.keychain.add(Sample.password("anna"))
    try store.reopen {
      let raw = try RawStore(store.location.databasePath)
      try raw.run("DELETE FROM items")
      raw.close()
    }
    refuses(.decode) { _ = try store.keychain.first(ItemQuery(.genericPassword, whole)) }
  }
}
