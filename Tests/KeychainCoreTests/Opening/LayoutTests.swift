import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// Format 4, read by a program that shares nothing with the store but libsodium: whoever changes
/// the format breaks this, and has to think of the stores that exist.
@Suite struct LayoutTests {
  private let store: TemporaryStore
  private let item: Item
  private let reader: FormatReader

  init() throws {
    let clock = ManualClock(microseconds: 1_700_000_000_123_456)
    store = try TemporaryStore {
      $0.now = { clock.microseconds }
      $0.auditor = "layout"
    }
    var credential = Sample.credential("a1b2c3d4e5f60718", secret: "a dataset")
    credential.attributes[.port] = .integer(-129)
    let added = try store.add(credential)
    clock.advance(microseconds: 1)
    // Its third version, whose secret is of the second.
    try store.keychain.update(added, secret: Sample.secret("the second dataset"))
    item = try store.keychain.update(added, attributes: [.isNegative: .bool(false)])
    try store.add("anna")
    let records = SealedRecords(store.keychain)
    for secret in [RecordChanges.Secret.new(Sample.secret("a dataset")), .keep] {
      var changes = RecordChanges()
      changes.records = [
        .init(id: RecordID(7), home: 3, state: Array("a router".utf8), secret: secret),
        .init(id: RecordID(8), home: 3, state: []),
      ]
      try records.commit(changes)
    }
    store.keychain.close()
    reader = try FormatReader(store.raw(), keyFile: store.keyFilePath)
  }

  @Test func theTablesAreThese() throws {
    let schema = try reader.raw.run("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    let lines = schema.map { row in
      row.map { value -> String in
        guard case .text(let text) = value else { return "" }
        return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      }.joined(separator: ": ")
    }
    #expect(
      lines == [
        "audit: CREATE TABLE audit (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
        "items: CREATE TABLE items ( id INTEGER PRIMARY KEY, uuid BLOB NOT NULL,"
          + " class INTEGER NOT NULL, version INTEGER NOT NULL, class_key INTEGER NOT NULL,"
          + " index_epoch INTEGER NOT NULL, primary_index BLOB NOT NULL, index_1 BLOB,"
          + " index_2 BLOB, metadata BLOB NOT NULL, secret BLOB NOT NULL) STRICT",
        "items_index_1: CREATE INDEX items_index_1 ON items (index_1) WHERE index_1 IS NOT NULL",
        "items_index_2: CREATE INDEX items_index_2 ON items (index_2) WHERE index_2 IS NOT NULL",
        "items_primary: CREATE UNIQUE INDEX items_primary ON items (primary_index)",
        "key_slots: CREATE TABLE key_slots ( id INTEGER PRIMARY KEY AUTOINCREMENT,"
          + " uuid BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, label TEXT NOT NULL,"
          + " created INTEGER NOT NULL, parameters BLOB NOT NULL, payload BLOB NOT NULL) STRICT",
        "keys: CREATE TABLE keys (id INTEGER PRIMARY KEY, wrapped BLOB NOT NULL) STRICT",
        "manifest: CREATE TABLE manifest (id INTEGER PRIMARY KEY CHECK (id = 1)," + " sealed BLOB NOT NULL) STRICT",
        "messages: CREATE TABLE messages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
        "records: CREATE TABLE records ( id INTEGER PRIMARY KEY, home INTEGER NOT NULL,"
          + " version INTEGER NOT NULL, secret_version INTEGER NOT NULL, state BLOB NOT NULL," + " secret BLOB) STRICT",
        "sqlite_sequence: CREATE TABLE sqlite_sequence(name,seq)",
        "store: CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1)," + " uuid BLOB NOT NULL) STRICT",
      ])
    #expect(try reader.raw.run("PRAGMA application_id") == [[.integer(0x544B_5354)]])
    #expect(try reader.raw.run("PRAGMA user_version") == [[.integer(4)]])
  }

  @Test func theKeysAreThese() throws {
    // Purpose << 24 | epoch: session 2, metadata 8, index 9, manifest 10, audit 11, records 12, and the
    // class "after first unlock" 17.
    #expect(reader.keys.keys.sorted() == [2, 8, 9, 10, 11, 12, 17].map { $0 << 24 | 1 })
  }

  @Test func theMetadataSaysThis() throws {
    let plaintext = try reader.metadata(row: item.rowID)
    #expect(plaintext.count == 128)
    var expected: [UInt8] = [1, 2]
    func attribute(_ tag: UInt8, _ kind: UInt8, _ bytes: [UInt8]) {
      // All but one are shorter than 16 bytes, so that length << 3 | kind fits into one.
      let head = bytes.count << 3 | Int(kind)
      expected += [tag] + (head < 128 ? [UInt8(head)] : [UInt8(head & 127) | 128, UInt8(head >> 7)])
      expected += bytes
    }
    attribute(1, 0, Array("a1b2c3d4e5f60718".utf8))
    attribute(2, 0, Array("thread-network/home".utf8))
    attribute(3, 0, Array("team-a".utf8))
    attribute(5, 0, Array("MyHome".utf8))
    attribute(8, 1, [0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22])
    attribute(11, 5, [])
    attribute(12, 4, [])
    attribute(13, 3, Self.created)
    attribute(14, 3, Self.modified)
    attribute(28, 2, [0xFF, 0x7F])
    expected.append(0x80)
    expected += [UInt8](repeating: 0, count: 128 - expected.count)
    #expect(plaintext == expected)
  }

  /// 1,700,000,000,123,456 µs in seven bytes, and one more.
  private static let created: [UInt8] = [0x06, 0x0A, 0x24, 0x18, 0x20, 0x22, 0x40]
  private static let modified: [UInt8] = [0x06, 0x0A, 0x24, 0x18, 0x20, 0x22, 0x41]

  @Test func theSecretIsThis() throws {
    let plaintext = try reader.secret(row: item.rowID, classByte: 1, version: 2)
    let secret = Array("the second dataset".utf8)
    #expect(plaintext == secret + [0x80] + [UInt8](repeating: 0, count: 63 - secret.count))
  }

  @Test func theIndexesAreThese() throws {
    let row = try reader.raw.run(
      "SELECT class, class_key, index_epoch, primary_index, index_1, index_2 FROM items" + " WHERE id = ?",
      [.integer(item.rowID)])[0]
    #expect(Array(row[0...2]) == [.integer(1), .integer(17 << 24 | 1), .integer(1)])
    func entry(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] { [tag, 0, 0, 0, UInt8(bytes.count)] + bytes }
    let primary =
      [1, 1] + entry(1, Array("a1b2c3d4e5f60718".utf8)) + entry(2, Array("thread-network/home".utf8))
      + entry(3, Array("team-a".utf8)) + entry(4, [])
    #expect(row[3] == .blob(try reader.hash(primary, keyID: 9 << 24 | 1, count: 16)))
    let service = [2, 1] + entry(2, Array("thread-network/home".utf8))
    #expect(row[4] == .blob(try reader.hash(service, keyID: 9 << 24 | 1, count: 16)))
    let account = [2, 1] + entry(1, Array("a1b2c3d4e5f60718".utf8))
    #expect(row[5] == .blob(try reader.hash(account, keyID: 9 << 24 | 1, count: 16)))
  }

  @Test func theRecordIsThis() throws {
    func padded(_ text: String, to count: Int) -> [UInt8] {
      Array(text.utf8) + [0x80] + [UInt8](repeating: 0, count: count - text.utf8.count - 1)
    }
    // Its state is of the seventh transaction, its secret of the sixth.
    let row = try reader.raw.run("SELECT home, version, secret_version FROM records WHERE id = 7")
    #expect(row == [[.integer(3), .integer(7), .integer(6)]])
    #expect(try reader.record(7, "state") == padded("a router", to: 16))
    #expect(try reader.record(7, "secret") == padded("a dataset", to: 256))
    #expect(try reader.record(8, "state") == padded("", to: 16))
    let other = try reader.raw.run("SELECT secret_version, secret FROM records WHERE id = 8")
    #expect(other == [[.integer(0), .null]])
  }

  @Test func theManifestCountsThis() throws {
    // Seven transactions: the making, two items, two changes, records twice.
    let plaintext = try reader.manifest()
    #expect(plaintext.count == 48)
    func number(_ offset: Int) -> Int { plaintext[offset..<(offset + 8)].reduce(0) { $0 << 8 | Int($1) } }
    #expect([number(0), number(8)] == [7, 2])
    let sum: [UInt8] = try reader.manifestSum()
    #expect([UInt8](plaintext[16...]) == sum)
  }
}

@Suite struct PaddingTests {
  /// The lengths of the sealed parts of one item.
  private func lengths(_ store: TemporaryStore, _ attributes: ItemAttributes, secret count: Int) throws -> [Int64] {
    let keychain = store.keychain
    let item = try keychain.add(
      NewItem(
        .genericPassword, attributes: attributes, secret: SecretBytes(random: count), accessible: .afterFirstUnlock))
    defer { try? keychain.delete(item) }
    let found = try keychain.database.read { tx in
      try tx.first("SELECT length(secret), length(metadata) FROM items WHERE id = ?", .integer(item.rowID)) { row in
        (0..<2).map { row.integer($0) }
      }
    }
    return try #require(found)
  }

  @Test func aSecretTellsItsLengthInStepsOf64Only() throws {
    let store = try TemporaryStore()
    let overhead: Int64 = 45
    for (count, padded): (Int, Int64) in [(0, 64), (63, 64), (64, 128), (127, 128)] {
      #expect(try lengths(store, [:], secret: count)[0] == padded + overhead)
    }
  }

  @Test func attributesTellTheirLengthInStepsOf128Only() throws {
    let store = try TemporaryStore()
    let overhead: Int64 = 45
    var seen: Set<Int64> = []
    for count in stride(from: 0, to: 300, by: 13) {
      let label = String(repeating: "x", count: count)
      let length = try lengths(store, [.label: .string(label)], secret: 0)[1] - overhead
      #expect(length % 128 == 0)
      seen.insert(length)
    }
    #expect(seen == [128, 256, 384])
  }

  @Test func aThreadCredentialHasTheSmallestMetadata() throws {
    let store = try TemporaryStore()
    // A home's credential with a 16-byte id and names of usual length fits into one step.
    let credential = Sample.credential("a1b2c3d4e5f60718a1b2c3d4e5f60718", team: "otbr-1")
    let sizes = try lengths(store, credential.attributes, secret: 110)
    #expect(sizes == [173, 173])
  }
}
