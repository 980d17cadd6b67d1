// SPDX-License-Identifier: Apache-2.0

import Bridge
import DaemonTestKit
import KeychainCore
import Settings
import SodiumCrypto
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What an import writes beside the items", .timeLimit(.minutes(30)))
struct ImportWritesTests {
  private let (old, new): (MovedStore, MovedStore)

  init() throws {
    (old, new) = (try MovedStore(), try MovedStore())
    try old.fill()
  }

  /// Of any component.
  private func tables() throws -> [String] {
    try new.keychain.database.read {
      try $0.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { $0.text(0) }
    }
  }

  private func number(_ query: StaticString) throws -> Int64? {
    try new.keychain.database.read { try $0.first(query) { $0.integer(0) } }
  }

  @Test("A trial, a wrong passphrase and a refused import write nothing, not even tables")
  func nothing() throws {
    let path = try old.export()
    let before = try tables()
    #expect(!before.contains("home"))
    _ = try new.take(path, isTrial: true)
    #expect(throws: CommandFailure.self) {
      try new.take(path, with: "mistyped")
    }
    #expect(try tables() == before)
    let refused = MovedStore.item("mail")
    for (store, label) in [(old, "theirs"), (new, "mine")] {
      var item = refused
      item.attributes[.accessGroup] = .string("own")
      item.attributes[.label] = .string(label)
      try store.keychain.database.write { [keychain = store.keychain] in
        _ = try keychain.add(item, in: $0)
      }
    }
    #expect(try new.take(try old.export("refused")).outcome.conflicts == 1)
    #expect(try tables() == before)
    _ = try new.take(path)
    #expect(try tables().contains("home"))
    #expect(try number("SELECT count(*) FROM home WHERE name = 'home'") == 1)
  }

  @Test("What a daemon has begun in its tables goes on: an import of other things leaves it alone")
  func underWay() throws {
    let settings = MovedStore.settings(new.store)
    try BridgeRegistry.prepare(BridgeConfiguration(settings), keychain: new.keychain)
    try new.keychain.database.write { try $0.execute("UPDATE home SET reevaluate_after = 7") }
    let path = try old.export()
    for isTrial in [true, false] {
      _ = try new.take(path, isTrial: isTrial)
      #expect(try number("SELECT reevaluate_after FROM home") == 7)
    }
    #expect(try new.clients() == ["hub", "router"])
  }
}
