// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

struct StoreTests {
  @Test("Without a word, key and anchor lie beside the store in the state directory")
  func defaults() throws {
    let store = try #require(try load("").settings?.store)
    #expect(store.path == "/var/lib/threadkeeper/store")
    #expect(store.keyFile == "/var/lib/threadkeeper/store.key")
    #expect(store.anchorPath == "/var/lib/threadkeeper/store.anchor")
  }

  @Test("They follow the store; the key can be put elsewhere")
  func placed() throws {
    let moved = try #require(try load("store: {path: /srv/./keeper//}").settings?.store)
    #expect(moved == .init(path: "/srv/keeper"))
    #expect(moved.keyFile == "/srv/keeper.key")
    let apart = try load("store: {path: /a, key_file: /b/k}").settings?.store
    #expect(apart == .init(path: "/a", keyFile: "/b/k"))
    #expect(apart?.anchorPath == "/a.anchor")
  }

  @Test(
    "A key inside the store, or where its directories are, is refused, by whatever way it gets there"
  )
  func inside() throws {
    for (yaml, key) in [
      ("{path: /a, key_file: /a/k}", "key_file"), ("{path: /a, key_file: /a}", "key_file"),
      ("{path: /a/b, key_file: /a/c/../b/k}", "key_file"),
      ("{path: /a/b, key_file: /a}", "key_file"), ("{path: /a, key_file: /a.anchor}", "key_file"),
    ] {
      let problems = try load("store: \(yaml)").problems
      #expect(!problems.isEmpty)
      #expect(problems.allSatisfy { $0.key == "store.\(key)" && $0.line == 1 }, "\(problems)")
    }
    #expect(try problems("store: {path: /a, key_file: /ab}") == [])
  }

  @Test("Paths: relative to the file, not empty, one line")
  func paths() throws {
    let directory = try ConfigurationDirectory()
    try directory.write("store: {path: data/store}", to: "etc/threadkeeper.yaml")
    let result = SettingsLoader.load(
      file: "etc/threadkeeper.yaml", environment: ["THREADKEEPER_STORE_KEY_FILE": "k"],
      workingDirectory: directory.path, isRoot: true)
    #expect(result.settings?.store.path == directory.path + "/etc/data/store")
    #expect(result.settings?.store.keyFile == directory.path + "/k")
    for path in ["''", "\"a\\nb\"", "\"a\\0b\"", "[a]"] {
      #expect(try problems("store: {path: \(path)}").count == 1)
    }
  }
}
