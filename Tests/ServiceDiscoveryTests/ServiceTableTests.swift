// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServiceDiscovery

struct ServiceTableTests {
  private let start = ContinuousClock.now
  private let ipv4 = ServicePath(interface: 2, protocol: 0)
  private let ipv6 = ServicePath(interface: 2, protocol: 1)

  private func table(maximumServices: Int = 200) -> ServiceTable {
    ServiceTable(limits: ServiceLimits(maximumServices: maximumServices), now: start)
  }

  private func record(_ name: String, _ text: String = "rv=1") -> ServiceRecord {
    ServiceRecord(
      name: name, host: "h.local", port: 1, text: TXTRecord(entries: [Array(text.utf8)]))
  }

  @Test(
    "A service is resolved on the first path on which it is seen, and found when it is resolved")
  func found() {
    var table = table()
    #expect(table.appeared("a", on: ipv4) == [.resolve(name: "a", path: ipv4)])
    #expect(table.appeared("a", on: ipv6) == [])
    #expect(table.resolved(record("a"), at: start) == [.report(.found(record("a")))])
    #expect(table.resolved(record("a"), at: start) == [])
  }

  @Test("A service is lost with its last path only")
  func lastPath() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.appeared("a", on: ipv6)
    _ = table.resolved(record("a"), at: start)
    #expect(table.disappeared("a", on: ipv6) == [])
    #expect(table.disappeared("a", on: ipv4) == [.release(name: "a"), .report(.lost(name: "a"))])
    #expect(table.disappeared("a", on: ipv4) == [])
  }

  @Test("A service that loses the path on which it is resolved is resolved on another")
  func otherPath() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.appeared("a", on: ipv6)
    #expect(
      table.disappeared("a", on: ipv4)
        == [.release(name: "a"), .resolve(name: "a", path: ipv6)])
    #expect(table.disappeared("a", on: ipv6) == [.release(name: "a")])
  }

  @Test("A service whose host has no address any more is lost, and found when it has one again")
  func silent() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.resolved(record("a"), at: start)
    #expect(
      table.failed("a", at: start) == [.report(.lost(name: "a", silence: .seconds(125)))])
    #expect(table.failed("a", at: start) == [])
    #expect(table.resolved(record("a"), at: start) == [.report(.found(record("a")))])
    #expect(table.nextTick == nil)
  }

  @Test("A service is lost when it fails on each of its paths, and asked for again in 5 minutes")
  func retried() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.appeared("a", on: ipv6)
    _ = table.resolved(record("a"), at: start)
    #expect(
      table.failed("a", at: start) == [.release(name: "a"), .resolve(name: "a", path: ipv6)])
    #expect(table.failed("a", at: start).count == 1)
    #expect(table.nextTick == start + .seconds(300))
    #expect(table.tick(start + .seconds(299)) == [])
    let again = start + .seconds(300)
    #expect(table.tick(again) == [.release(name: "a"), .resolve(name: "a", path: ipv6)])
    #expect(table.nextTick == nil)
    #expect(table.failed("a", at: again).last == .resolve(name: "a", path: ipv4))
    #expect(table.failed("a", at: again) == [])
    #expect(table.nextTick == start + .seconds(600))
  }

  @Test("A service is lost when a later one has its host and port, and found when that has gone")
  func replaced() {
    var table = table()
    _ = table.allForNow()
    for name in ["a", "b", "c"] { _ = table.appeared(name, on: ipv4) }
    _ = table.resolved(record("a"), at: start)
    let other = ServiceRecord(name: "b", host: "h.local", port: 2, text: TXTRecord(entries: []))
    #expect(table.resolved(other, at: start) == [.report(.found(other))])
    #expect(
      table.resolved(record("c"), at: start)
        == [.release(name: "a"), .report(.lost(name: "a")), .report(.found(record("c")))])
    _ = table.appeared("d", on: ipv4)
    #expect(
      table.resolved(record("d"), at: start)
        == [.release(name: "c"), .report(.lost(name: "c")), .report(.found(record("d")))])
    #expect(table.failed("d", at: start).count == 1)
    #expect(table.resolved(record("d"), at: start) == [.report(.found(record("d")))])
    #expect(table.disappeared("c", on: ipv4) == [.release(name: "c")])
    #expect(
      table.disappeared("d", on: ipv4)
        == [
          .release(name: "d"), .report(.lost(name: "d")), .resolve(name: "a", path: ipv4),
        ])
    #expect(table.resolved(record("a"), at: start) == [.report(.found(record("a")))])
  }

  @Test("A service that fails, and is asked for again, does not take the place of a later one")
  func replacedWhileGone() {
    var table = table()
    _ = table.allForNow()
    _ = table.appeared("a", on: ipv4)
    _ = table.resolved(record("a"), at: start)
    _ = table.failed("a", at: start)
    _ = table.appeared("b", on: ipv4)
    #expect(
      table.resolved(record("b"), at: start)
        == [.release(name: "a"), .report(.found(record("b")))])
    #expect(table.nextTick == nil)
    // After an outage of the host it is the later one that is found again.
    _ = table.failed("b", at: start)
    #expect(
      table.tick(start + .seconds(300))
        == [.release(name: "b"), .resolve(name: "b", path: ipv4)])
    #expect(
      table.resolved(record("b"), at: start + .seconds(300)) == [.report(.found(record("b")))])
  }

  @Test("Of services with one host and port that are there at the start all are found")
  func sameHostAtStart() {
    var table = table()
    for name in ["a", "b"] {
      _ = table.appeared(name, on: ipv4)
      #expect(table.resolved(record(name), at: start) == [.report(.found(record(name)))])
    }
  }

  @Test("A service that comes and goes all the time is reported as often as one that changes")
  func flapping() {
    var table = table()
    var found = 0
    for _ in 0..<100 {
      _ = table.appeared("a", on: ipv4)
      found += table.resolved(record("a"), at: start).count { $0 == .report(.found(record("a"))) }
      _ = table.disappeared("a", on: ipv4)
      _ = table.tick(start)
    }
    #expect(found == 10)
    #expect(table.tick(start + .seconds(60)) == [])
    #expect(table.paces.isEmpty)
  }

  @Test("A service that goes before it was resolved is not lost")
  func neverFound() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    #expect(table.disappeared("a", on: ipv4) == [.release(name: "a")])
    #expect(table.resolved(record("a"), at: start) == [])
  }

  @Test("It is listed once all resolvers that were started by then have answered or failed")
  func listed() {
    var table = table()
    for name in ["a", "b", "c"] { _ = table.appeared(name, on: ipv4) }
    #expect(table.resolved(record("a"), at: start).count == 1)
    #expect(table.allForNow() == [])
    _ = table.appeared("late", on: ipv4)
    #expect(table.failed("b", at: start) == [])
    #expect(table.disappeared("c", on: ipv4) == [.release(name: "c"), .report(.listed)])
    #expect(table.isListed)
    #expect(table.failed("late", at: start) == [])
    #expect(table.allForNow() == [])
  }

  @Test("Nothing at all is listed at once")
  func nothing() {
    var table = table()
    #expect(table.allForNow() == [.report(.listed)])
  }

  @Test("A service over the limit is refused, and looked for again when there is room")
  func limit() {
    var table = table(maximumServices: 2)
    _ = table.appeared("a", on: ipv4)
    _ = table.appeared("b", on: ipv4)
    #expect(table.appeared("c", on: ipv4) == [.refuse(1)])
    #expect(table.services.count == 2)
    #expect(table.nextTick == nil)
    _ = table.disappeared("a", on: ipv4)
    #expect(table.nextTick == start + .seconds(60))
    #expect(table.tick(start + .seconds(59)) == [])
    #expect(table.tick(start + .seconds(60)) == [.browseAgain])
    #expect(table.nextTick == nil)
    #expect(table.appeared("c", on: ipv4) == [.resolve(name: "c", path: ipv4)])
  }

  @Test("What another listing does not have any more is lost at its end")
  func gone() {
    var table = table(maximumServices: 2)
    for name in ["a", "b", "c"] { _ = table.appeared(name, on: ipv4) }
    _ = table.resolved(record("b"), at: start)
    _ = table.disappeared("a", on: ipv4)
    #expect(table.tick(start + .seconds(60)) == [.browseAgain])
    _ = table.appeared("c", on: ipv4)
    #expect(table.allForNow() == [.release(name: "b"), .report(.lost(name: "b"))])
  }

  @Test("Of many changes in a minute the last is found when it is over, and the others are counted")
  func changes() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.resolved(record("a", "n=0"), at: start)
    for number in 1...9 {
      let changed = record("a", "n=\(number)")
      #expect(table.resolved(changed, at: start) == [.report(.found(changed))])
    }
    #expect(table.resolved(record("a", "n=11"), at: start) == [])
    #expect(table.nextTick == start + .seconds(60))
    #expect(table.resolved(record("a", "n=12"), at: start) == [.refuse(1)])
    #expect(table.tick(start + .seconds(59)) == [])
    #expect(table.tick(start + .seconds(60)) == [.report(.found(record("a", "n=12")))])
    #expect(table.nextTick == nil)
  }

  @Test("A change back to what was found last is no news")
  func changeBack() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.resolved(record("a", "n=0"), at: start)
    for number in 1...9 { _ = table.resolved(record("a", "n=\(number)"), at: start) }
    _ = table.resolved(record("a", "n=0"), at: start)
    #expect(table.resolved(record("a", "n=9"), at: start) == [.refuse(1)])
    #expect(table.nextTick == nil)
  }

  @Test("Refused entries of a TXT record are counted once for each record")
  func refusedEntries() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    let bad = record("a", "\u{1}=1")
    #expect(table.resolved(bad, at: start) == [.refuse(1), .report(.found(bad))])
    #expect(table.resolved(bad, at: start) == [])
  }

  @Test("A service that is seen on more paths than are known stays bounded")
  func manyPaths() {
    var table = table()
    for interface in 0..<1_000 {
      _ = table.appeared("a", on: ServicePath(interface: Int32(interface), protocol: 0))
    }
    #expect(table.services["a"]?.paths.count == ServiceTable.maximumPaths)
  }

  // MARK: Queries

  /// With services that were resolved at the start on these paths.
  private func queried(_ names: [String], on paths: [ServicePath]) -> ServiceTable {
    var table = table()
    for name in names {
      for path in paths { _ = table.appeared(name, on: path) }
      let host = ServiceRecord(
        name: name, host: "\(name).local", port: 1, text: TXTRecord(entries: []))
      _ = table.resolved(host, at: start)
    }
    return table
  }

  private func queries(_ actions: [ServiceTable.Action]) -> Set<String> {
    Set(actions.compactMap { if case .query(let name, _) = $0 { name } else { nil } })
  }

  /// Runs a round that is due, in which only `answering` answer, each time.
  private func round(
    _ table: inout ServiceTable, answering: [String] = []
  ) -> (rounds: [Set<String>], actions: [ServiceTable.Action]) {
    var rounds: [Set<String>] = []
    var rest: [ServiceTable.Action] = []
    while true {
      let actions = table.query(table.nextQuery)
      guard !queries(actions).isEmpty else { return (rounds, rest + actions) }
      rounds.append(queries(actions))
      for name in answering { rest += table.queryAnswered(name) }
    }
  }

  @Test(
    "Every 5 minutes each service is queried on all its paths, again after 10 seconds if it has ever answered"
  )
  func queries() {
    var table = queried(["a", "b"], on: [ipv4, ipv6])
    _ = table.appeared("unresolved", on: ipv4)
    #expect(table.nextQuery == start + .seconds(300))
    #expect(table.query(start + .seconds(299)) == [])
    let actions = table.query(start + .seconds(300))
    #expect(actions.contains(.query(name: "a", paths: [ipv4, ipv6])))
    #expect(queries(actions) == ["a", "b"])
    #expect(table.queryAnswered("a") == [])
    #expect(table.nextQuery == start + .seconds(310))
    #expect(table.query(start + .seconds(310)) == [.endQueries])
    #expect(table.nextQuery == start + .seconds(610))
    #expect(round(&table).rounds == [["a", "b"], ["a"], ["a"]])
  }

  @Test("A service that has answered, and leaves three queries unanswered, is lost")
  func fellSilent() {
    var table = queried(["a", "b"], on: [ipv4])
    _ = round(&table, answering: ["a", "b"])
    #expect(
      round(&table, answering: ["b"]).actions
        == [.endQueries, .report(.lost(name: "a", silence: .seconds(30)))])
  }

  @Test("A service that has never answered is not lost, nor one whose query could not be sent")
  func cannotFallSilent() {
    var table = queried(["never", "unsent"], on: [ipv4])
    _ = round(&table, answering: ["unsent"])
    for _ in 1...2 {
      #expect(!queries(table.query(table.nextQuery)).isEmpty)
      table.querySendingFailed("unsent")
      #expect(round(&table).actions == [.endQueries])
    }
  }

  @Test("Where none of two services answers that did, none is lost, until one has answered again")
  func noAnswersGetThrough() {
    var table = queried(["a", "b"], on: [ipv4])
    _ = round(&table, answering: ["a", "b"])
    #expect(round(&table).actions == [.endQueries])
    // The next round asks each once, as at the beginning.
    #expect(round(&table).rounds == [["a", "b"]])
    #expect(round(&table, answering: ["a", "b"]).actions == [.endQueries])
    #expect(
      round(&table, answering: ["a"]).actions
        == [.endQueries, .report(.lost(name: "b", silence: .seconds(30)))])
  }

  @Test("Services that leave queries unanswered are lost where one answers for the first time")
  func answersGetThrough() {
    var table = queried(["a", "b", "new"], on: [ipv4])
    _ = round(&table, answering: ["a", "b"])
    #expect(round(&table, answering: ["new"]).actions.count == 3)
  }

  @Test("Nothing is lost in a round with too many packets")
  func flooded() {
    var table = queried(["a", "b"], on: [ipv4])
    _ = round(&table, answering: ["a", "b"])
    #expect(queries(table.query(table.nextQuery)) == ["a", "b"])
    _ = table.queryAnswered("a")
    table.queriesFlooded()
    #expect(table.query(table.nextQuery) == [.endQueries])
    #expect(round(&table, answering: ["a"]).actions.count == 2)
  }

  @Test("One answer to three queries is enough")
  func lateAnswer() {
    var table = queried(["a"], on: [ipv4])
    _ = round(&table, answering: ["a"])
    for _ in 1...3 { _ = table.query(table.nextQuery) }
    #expect(table.queryAnswered("a") == [])
    #expect(table.query(table.nextQuery) == [.endQueries])
  }

  @Test("A silent service is queried every 20 seconds, and resolved again when it answers")
  func answersAgain() {
    var table = queried(["a"], on: [ipv4])
    _ = round(&table, answering: ["a"])
    _ = round(&table)
    let ended = table.nextQuery
    #expect(round(&table).rounds == [["a"]])
    #expect(table.nextQuery == ended + .seconds(20))
    #expect(
      round(&table, answering: ["a"]).actions
        == [.release(name: "a"), .resolve(name: "a", path: ipv4), .endQueries])
    #expect(
      table.resolved(record("a"), at: start) == [.report(.found(record("a")))])
  }

  @Test(
    "A silent service is not found from a cache, but when it says something else, or appears anew")
  func silentInCache() {
    var table = table()
    _ = table.appeared("a", on: ipv4)
    _ = table.resolved(record("a"), at: start)
    _ = round(&table, answering: ["a"])
    _ = round(&table)
    #expect(table.resolved(record("a"), at: start) == [])
    // Its host goes and comes back.
    #expect(table.failed("a", at: start) == [])
    #expect(table.tick(start + .seconds(300)).count == 2)
    #expect(table.resolved(record("a"), at: start) == [])
    #expect(table.nextTick == nil)
    let changed = record("a", "rv=2")
    #expect(table.resolved(changed, at: start) == [.report(.found(changed))])
    #expect(round(&table).actions.contains(.report(.lost(name: "a", silence: .seconds(30)))))
    #expect(table.disappeared("a", on: ipv4) == [.release(name: "a")])
    #expect(table.appeared("a", on: ipv4) == [.resolve(name: "a", path: ipv4)])
    #expect(table.resolved(changed, at: start) == [.report(.found(changed))])
    // It has to answer once more.
    #expect(round(&table).actions == [.endQueries])
  }

  @Test("What has gone or failed during a round does not fall silent")
  func goneInRound() {
    var table = queried(["gone", "failed", "back"], on: [ipv4])
    _ = round(&table, answering: ["gone", "failed", "back"])
    _ = table.query(table.nextQuery)
    _ = table.disappeared("gone", on: ipv4)
    _ = table.failed("failed", at: start)
    _ = table.disappeared("back", on: ipv4)
    _ = table.appeared("back", on: ipv4)
    #expect(round(&table).actions == [.endQueries])
  }
}
