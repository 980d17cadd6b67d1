import KeychainCore
import TestKit
import Testing

/// Hashes under it are in sealed records, so it must last as long as they do.
@Suite("The key of hashes") struct HashKeyTests {
  private let store: TemporaryStore

  init() throws { store = try TemporaryStore() }

  private func key(_ keychain: Keychain) throws -> [UInt8] {
    try keychain.write { try keychain.hashKey(in: $0) }.withUnsafeBytes { Array($0) }
  }

  @Test("It has 32 bytes, of each store its own") func own() throws {
    let key = try key(store.keychain)
    #expect(key.count == 32)
    #expect(try key == self.key(store.keychain))
    let read = try store.keychain.read { try store.keychain.hashKey(in: $0) }
    #expect(read.withUnsafeBytes { Array($0) } == key)
    let other = try TemporaryStore()
    #expect(try key != self.key(other.keychain))
  }

  @Test("It stays the same over rotations and in a backup") func stays() throws {
    let before = try key(store.keychain)
    for _ in 0..<2 {
      try store.keychain.rotateKeys([store.keyFile])
      #expect(try key(store.keychain) == before)
    }
    try store.reopen()
    #expect(try key(store.keychain) == before)
    let machine = try TemporaryDirectory()
    _ = try store.keychain.backup(to: machine.file("backup"))
    let location = StoreLocation(directory: machine.file("store"))
    _ = try Keychain.restore(machine.file("backup"), to: location, with: [store.keyFile], keyFile: machine.file("key"))
    let restored = try Keychain.open(at: location, with: .keyFile(path: machine.file("key")))
    defer { restored.close() }
    #expect(try key(restored) == before)
  }
}
