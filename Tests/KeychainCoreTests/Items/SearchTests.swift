import KeychainCore
import TestKit
import Testing

/// Every way of searching must give the same answers; which one is taken shows in its speed only.
@Suite struct SearchTests {
  private let store: TemporaryStore
  private var keychain: Keychain { store.keychain }

  init() throws {
    store = try TemporaryStore()
    let keychain = store.keychain
    try keychain.database.write { tx in
      for number in 0..<6 {
        try keychain.add(Sample.password("user \(number % 3)", service: "service \(number % 2)"), in: tx)
      }
      for number in 0..<4 {
        try keychain.add(
          Sample.credential(
            "a1b2c3d4e5f6071\(number)", team: number < 2 ? "team-a" : "team-b",
            network: [UInt8(number % 2), 0, 0, 0, 0, 0, 0, 1]), in: tx)
      }
      try keychain.add(Sample.internetPassword("user 1", server: "example.org"), in: tx)
      try keychain.add(Sample.internetPassword("user 1", server: "example.org", port: 8883), in: tx)
      var synced = Sample.password("user 0", service: "service 0")
      synced.attributes[.synchronizable] = .bool(true)
      try keychain.add(synced, in: tx)
    }
  }

  private func count(_ query: ItemQuery) throws -> Int { try keychain.items(query).count }

  @Test func byTheWholePrimaryKey() throws {
    let key: ItemAttributes = [
      .account: .string("user 0"), .service: .string("service 0"), .accessGroup: .string("own"),
    ]
    #expect(try count(ItemQuery(.genericPassword, key)) == 1)
    #expect(try count(ItemQuery(.genericPassword, key, synchronizable: .yes)) == 1)
    #expect(try count(ItemQuery(.genericPassword, key, synchronizable: .any)) == 2)
    #expect(try count(ItemQuery(.genericPassword, key, synchronizable: .any, limit: 1)) == 1)
    #expect(try count(ItemQuery(.genericPassword, key, accessible: .always)) == 0)
    var labelled = key
    labelled[.label] = .string("no such label")
    #expect(try count(ItemQuery(.genericPassword, labelled)) == 0)
  }

  @Test func byThePrimaryKeyInSomeGroups() throws {
    let key: ItemAttributes = [.account: .string("user 0"), .service: .string("service 0")]
    #expect(try count(ItemQuery(.genericPassword, key, accessGroups: ["other", "own"])) == 1)
    #expect(try count(ItemQuery(.genericPassword, key, accessGroups: ["other"])) == 0)
    #expect(try count(ItemQuery(.genericPassword, key, accessGroups: [])) == 0)
    let many = (0..<100).map { "group \($0)" } + ["own"]
    #expect(try count(ItemQuery(.genericPassword, key, accessGroups: many)) == 1)
  }

  @Test func byAnIndexedAttribute() throws {
    #expect(try count(ItemQuery(.genericPassword, [.service: .string("service 0")])) == 3)
    #expect(try count(ItemQuery(.genericPassword, [.service: .string("service 0")], limit: 2)) == 2)
    #expect(try count(ItemQuery(.genericPassword, [.service: .string("no service")])) == 0)
    #expect(try count(ItemQuery(.internetPassword, [.server: .string("example.org")])) == 2)
    #expect(try count(ItemQuery(.internetPassword, [.account: .string("user 1")])) == 2)
  }

  @Test func byAccountAlone() throws {
    #expect(try count(ItemQuery(.genericPassword, [.account: .string("a1b2c3d4e5f60712")])) == 1)
    #expect(try count(ItemQuery(.genericPassword, [.account: .string("user 2")])) == 2)
    let service = ItemQuery(.genericPassword, [.service: .string("thread-network/home")])
    for item in try keychain.items(service) { try keychain.delete(item) }
    #expect(try count(ItemQuery(.genericPassword, [.account: .string("user 2")])) == 2)
    #expect(try count(ItemQuery(.genericPassword, [.account: .string("a1b2c3d4e5f60712")])) == 0)
  }

  @Test func byWhatIsInNoIndex() throws {
    #expect(try count(ItemQuery()) == 12)
    #expect(try count(ItemQuery(synchronizable: .any)) == 13)
    #expect(try count(ItemQuery(.internetPassword)) == 2)
    #expect(try count(ItemQuery(.internetPassword, [.port: .integer(8883)])) == 1)
    #expect(try count(ItemQuery(accessible: .always)) == 2)
    #expect(try count(ItemQuery(accessGroups: ["team-a"])) == 2)
    #expect(try count(ItemQuery(.genericPassword, [.isInvisible: .bool(true)])) == 4)
    #expect(try count(ItemQuery(.certificate)) == 0)
    #expect(try count(ItemQuery(limit: 0)) == 0)
  }

  @Test func byReference() throws {
    let item = try #require(try keychain.items(ItemQuery(.internetPassword)).first)
    let query = ItemQuery(reference: item.reference)
    #expect(try keychain.items(query).map(\.id) == [item.id])
    #expect(try keychain.first(query)?.item.id == item.id)
    let wrong = ItemReference(.stored(item.itemClass), rowID: item.rowID + 1, id: item.id)
    #expect(try keychain.items(ItemQuery(reference: wrong)).isEmpty)
  }

  /// What `first` finds is in `ModelTests`.
  @Test func theFirstIsNotFoundWhereItIsNotMeant() throws {
    let whole: ItemAttributes = [
      .account: .string("user 0"), .service: .string("service 0"), .accessGroup: .string("own"),
    ]
    for query in [
      ItemQuery(.genericPassword, whole.merging([.account: .string("nobody")]) { $1 }),
      ItemQuery(.genericPassword, whole.merging([.label: .string("none has it")]) { $1 }),
      ItemQuery(.genericPassword, whole, accessible: .always),
      ItemQuery(.genericPassword, whole, accessGroups: ["other"]), ItemQuery(.genericPassword, whole, limit: 0),
    ] {
      let found = try keychain.first(query)
      #expect(found == nil, "\(query)")
    }
    #expect(try keychain.first(ItemQuery(.genericPassword, whole))?.secret.text == "secret")
    try store.alter("DELETE FROM items")
    refuses(.decode) { try keychain.first(ItemQuery(.genericPassword, whole)) }
  }

  @Test("The first item is the same by one statement and in a transaction, whatever finds it")
  func firstByOneStatement() throws {
    let key: ItemAttributes = [.account: .string("user 0"), .service: .string("service 0")]
    let one = try #require(try keychain.items(ItemQuery(.internetPassword)).first)
    let queries = [
      ItemQuery(.genericPassword, key, accessGroups: ["own"]),
      ItemQuery(.genericPassword, key, accessGroups: ["other", "own"], synchronizable: .any),
      ItemQuery(.genericPassword, key, accessGroups: ["own"], synchronizable: .yes),
      ItemQuery(.genericPassword, [.service: .string("service 1")]),
      ItemQuery(.genericPassword, [.account: .string("user 2")]), ItemQuery(reference: one.reference), ItemQuery(),
      ItemQuery(.internetPassword, [.port: .integer(8883)]), ItemQuery(.certificate),
      ItemQuery(.genericPassword, [.service: .string("no service")]), ItemQuery(limit: 0),
    ]
    func check(_ keychain: Keychain) throws {
      for query in queries {
        let expected = try keychain.items(query).first
        let inside = try keychain.database.read { try keychain.first(matching: query, in: $0) }
        let alone = try keychain.first(matching: query)
        #expect(alone?.item.id == expected?.id && inside?.item.id == expected?.id, "\(query)")
        #expect(try alone?.secret == expected.map { try keychain.secret(of: $0) } && alone?.secret == inside?.secret)
      }
    }
    try check(keychain)
    let beside = try store.openBeside()
    try check(beside)
    beside.close()
    keychain.close()
    let shared = try TemporaryStore.open(in: store.path, access: .shared)
    try check(shared)
    shared.close()
  }
}
