import KeychainCore
import SodiumCrypto
import Testing

/// What a record store must do, whichever engine keeps it: each case gets one that is empty, what closes it and opens it
/// again, and what alters a byte of the state or the secret of its first record, which the manifest does not see.
package struct RecordStoreContract: CustomTestStringConvertible, Sendable {
  package typealias Reopening = () throws -> any RecordStore
  package typealias Damage = (_ part: String) throws -> Void
  package typealias Check = @Sendable (any RecordStore, Reopening, Damage) throws -> Void

  package let testDescription: String
  package let check: Check

  private init(_ words: String, _ check: @escaping Check) {
    testDescription = words
    self.check = check
  }

  private static func addSamples(_ store: any RecordStore) throws {
    try store.commit(.of(.sample(1, "router 1", .text("dataset 1")), .sample(2, "router 2", .text("dataset 2"))))
    try store.commit(.of(.sample(3, "alert")))
  }

  /// Before and after it is opened again.
  private static func eachTime(_ store: any RecordStore, _ reopen: Reopening, _ body: (any RecordStore) throws -> Void)
    throws
  {
    try body(store)
    try body(reopen())
  }

  package static let all = [
    RecordStoreContract("An empty store has nothing") { store, _, _ in
      #expect(try store.contents() == [:])
      #expect(try store.messages(after: 0, limit: 10) == [])
      #expect(try store.withSecret(of: RecordID(1)) { Array($0) } == nil)
      try store.commit(RecordChanges())
    },
    RecordStoreContract("States and secrets of any length are what they were, in order") { store, reopen, _ in
      let lengths = [0, 1, 15, 16, 17, 254, 255, 256, 5_000, 100_000]
      let records = lengths.enumerated().reversed().map { position, length in
        let bytes = [UInt8](repeating: 0x80, count: length)
        return RecordChanges.Record(
          id: RecordID(Int64(position + 1)), home: Int64(length), state: bytes,
          secret: .new(SecretBytes(copying: bytes)))
      }
      try store.commit(.of(records))
      try eachTime(store, reopen) { store throws in
        var found: [StoredRecord] = []
        #expect(try store.load { found.append($0) } == [])
        #expect(found.map(\.id.rawValue) == (1...10).map { $0 })
        #expect(found.map(\.home) == lengths.map { Int64($0) })
        #expect(found.map(\.state.count) == lengths && found.allSatisfy(\.hasSecret))
        for record in found {
          #expect(record.state.allSatisfy { $0 == 0x80 })
          #expect(try store.withSecret(of: record.id) { Array($0) } == record.state)
        }
      }
    },
    RecordStoreContract("A secret is kept, replaced and removed") { store, _, _ in
      try store.commit(.of(.sample(1, "new"), .sample(2, "none", .none), .sample(3, "none")))
      #expect(try store.contents() == [1: ["new", nil], 2: ["none", nil], 3: ["none", nil]])
      try store.commit(.of(.sample(1, "first", .text("secret")), .sample(2, "other")))
      try store.commit(.of(.sample(1, "second")))
      #expect(try store.contents()[1] == ["second", "secret"])
      try store.commit(.of(.sample(1, "third", .text("another"))))
      #expect(try store.contents()[1] == ["third", "another"])
      try store.commit(.of(.sample(1, "fourth", .none)))
      #expect(try store.contents() == [1: ["fourth", nil], 2: ["other", nil], 3: ["none", nil]])
    },
    RecordStoreContract("A copy is of what was before the commit") { store, reopen, _ in
      try store.commit(.of(.sample(1, "a", .text("one")), .sample(2, "b", .text("two")), .sample(3, "c")))
      try store.commit(
        .of(
          .sample(1, "a", .copy(of: RecordID(2))), .sample(2, "b", .copy(of: RecordID(1))),
          .sample(4, "d", .copy(of: RecordID(1)))))
      let swapped: [Int64: [String?]] = [1: ["a", "two"], 2: ["b", "one"], 3: ["c", nil], 4: ["d", "one"]]
      #expect(try store.contents() == swapped)
      try store.commit(
        .of(
          .init(id: RecordID(1), home: 7, state: nil), .sample(3, "c", .copy(of: RecordID(1))),
          .sample(2, "b", .copy(of: RecordID(99))), .sample(4, "d", .copy(of: RecordID(2)))))
      #expect(try reopen().contents() == [2: ["b", nil], 3: ["c", "two"], 4: ["d", "one"]])
    },
    RecordStoreContract("What is deleted is gone, and need not have been there") { store, reopen, _ in
      try store.commit(.of(.sample(1, "a", .text("one")), .sample(2, "b", .text("two"))))
      try store.commit(.of(.init(id: RecordID(1), home: 7, state: nil), .init(id: RecordID(9), home: 7, state: nil)))
      try eachTime(store, reopen) { store throws in
        #expect(try store.contents() == [2: ["b", "two"]])
        #expect(try store.withSecret(of: RecordID(1)) { Array($0) } == nil)
      }
      let again = try reopen()
      try again.commit(.of(.sample(1, "again")))
      #expect(try again.contents() == [1: ["again", nil], 2: ["b", "two"]])
    },
    RecordStoreContract("A record stays in its home, and a commit that is refused changes nothing") {
      store, reopen, _ in
      try store.commit(.of(.sample(1, "a", .text("one")), .sample(2, "b")))
      var changes = RecordChanges.of(
        .sample(2, "changed"), .init(id: RecordID(1), home: 8, state: [1]), .sample(3, "new"))
      changes.messages = [StoredMessage(id: 1, bytes: [1])]
      refuses(.param) { try store.commit(changes) }
      try eachTime(store, reopen) { store throws in
        #expect(try store.contents() == [1: ["a", "one"], 2: ["b", nil]])
        #expect(try store.messages(after: 0, limit: 10) == [])
      }
    },
    RecordStoreContract("A message that is there already refuses the whole commit") { store, reopen, _ in
      var changes = RecordChanges.of(.sample(1, "a", .text("one")))
      changes.messages = [StoredMessage(id: 5, bytes: [5])]
      try store.commit(changes)
      changes = .of(.sample(1, "b", .none), .sample(2, "new", .text("two")))
      changes.messages = [StoredMessage(id: 6, bytes: [6]), StoredMessage(id: 5, bytes: [7])]
      #expect(throws: (any Error).self) { try store.commit(changes) }
      #expect(try store.contents() == [1: ["a", "one"]])
      changes.messages.removeLast()
      try store.commit(changes)
      try eachTime(store, reopen) { store throws in
        #expect(try store.contents() == [1: ["b", nil], 2: ["new", "two"]])
        #expect(try store.messages(after: 0, limit: 10).map(\.bytes) == [[5], [6]])
      }
    },
    RecordStoreContract("Messages are in order until they are published") { store, reopen, _ in
      var changes = RecordChanges()
      changes.messages = (1...9).map { StoredMessage(id: $0 * 10, bytes: [UInt8($0)]) }
      changes.messages[2] = StoredMessage(id: 30, bytes: [])
      try store.commit(changes)
      #expect(try store.messages(after: 0, limit: 100) == changes.messages)
      #expect(try store.messages(after: 20, limit: 2).map(\.id) == [30, 40])
      var published = RecordChanges()
      published.published = 50
      published.messages = [StoredMessage(id: 100, bytes: [10])]
      try store.commit(published)
      let left = Array(changes.messages[5...] + published.messages)
      try eachTime(store, reopen) { store throws in
        #expect(try store.messages(after: 0, limit: 100) == left)
        #expect(try store.messages(after: 100, limit: 1) == [])
      }
    },
    RecordStoreContract("The caller's own error is passed on") { store, _, _ in
      struct Own: Error {}
      try store.commit(.of(.sample(1, "a", .text("one")), .sample(2, "b")))
      var count = 0
      #expect(throws: Own.self) {
        _ = try store.load { _ in
          count += 1
          throw Own()
        }
      }
      #expect(count == 1)
      #expect(throws: Own.self) { try store.withSecret(of: RecordID(1)) { _ in throw Own() } }
    },
    RecordStoreContract("A state that does not open is left out and named, and all else goes on") {
      store, reopen, damage in
      try addSamples(store)
      try damage("state")
      let store = try reopen()
      let damaged = DamagedRecord(id: RecordID(1), home: 7, hasSecret: true)
      var found: [Int64] = []
      #expect(try store.load { found.append($0.id.rawValue) } == [damaged])
      #expect(found == [2, 3])
      refuses(.decode) { _ = try store.withSecret(of: RecordID(1)) { _ in } }
      #expect(try store.unreadable() == [damaged])
      try store.commit(.of(.sample(4, "copy", .copy(of: RecordID(1)))))
      // Written again, it is whole.
      try store.commit(.of(.sample(1, "again"), .sample(5, "copy", .copy(of: RecordID(2)))))
      try eachTime(store, reopen) { store throws in
        #expect(
          try store.contents() == [
            1: ["again", "dataset 1"], 2: ["router 2", "dataset 2"], 3: ["alert", nil], 4: ["copy", nil],
            5: ["copy", "dataset 2"],
          ])
        #expect(try store.unreadable() == [])
      }
    },
    RecordStoreContract("Of a secret that does not open nothing is copied, and the commit goes on") {
      store, reopen, damage in
      try addSamples(store)
      try damage("secret")
      let store = try reopen()
      #expect(try store.load { _ in } == [])
      refuses(.decode) { _ = try store.withSecret(of: RecordID(1)) { _ in } }
      #expect(try store.unreadable().map(\.id) == [RecordID(1)])
      try store.commit(.of(.sample(3, "alert", .copy(of: RecordID(1)))))
      try store.commit(.of(.init(id: RecordID(1), home: 7, state: nil)))
      #expect(try store.contents() == [2: ["router 2", "dataset 2"], 3: ["alert", nil]])
      #expect(try store.unreadable() == [])
    },
    RecordStoreContract("Any order of changes leaves what a dictionary has") { store, reopen, _ in
      var store = store
      var random = SeededGenerator(seed: 31)
      var expected: [Int64: [String?]] = [:]
      for step in 0..<150 {
        let before = expected
        var changes = RecordChanges()
        for id in Set((0..<4).map { _ in Int64.random(in: 1...12, using: &random) }) {
          let state = "state \(step) of \(id)"
          let kept = before[id]?[1]
          switch Int.random(in: 0..<6, using: &random) {
          case 0:
            changes.records.append(.init(id: RecordID(id), home: 7, state: nil))
            expected[id] = nil
          case 1:
            changes.records.append(.sample(id, state, .none))
            expected[id] = [state, nil]
          case 2:
            let source = Int64.random(in: 1...12, using: &random)
            changes.records.append(.sample(id, state, .copy(of: RecordID(source))))
            expected[id] = [state, before[source]?[1]]
          case 3:
            changes.records.append(.sample(id, state, .text("secret \(step)")))
            expected[id] = [state, "secret \(step)"]
          default:
            changes.records.append(.sample(id, state))
            expected[id] = [state, kept]
          }
        }
        try store.commit(changes)
        if step % 50 == 49 { store = try reopen() }
        #expect(try store.contents() == expected, "step \(step)")
      }
    },
  ]
}

extension RecordChanges {
  package static func of(_ records: [Record]) -> RecordChanges {
    var changes = RecordChanges()
    changes.records = records
    return changes
  }

  package static func of(_ records: Record...) -> RecordChanges { of(records) }
}

extension RecordChanges.Record {
  /// A record of home 7.
  package static func sample(_ id: Int64, _ state: String, _ secret: RecordChanges.Secret = .keep) -> Self {
    .init(id: RecordID(id), home: 7, state: Array(state.utf8), secret: secret)
  }
}

extension RecordChanges.Secret {
  package static func text(_ text: String) -> Self { .new(SecretBytes(copying: Array(text.utf8))) }
}

extension RecordStore {
  /// State and secret of every record that opens.
  package func contents() throws -> [Int64: [String?]] {
    var found: [Int64: [String?]] = [:]
    var withSecret: Set<RecordID> = []
    _ = try load { record in
      found[record.id.rawValue] = [String(decoding: record.state, as: UTF8.self), nil]
      if record.hasSecret { withSecret.insert(record.id) }
    }
    for id in found.keys {
      let secret = try self.withSecret(of: RecordID(id)) { String(decoding: $0, as: UTF8.self) }
      #expect((secret != nil) == withSecret.contains(RecordID(id)))
      found[id]?[1] = secret
    }
    return found
  }
}

/// Expects `body` to throw a `KeychainError` with `status`.
package func refuses<R>(_ status: KeychainStatus, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> R)
{
  do {
    _ = try body()
    Issue.record("expected \(status), but nothing was refused", sourceLocation: location)
  } catch let error as KeychainError { #expect(error.status == status, "\(error)", sourceLocation: location) } catch {
    Issue.record(error, sourceLocation: location)
  }
}
