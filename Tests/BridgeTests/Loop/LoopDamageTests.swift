import Testing

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("What cannot be read is given up") struct LoopDamageTests {
  private static let alert = AlertKey(.storeDamaged)

  private func row(_ key: RecordKey, _ kit: LoopKit, of home: String = "home") throws -> Int64 {
    let loaded = try LoadedStore([], kit.memory)
    let found = loaded.former.first { $0.name == home }?.book[key]
    return try #require(found).rawValue
  }

  private func noteRow(of home: String, _ kit: LoopKit) throws -> Int64 {
    try #require(kit.memory.rows.first { HomeNote($0.value.state)?.name == home }).key
  }

  private func isFiring(_ home: Home?) -> Bool { home?.alerts[Self.alert]?.phase == .firing }

  /// Nothing refuses a rotation, and no alert comes back.
  private func expectWhole(_ kit: LoopKit, _ homes: [String]) throws -> LoopKit {
    #expect(try kit.memory.unreadable().isEmpty && kit.loop.homes.unreadable.isEmpty)
    let nothing = try kit.loop.forgetDamage(of: nil, actor: nil)
    #expect(nothing.forgotten.isEmpty && nothing.remaining == 0)
    for home in kit.loop.homes.snapshot.homes.values {
      #expect(!home.hasDamage && !home.hasLostCredentials && !isFiring(home))
    }
    let later = try kit.restarted(homes)
    for home in later.loop.homes.snapshot.homes.values { #expect(!home.hasDamage && !isFiring(home)) }
    return later
  }

  @Test("Records are deleted when a person says so, and the home is whole again") func records() throws {
    let kit = try LoopKit(["home", "attic"])
    try kit.loop.received((1...3).map { .announce($0) })
    let damaged = kit.memory.rows.filter { $0.value.secret != nil || $0.value.home == 0 }.keys
    kit.memory.damage(damaged)
    try kit.loop.stop()
    // What the daemon notes is written again.
    kit.memory.damage(damaged)
    let later = try LoopKit(["home", "attic"], on: kit.memory, time: kit.time)
    #expect(throws: UnknownHome.self) { try later.loop.forgetDamage(of: "cabin", actor: nil) }
    later.memory.refuses { try later.loop.forgetDamage(of: nil, actor: "uid 0") }
    #expect(later.home.hasDamage && isFiring(later.home))
    #expect(damaged.allSatisfy { later.memory.rows[$0] != nil })
    let ofHome = damaged.count { later.memory.rows[$0]?.home != 0 }
    #expect(later.loop.homes.unreadable == ["home": ofHome])
    // Those of the daemon itself are no home's.
    let first = try later.loop.forgetDamage(of: "home", actor: "uid 0")
    #expect(first.forgotten.count == ofHome && first.remaining == damaged.count - ofHome)
    #expect(first.forgotten.allSatisfy { $0.home == "home" && $0.key == nil })
    #expect(!later.home.hasDamage && isFiring(later.home))
    let rest = try later.loop.forgetDamage(of: nil, actor: "uid 0")
    #expect(rest.forgotten.map(\.home) == [nil] && rest.remaining == 0)
    #expect(damaged.allSatisfy { later.memory.rows[$0] == nil })
    #expect(later.memory.audit.count { $0.actor == "uid 0" } == damaged.count)
    try later.receive(.announce(1))
    #expect(try expectWhole(later, ["home", "attic"]).home.routers.count == 1)
  }

  @Test("Credentials that do not open are missing from then on, in memory and on disk") func secrets() throws {
    let kit = try LoopKit()
    try kit.receive(.announce(1), .announce(2, .of(2)))
    let (router, home) = (RecordKey.router(.agent(1)), RecordKey.home)
    let rows = [try row(router, kit), try row(home, kit)]
    kit.memory.damageSecrets(rows)
    let later = try kit.restarted()
    // Their states open: no home has lost anything.
    #expect(!later.home.hasDamage && later.loop.homes.unreadable.isEmpty)
    let (forgotten, remaining) = try later.loop.forgetDamage(of: "home", actor: "uid 0")
    #expect(Set(forgotten.map(\.key)) == [router, home] && remaining == 0)
    #expect(Set(forgotten.map(\.id.rawValue)) == Set(rows))
    #expect(later.router(1)?.credential == .missing)
    #expect(later.router(2)?.credential == .stored)
    #expect(later.home.preferred?.dataset.hasCredentials == false)
    #expect(try later.dataset(router) == nil && later.dataset(home) == nil)
    let last = try expectWhole(later, ["home"])
    #expect(last.home.equals(later.home))
    #expect(rows.allSatisfy { last.memory.rows[$0] != nil && last.memory.rows[$0]?.secret == nil })
  }

  @Test("What was read before it was damaged is written again, without its credentials") func damagedMeanwhile() throws
  {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1), .announce(2))
    try kit.loop.stop()
    let later = try LoopKit(["home", "attic"], on: kit.memory, time: kit.time)
    let rows = later.memory.rows
    later.memory.damage(rows.keys)
    let (forgotten, remaining) = try later.loop.forgetDamage(of: nil, actor: nil)
    #expect(forgotten.count == rows.count && remaining == 0)
    #expect(Set(later.memory.rows.keys).isSuperset(of: rows.keys))
    #expect(later.memory.rows.values.allSatisfy { $0.secret == nil })
    let last = try expectWhole(later, ["home", "attic"])
    #expect(last.home.routers.count == 2)
    #expect(last.home.routers.allSatisfy { $0.credential == .missing })
    #expect(last.loop.homes.formerHomes.homes.isEmpty)
  }

  @Test("Homes that the settings name no more are reached as well, one of them by its name") func formerHomes() throws {
    let kit = try LoopKit(["home", "attic", "cabin"])
    for home in ["home", "attic", "cabin"] { try kit.receive(.announce(1, home: home), .announce(2, home: home)) }
    let router = RecordKey.router(.agent(1))
    let (attic, cabin) = (try row(router, kit, of: "attic"), try row(router, kit, of: "cabin"))
    let preferred = try row(.home, kit, of: "attic")
    kit.memory.damageSecrets([attic, preferred])
    let later = try kit.restarted(damaged: [cabin])
    #expect(!later.home.hasDamage && later.loop.homes.unreadable == ["cabin": 1])
    let first = try later.loop.forgetDamage(of: "attic", actor: "uid 0")
    #expect(Set(first.forgotten.map(\.key)) == [router, .home] && first.remaining == 1)
    let rest = try later.loop.forgetDamage(of: nil, actor: "uid 0")
    #expect(rest.forgotten.map(\.home) == ["cabin"] && rest.remaining == 0)
    let last = try expectWhole(later, ["home", "attic", "cabin"])
    let homes = last.loop.homes.snapshot.homes
    #expect(homes["attic"]?.routers[.agent(1)]?.credential == .missing)
    #expect(homes["attic"]?.routers[.agent(2)]?.credential == .stored)
    #expect(homes["attic"]?.preferred?.dataset.hasCredentials == false)
    #expect(homes["cabin"]?.routers[.agent(1)] == nil)
    #expect(homes["cabin"]?.preferred?.dataset.hasCredentials == true)
    #expect(try last.dataset(router, "home") == .of(1))
  }

  @Test("A home whose name is lost gets one, so that no other counts as damaged for it") func names() throws {
    let names = ["home", "attic", "cabin"]
    let kit = try LoopKit(names)
    for home in names { try kit.receive(.announce(1, home: home)) }
    let rows = [try noteRow(of: "home", kit), try noteRow(of: "attic", kit)]
    kit.memory.damage(rows)
    let lost = rows.map { "lost-\($0)" }
    let later = try kit.restarted(names)
    #expect(later.home.hasDamage && isFiring(later.home))
    #expect(Set(later.loop.homes.formerHomes.homes.keys) == Set(lost))
    #expect(later.loop.homes.unreadable == [lost[0]: 1, lost[1]: 1])

    // It has no damaged record of its own.
    let none = try later.loop.forgetDamage(of: "home", actor: "uid 0")
    #expect(none.forgotten.isEmpty && none.remaining == 2)
    #expect(later.home.hasDamage && isFiring(later.home))
    let one = try later.loop.forgetDamage(of: lost[1], actor: "uid 0")
    #expect(one.forgotten.map(\.home) == [lost[1]] && one.remaining == 1)
    #expect(later.home.hasDamage && isFiring(later.home))
    let all = try later.loop.forgetDamage(of: nil, actor: "uid 0")
    #expect(all.forgotten.map(\.home) == [lost[0]] && all.remaining == 0)
    #expect(later.memory.audit.count { $0.actor == "uid 0" } == 2)
    let last = try expectWhole(later, names + [lost[0]])
    #expect(last.loop.homes.snapshot.homes[lost[0]]?.routers.count == 1)
    #expect(Array(last.loop.homes.formerHomes.homes.keys) == [lost[1]])
  }

  @Test("Of a home of which nothing can be read, nothing stays") func nothingReadable() throws {
    let kit = try LoopKit(["home", "attic"])
    try kit.receive(.announce(1, home: "attic"))
    let number = try noteRow(of: "attic", kit)
    let rows = kit.memory.rows.filter { $0.value.home == number }.keys
    let later = try kit.restarted(["home"], damaged: rows)
    #expect(try later.loop.forgetDamage(of: nil, actor: nil).forgotten.count == rows.count)
    #expect(rows.allSatisfy { later.memory.rows[$0] == nil })
    let last = try expectWhole(later, ["home"])
    #expect(last.loop.homes.formerHomes.homes.isEmpty)
  }

  @Test("A person may put a home whose name is lost into the settings as it is shown") func lostName() throws {
    let kit = try LoopKit(["home", "attic", "cabin"])
    for home in ["home", "attic"] { try kit.receive(.announce(1, home: home)) }
    let rows = [try noteRow(of: "home", kit), try noteRow(of: "attic", kit)]
    kit.memory.damage(rows)
    let name = "lost-\(rows[1])"
    for _ in 0..<2 {
      let later = try kit.restarted(["cabin", name])
      #expect(later.loop.homes.snapshot.homes[name]?.routers.count == 1)
      #expect(Array(later.loop.homes.formerHomes.homes.keys) == ["lost-\(rows[0])"])
    }
  }
}
