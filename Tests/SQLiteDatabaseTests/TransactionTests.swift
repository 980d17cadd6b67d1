import SQLiteDatabase
import Testing

@Suite struct TransactionTests {
  @Test func whatIsCommittedIsThereAfterReopening() throws {
    let test = try TemporaryDatabase()
    try test.database.write { try test.add("one", in: $0) }
    test.database.close()
    let again = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
    #expect(try again.read { try test.notes(in: $0) } == ["one"])
  }

  @Test func whatIsThrownRollsEverythingBack() throws {
    let test = try TemporaryDatabase()
    #expect(throws: Refusal.self) {
      try test.database.write { tx in
        try test.add("one", in: tx)
        throw Refusal()
      }
    }
    #expect(try test.notes() == [])
    try test.database.write { try test.add("two", in: $0) }
    #expect(try test.notes() == ["two"])
  }

  @Test func aReaderSeesWhatWasCommittedWhenItBegan() throws {
    let test = try TemporaryDatabase()
    try test.database.write { try test.add("one", in: $0) }
    try test.database.read { before in
      #expect(try test.notes(in: before) == ["one"])
      try test.database.write { tx in
        try test.add("two", in: tx)
        #expect(try test.notes(in: tx) == ["one", "two"])
        // A reader that begins while the writer is at work does not wait for it.
        #expect(try test.notes() == ["one"])
      }
      #expect(try test.notes(in: before) == ["one"])
      #expect(try test.notes() == ["one", "two"])
    }
  }

  @Test("A statement alone sees what is committed, and those that run on its rows see the same") func look() throws {
    let test = try TemporaryDatabase()
    try test.database.write { for text in ["one", "two"] { try test.add(text, in: $0) } }
    try test.database.look { tx in
      let inside = try tx.all("SELECT id FROM notes ORDER BY id") { _ in
        try test.database.write { try test.add("more \(try test.notes(in: $0).count)", in: $0) }
        return try test.notes(in: tx)
      }
      #expect(inside == [["one", "two"], ["one", "two"]])
      #expect(try test.notes(in: tx) == ["one", "two", "more 2", "more 3"])
    }
    #expect(throws: Refusal.self) { try test.database.look { _ in throw Refusal() } }
    // Its connection is free for the next.
    #expect(try test.database.look { try test.notes(in: $0) }.count == 4)
    #expect(try test.database.checkpointTruncate())
  }

  @Test("What follows from others' commits is done once for each, and again where it failed") func afterChange() throws
  {
    let test = try TemporaryDatabase()
    let other = try SQLiteDatabase(path: test.path, access: .readWrite(create: false))
    var count = 0
    func read() throws { try test.database.read { try $0.afterChange { count += 1 } } }
    try read()
    try read()
    #expect(count == 1)
    for database in [other, test.database] {
      try database.write { try test.add("by \(ObjectIdentifier(database))", in: $0) }
      #expect(throws: Refusal.self) { try test.database.read { try $0.afterChange { throw Refusal() } } }
      try read()
      try read()
    }
    #expect(count == 3)
    // The writer knows what it has written itself.
    for expected in [4, 4] {
      try test.database.write { tx in
        try tx.afterChange { count += 1 }
        try test.add("write \(try test.notes(in: tx).count)", in: tx)
      }
      #expect(count == expected)
    }
  }

  @Test func aWriteInsideOfAWriteIsRefused() throws {
    let test = try TemporaryDatabase()
    try test.database.write { tx in
      let error = try failure { try test.database.write { try test.add("inner", in: $0) } }
      #expect(error.kind == .misuse)
      try test.add("outer", in: tx)
    }
    #expect(try test.notes() == ["outer"])
  }

  @Test func aTransactionEndsWithItsBody() throws {
    let test = try TemporaryDatabase()
    var kept: WriteTransaction?
    try test.database.write { kept = $0 }
    let escaped = try #require(kept)
    #expect(try failure { try test.add("late", in: escaped) }.kind == .misuse)
  }

  @Test func manyThreadsWriteAndReadAtOnce() async throws {
    let test = try TemporaryDatabase()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<25 { try test.database.write { try test.add("\(thread)-\(number)", in: $0) } }
        }
        group.addTask {
          for _ in 0..<50 {
            let counts = try test.database.read { tx in
              try (0..<2).map { _ in try tx.first("SELECT count(*) FROM notes") { $0.integer(0) } }
            }
            #expect(counts[0] == counts[1])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Set(test.notes()).count == 100)
  }

  @Test func aSavepointUndoesItsPartOnly() throws {
    let test = try TemporaryDatabase()
    try test.database.write { tx in
      try test.add("before", in: tx)
      do {
        try tx.savepoint {
          try test.add("undone", in: tx)
          try tx.savepoint { try test.add("undone too", in: tx) }
          throw Refusal()
        }
        Issue.record("the savepoint should have thrown")
      } catch is Refusal {}
      try tx.savepoint { try test.add("kept", in: tx) }
    }
    #expect(try test.notes() == ["before", "kept"])
  }

  @Test func aSavepointUndoesStatesAndHooks() throws {
    final class Tally: TransactionState {
      var count = 0
      func savepoint() -> () -> Void {
        let count = count
        return { self.count = count }
      }
    }
    let test = try TemporaryDatabase()
    var ran: [String] = []
    try test.database.write { tx in
      tx.state("tally") { Tally() }.count = 1
      do {
        try tx.savepoint {
          tx.state("tally") { Tally() }.count = 2
          tx.state("other") { Tally() }.count = 3
          tx.afterCommit("undone") { ran.append("undone") }
          throw Refusal()
        }
      } catch is Refusal {}
      #expect(tx.state("tally") { Tally() }.count == 1)
      #expect(tx.state("other") { Tally() }.count == 0)
      tx.afterCommit("kept") { ran.append("kept") }
    }
    #expect(ran == ["kept"])
  }

  @Test func hooksRunOnceAndInOrder() throws {
    let test = try TemporaryDatabase()
    var ran: [String] = []
    try test.database.write { tx in
      for _ in 0..<3 {
        tx.beforeCommit("a") { tx in
          ran.append("before")
          try test.add("from the hook", in: tx)
          tx.beforeCommit("b") { _ in ran.append("nested") }
        }
        tx.afterCommit("a") {
          ran.append("after")
          // The writer is free again.
          try? test.database.write { try test.add("after the commit", in: $0) }
        }
      }
      ran.append("body")
    }
    #expect(ran == ["body", "before", "nested", "after"])
    #expect(try test.notes() == ["from the hook", "after the commit"])
  }

  @Test func whatIsPublishedAtACommitIsThereBeforeTheNextWriter() throws {
    let test = try TemporaryDatabase()
    var error: SQLiteError?
    try test.database.write { tx in
      tx.onCommit("a") { error = try? failure { try test.database.write { try test.add("too early", in: $0) } } }
    }
    #expect(error?.kind == .misuse)
  }

  @Test func aDatabaseWithoutAWriteAheadLogIsRefused() {
    #expect(throws: SQLiteError.self) { _ = try SQLiteDatabase(path: ":memory:", access: .readWrite(create: true)) }
  }

  @Test func aHookThatThrowsRollsBack() throws {
    let test = try TemporaryDatabase()
    var ranAfter = false
    #expect(throws: Refusal.self) {
      try test.database.write { tx in
        try test.add("one", in: tx)
        tx.beforeCommit("a") { _ in throw Refusal() }
        tx.afterCommit("a") { ranAfter = true }
      }
    }
    #expect(try test.notes() == [])
    #expect(!ranAfter)
  }
}
