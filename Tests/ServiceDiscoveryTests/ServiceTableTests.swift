import Testing

@testable import ServiceDiscovery

struct ServiceTableTests {
  private let start = ContinuousClock.now
  private let ipv4 = ServicePath(interface: 2, protocol: 0)
  private let ipv6 = ServicePath(interface: 2, protocol: 1)

  private typealias Actions = [ServiceTable.Action]
  private var table: ServiceTable

  init() { table = ServiceTable(limits: ServiceLimits(maximumServices: 200), now: start) }

  private func record(_ name: String, _ text: String = "rv=1", host: String = "h.local") -> ServiceRecord {
    ServiceRecord(name: name, host: host, port: 1, text: TXTRecord(entries: [Array(text.utf8)]))
  }

  @discardableResult private mutating func appeared(_ names: String..., on path: ServicePath? = nil) -> Actions {
    names.flatMap { table.appeared($0, on: path ?? ipv4) }
  }

  @discardableResult private mutating func disappeared(_ name: String, on path: ServicePath? = nil) -> Actions {
    table.disappeared(name, on: path ?? ipv4)
  }

  @discardableResult private mutating func resolved(_ name: String, _ text: String = "rv=1") -> Actions {
    table.resolved(record(name, text), at: start)
  }

  @discardableResult private mutating func failed(_ name: String) -> Actions { table.failed(name, at: start) }

  /// That a service is news.
  private func found(_ name: String, _ text: String = "rv=1") -> Actions { [.report(.found(record(name, text)))] }

  @Test("A service is resolved on the first path on which it is seen, and found when it is resolved")
  mutating func found() {
    #expect(appeared("a") == [.resolve(name: "a", path: ipv4)])
    #expect(appeared("a", on: ipv6) == [])
    #expect(resolved("a") == found("a"))
    #expect(resolved("a") == [])
  }

  private func unusable(_ name: String) -> Actions { [.report(.unusable(name: name, reason: ServiceTable.unresolved))] }

  @Test("A service that never resolves is unusable, once, until it resolves or goes") mutating func unusable() {
    appeared("a", "b")
    #expect(failed("a") == unusable("a") && failed("b") == unusable("b"))
    let again = start + .seconds(300)
    _ = table.tick(again)
    #expect(table.failed("a", at: again) == [])
    #expect(disappeared("a") == [.release(name: "a"), .report(.lost(name: "a"))])
    #expect(resolved("b") == found("b"))
    #expect(failed("b") == [.report(.lost(name: "b", silence: .seconds(125)))])
    #expect(disappeared("b") == [.release(name: "b"), .report(.lost(name: "b"))], "its record has gone, too")
  }

  @Test("A service is lost with its last path only") mutating func lastPath() {
    appeared("a")
    appeared("a", on: ipv6)
    resolved("a")
    #expect(disappeared("a", on: ipv6) == [])
    #expect(disappeared("a") == [.release(name: "a"), .report(.lost(name: "a"))])
    #expect(disappeared("a") == [])
  }

  @Test("A service that loses the path on which it is resolved is resolved on another") mutating func otherPath() {
    appeared("a")
    appeared("a", on: ipv6)
    #expect(disappeared("a") == [.release(name: "a"), .resolve(name: "a", path: ipv6)])
    #expect(disappeared("a", on: ipv6) == [.release(name: "a")])
  }

  @Test("A service whose host has no address any more is lost, and found when it has one again") mutating func silent()
  {
    appeared("a")
    resolved("a")
    #expect(failed("a") == [.report(.lost(name: "a", silence: .seconds(125)))])
    #expect(failed("a") == [])
    #expect(resolved("a") == found("a"))
    #expect(table.nextTick == nil)
  }

  @Test("A service is lost when it fails on each of its paths, and asked for again in 5 minutes")
  mutating func retried() {
    appeared("a")
    appeared("a", on: ipv6)
    resolved("a")
    #expect(failed("a") == [.release(name: "a"), .resolve(name: "a", path: ipv6)])
    #expect(failed("a").count == 1)
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
  mutating func replaced() {
    _ = table.allForNow()
    appeared("a", "b", "c")
    resolved("a")
    let other = ServiceRecord(name: "b", host: "h.local", port: 2, text: TXTRecord(entries: []))
    #expect(table.resolved(other, at: start) == [.report(.found(other))])
    #expect(resolved("c") == [.release(name: "a"), .report(.lost(name: "a"))] + found("c"))
    appeared("d")
    #expect(resolved("d") == [.release(name: "c"), .report(.lost(name: "c"))] + found("d"))
    #expect(failed("d").count == 1)
    #expect(resolved("d") == found("d"))
    #expect(disappeared("c") == [.release(name: "c")])
    #expect(disappeared("d") == [.release(name: "d"), .report(.lost(name: "d")), .resolve(name: "a", path: ipv4)])
    #expect(resolved("a") == found("a"))
  }

  @Test("A service that fails, and is asked for again, does not take the place of a later one")
  mutating func replacedWhileGone() {
    _ = table.allForNow()
    appeared("a")
    resolved("a")
    failed("a")
    appeared("b")
    #expect(resolved("b") == [.release(name: "a"), .report(.lost(name: "a"))] + found("b"))
    #expect(table.nextTick == nil)
    // After an outage of the host it is the later one that is found again.
    failed("b")
    #expect(table.tick(start + .seconds(300)) == [.release(name: "b"), .resolve(name: "b", path: ipv4)])
    #expect(table.resolved(record("b"), at: start + .seconds(300)) == found("b"))
  }

  @Test("Of services with one host and port that are there at the start all are found") mutating func sameHostAtStart()
  {
    for name in ["a", "b"] {
      appeared(name)
      #expect(resolved(name) == found(name))
    }
  }

  @Test("A service that comes and goes all the time is reported as often as one that changes") mutating func flapping()
  {
    var found = 0
    for _ in 0..<100 {
      appeared("a")
      found += resolved("a").count { $0 == .report(.found(record("a"))) }
      disappeared("a")
      _ = table.tick(start)
    }
    #expect(found == 10)
    #expect(table.tick(start + .seconds(60)) == [])
    #expect(table.paces.isEmpty)
  }

  @Test("A service that goes before it was resolved is not lost") mutating func neverFound() {
    appeared("a")
    #expect(disappeared("a") == [.release(name: "a")])
    #expect(resolved("a") == [])
  }

  @Test("It is listed once all resolvers that were started by then have answered or failed") mutating func listed() {
    appeared("a", "b", "c")
    #expect(resolved("a").count == 1)
    #expect(table.allForNow() == [])
    appeared("late")
    #expect(failed("b") == unusable("b"))
    #expect(disappeared("c") == [.release(name: "c"), .report(.listed)])
    #expect(table.isListed)
    #expect(failed("late") == unusable("late"))
    #expect(table.allForNow() == [])
  }

  @Test("Nothing at all is listed at once") mutating func nothing() { #expect(table.allForNow() == [.report(.listed)]) }

  @Test("A service over the limit is refused, and looked for again when there is room") mutating func limit() {
    table = ServiceTable(limits: ServiceLimits(maximumServices: 2), now: start)
    appeared("a")
    appeared("b")
    #expect(appeared("c") == [.refuse(1)])
    #expect(table.services.count == 2)
    #expect(table.nextTick == nil)
    disappeared("a")
    #expect(table.nextTick == start + .seconds(60))
    #expect(table.tick(start + .seconds(59)) == [])
    #expect(table.tick(start + .seconds(60)) == [.browseAgain])
    #expect(table.nextTick == nil)
    #expect(appeared("c") == [.resolve(name: "c", path: ipv4)])
  }

  @Test("What another listing does not have any more is lost at its end") mutating func gone() {
    table = ServiceTable(limits: ServiceLimits(maximumServices: 2), now: start)
    appeared("a", "b", "c")
    resolved("b")
    disappeared("a")
    #expect(table.tick(start + .seconds(60)) == [.browseAgain])
    appeared("c")
    #expect(table.allForNow() == [.release(name: "b"), .report(.lost(name: "b"))])
  }

  @Test("Of many changes in a minute the last is found when it is over, and the others are counted")
  mutating func changes() {
    appeared("a")
    resolved("a", "n=0")
    for number in 1...9 { #expect(resolved("a", "n=\(number)") == found("a", "n=\(number)")) }
    #expect(resolved("a", "n=11") == [])
    #expect(table.nextTick == start + .seconds(60))
    #expect(resolved("a", "n=12") == [.refuse(1)])
    #expect(table.tick(start + .seconds(59)) == [])
    #expect(table.tick(start + .seconds(60)) == found("a", "n=12"))
    #expect(table.nextTick == nil)
  }

  @Test("A change back to what was found last is no news") mutating func changeBack() {
    appeared("a")
    resolved("a", "n=0")
    for number in 1...9 { resolved("a", "n=\(number)") }
    resolved("a", "n=0")
    #expect(resolved("a", "n=9") == [.refuse(1)])
    #expect(table.nextTick == nil)
  }

  @Test("Refused entries of a TXT record are counted once for each record") mutating func refusedEntries() {
    appeared("a")
    #expect(resolved("a", "\u{1}=1") == [.refuse(1)] + found("a", "\u{1}=1"))
    #expect(resolved("a", "\u{1}=1") == [])
  }

  @Test("A service that is seen on more paths than are known stays bounded") mutating func manyPaths() {
    for interface in 0..<1_000 { _ = table.appeared("a", on: ServicePath(interface: Int32(interface), protocol: 0)) }
    #expect(table.services["a"]?.paths.count == ServiceTable.maximumPaths)
  }

  // MARK: Queries

  /// With services that were resolved at the start on these paths.
  private mutating func resolve(_ names: String..., on paths: [ServicePath]? = nil) {
    for name in names {
      for path in paths ?? [ipv4] { appeared(name, on: path) }
      _ = table.resolved(record(name, host: "\(name).local"), at: start)
    }
  }

  private func queries(_ actions: Actions) -> Set<String> {
    Set(actions.compactMap { if case .query(let name, _) = $0 { name } else { nil } })
  }

  /// Runs a round that is due, in which only `answering` answer, each time.
  @discardableResult private mutating func round(answering: String...) -> (rounds: [Set<String>], actions: Actions) {
    var rounds: [Set<String>] = []
    var rest: Actions = []
    while true {
      let actions = table.query(table.nextQuery)
      guard !queries(actions).isEmpty else { return (rounds, rest + actions) }
      rounds.append(queries(actions))
      for name in answering { rest += table.queryAnswered(name) }
    }
  }

  @Test("Every 5 minutes each service is queried on all its paths, again after 10 seconds if it has ever answered")
  mutating func queries() {
    resolve("a", "b", on: [ipv4, ipv6])
    appeared("unresolved")
    #expect(table.nextQuery == start + .seconds(300))
    #expect(table.query(start + .seconds(299)) == [])
    let actions = table.query(start + .seconds(300))
    #expect(actions.contains(.query(name: "a", paths: [ipv4, ipv6])))
    #expect(queries(actions) == ["a", "b"])
    #expect(table.queryAnswered("a") == [])
    #expect(table.nextQuery == start + .seconds(310))
    #expect(table.query(start + .seconds(310)) == [.endQueries])
    #expect(table.nextQuery == start + .seconds(610))
    #expect(round().rounds == [["a", "b"], ["a"], ["a"]])
  }

  @Test("A service that has answered, and leaves three queries unanswered, is lost") mutating func fellSilent() {
    resolve("a", "b")
    round(answering: "a", "b")
    #expect(round(answering: "b").actions == [.endQueries, .report(.lost(name: "a", silence: .seconds(30)))])
  }

  @Test("A service that has never answered is not lost, nor one whose query could not be sent")
  mutating func cannotFallSilent() {
    resolve("never", "unsent")
    round(answering: "unsent")
    for _ in 1...2 {
      #expect(!queries(table.query(table.nextQuery)).isEmpty)
      table.querySendingFailed("unsent")
      #expect(round().actions == [.endQueries])
    }
  }

  @Test("Where none of two services answers that did, none is lost, until one has answered again")
  mutating func noAnswersGetThrough() {
    resolve("a", "b")
    round(answering: "a", "b")
    #expect(round().actions == [.endQueries])
    // The next round asks each once, as at the beginning.
    #expect(round().rounds == [["a", "b"]])
    #expect(round(answering: "a", "b").actions == [.endQueries])
    #expect(round(answering: "a").actions == [.endQueries, .report(.lost(name: "b", silence: .seconds(30)))])
  }

  @Test("Services that leave queries unanswered are lost where one answers for the first time")
  mutating func answersGetThrough() {
    resolve("a", "b", "new")
    round(answering: "a", "b")
    #expect(round(answering: "new").actions.count == 3)
  }

  @Test("Nothing is lost in a round with too many packets") mutating func flooded() {
    resolve("a", "b")
    round(answering: "a", "b")
    #expect(queries(table.query(table.nextQuery)) == ["a", "b"])
    _ = table.queryAnswered("a")
    table.queriesFlooded()
    #expect(table.query(table.nextQuery) == [.endQueries])
    #expect(round(answering: "a").actions.count == 2)
  }

  @Test("One answer to three queries is enough") mutating func lateAnswer() {
    resolve("a")
    round(answering: "a")
    for _ in 1...3 { _ = table.query(table.nextQuery) }
    #expect(table.queryAnswered("a") == [])
    #expect(table.query(table.nextQuery) == [.endQueries])
  }

  @Test("A silent service is queried every 20 seconds, and resolved again when it answers") mutating func answersAgain()
  {
    resolve("a")
    round(answering: "a")
    round()
    let ended = table.nextQuery
    #expect(round().rounds == [["a"]])
    #expect(table.nextQuery == ended + .seconds(20))
    #expect(round(answering: "a").actions == [.release(name: "a"), .resolve(name: "a", path: ipv4), .endQueries])
    #expect(resolved("a") == found("a"))
  }

  @Test("A silent service is not found from a cache, but when it says something else, or appears anew")
  mutating func silentInCache() {
    appeared("a")
    resolved("a")
    round(answering: "a")
    round()
    #expect(resolved("a") == [])
    // Its host goes and comes back.
    #expect(failed("a") == [])
    #expect(table.tick(start + .seconds(300)).count == 2)
    #expect(resolved("a") == [])
    #expect(table.nextTick == nil)
    #expect(resolved("a", "rv=2") == found("a", "rv=2"))
    #expect(round().actions.contains(.report(.lost(name: "a", silence: .seconds(30)))))
    #expect(disappeared("a") == [.release(name: "a"), .report(.lost(name: "a"))])
    #expect(appeared("a") == [.resolve(name: "a", path: ipv4)])
    #expect(resolved("a", "rv=2") == found("a", "rv=2"))
    // It has to answer once more.
    #expect(round().actions == [.endQueries])
  }

  @Test("What has gone or failed during a round does not fall silent") mutating func goneInRound() {
    resolve("gone", "failed", "back")
    round(answering: "gone", "failed", "back")
    _ = table.query(table.nextQuery)
    disappeared("gone")
    failed("failed")
    disappeared("back")
    appeared("back")
    #expect(round().actions == [.endQueries])
  }
}
