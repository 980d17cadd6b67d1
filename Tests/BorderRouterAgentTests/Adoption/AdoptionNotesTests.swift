import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("What an agent notes for its next run") struct AdoptionNotesTests {
  @Test("A router is noted until it is removed, for each run with the same place, and alone") func kept() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("agent-adoption")
    let (one, other) = (try Sample.agent("1"), try Sample.agent("2"))
    let notes = AdoptionNotes(path: path)
    #expect(!notes.contains(one))
    for _ in 0..<2 { #expect(notes.add(one) == nil) }
    let next = AdoptionNotes(path: path)
    #expect(next.contains(one) && !next.contains(other))
    for _ in 0..<2 { next.remove(one) }
    #expect(!notes.contains(one))
  }

  @Test("Where no note can be kept, it is said why") func nowhere() throws {
    let directory = try TemporaryDirectory()
    let notes = AdoptionNotes(path: directory.file("none/agent-adoption"))
    #expect(notes.add(try Sample.agent()) == "No such file or directory")
    #expect(!notes.contains(try Sample.agent()))
  }
}
