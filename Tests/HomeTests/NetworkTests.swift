import Testing
import ThreadDataset

@testable import Home

@Suite struct RouterTableTests {
  private static func router(_ agent: UInt64, _ name: String? = nil) -> Router {
    var router = Router(.number(agent), at: WireTime(milliseconds: 0))
    router.ownName = name
    return router
  }

  @Test("Holds what a dictionary would hold, and no copy changes with it", arguments: 1...8 as ClosedRange<UInt64>)
  func model(_ seed: UInt64) {
    var numbers = RandomHome(seed: seed)
    var table = RouterTable()
    var expected: [UInt64: (name: String, seen: Int64)] = [:]
    var copies: [(RouterTable, [UInt64: String])] = []
    for step in 1...4_000 {
      let agent = UInt64.random(in: 1...3_000, using: &numbers)
      let now = WireTime(milliseconds: Int64(step))
      switch Int.random(in: 0..<10, using: &numbers) {
      case 0..<6:
        table.set(Self.router(agent, "\(step)"), firstSeen: now)
        expected[agent] = ("\(step)", expected[agent]?.seen ?? now.milliseconds)
      case 6..<8:
        table.remove(.number(agent))
        expected[agent] = nil
      default:
        table.see(.number(agent), at: now)
        if expected[agent] != nil { expected[agent]?.seen = now.milliseconds }
      }
      if step % 500 == 0 { copies.append((table, expected.mapValues(\.name))) }
    }
    #expect(table.count == expected.count)
    for agent: UInt64 in 1...3_000 {
      #expect(table[.number(agent)]?.name == expected[agent]?.name)
      #expect(table.lastSeen(.number(agent)).milliseconds == expected[agent]?.seen ?? 0)
    }
    for (copy, names) in copies {
      #expect(Set(copy.map { $0.name ?? "" }) == Set(names.values) && copy.count == names.count)
    }
  }

  @Test("Two tables are equal that have the same routers, whenever these were seen and came") func equal() {
    let now = WireTime(milliseconds: 5)
    var one = RouterTable()
    var other = RouterTable()
    for agent: UInt64 in 1...3 { one.set(Self.router(agent), firstSeen: now) }
    for agent: UInt64 in [3, 2, 1] { other.set(Self.router(agent), firstSeen: now.adding(seconds: 9)) }
    #expect(one == other)
    other.set(Self.router(2, "Attic"), firstSeen: now)
    #expect(one != other)
  }

  private struct Names {
    var router: String?
    var network: UInt64
    var networkName: String
  }

  @Test("A change returns which names have changed, and counts as a look at all does", arguments: 1...4) func names(
    _ seed: UInt64
  ) {
    var numbers = RandomHome(seed: seed)
    let now = WireTime(milliseconds: 0)
    var table = RouterTable()
    var listed: [UInt64: Names] = [:]
    func networks() -> Set<String> { Set(listed.values.map { "\($0.network) \($0.networkName)" }) }
    for step in 1...400 {
      let agent = UInt64.random(in: 1...8, using: &numbers)
      let (old, before) = (listed[agent], networks())
      let news: NameNews
      if Int.random(in: 0..<4, using: &numbers) == 0 {
        listed[agent] = nil
        news = table.remove(.number(agent))
      } else {
        let names = Names(
          router: ["Attic", "Cellar", nil].randomElement(using: &numbers) ?? nil,
          network: .random(in: 1...3, using: &numbers), networkName: Bool.random(using: &numbers) ? "Home" : "Guests")
        listed[agent] = names
        var router = Self.router(agent, names.router)
        router.isPresent = true
        router.dataset = .of(names.network, name: names.networkName)
        news = table.set(router, firstSeen: now)
      }
      let new = listed[agent]
      let isRenamed = old?.router != new?.router
      #expect(
        news.router.old?.look == (isRenamed ? old?.router : nil) && news.router.old.map { $0.id.high == agent } != false
      )
      #expect(
        news.router.new?.look == (isRenamed ? new?.router : nil) && news.router.new.map { $0.id.high == agent } != false
      )
      let isNetworkNews = networks() != before
      #expect(news.network.old?.look == (isNetworkNews ? old?.networkName : nil))
      #expect(news.network.new?.look == (isNetworkNews ? new?.networkName : nil))
      if step % 50 == 0 {
        var counted = RouterTable()
        for router in table { counted.set(router, firstSeen: now) }
        #expect(counted.counts == table.counts)
      }
    }
  }

  @Test("A clock that is set back lets nothing have been seen later than now") func notLater() {
    var table = RouterTable()
    table.set(Self.router(1), firstSeen: WireTime(milliseconds: 5))
    table.set(Self.router(2), firstSeen: WireTime(milliseconds: 50))
    table.seeNotLater(than: WireTime(milliseconds: 9))
    #expect(table.lastSeen(1).milliseconds == 5 && table.lastSeen(2).milliseconds == 9)
  }

  @Test("The numbers of a router agree with a model that forgets nothing", arguments: 1...8 as ClosedRange<UInt64>)
  func window(_ seed: UInt64) {
    var numbers = RandomHome(seed: seed)
    var window = SequenceWindow()
    var seen: Set<UInt64> = []
    var high: UInt64 = 0
    for _ in 1...500 {
      let low = high > 90 ? high - 90 : 0
      let number = UInt64.random(in: low...high + 20, using: &numbers)
      let verdict = window.take(.number(number))
      if seen.isEmpty || number > high {
        #expect(verdict == .news)
        high = number
      } else {
        let isKnown = seen.contains(number) && high - number < 64
        #expect(verdict == (isKnown ? .duplicate : .outOfOrder))
      }
      seen.insert(number)
    }
  }
}

/// The networks of a home, which follow from its routers.
@Suite struct NetworkTests {
  private static func shown(_ scene: HomeScene) -> [String] {
    scene.home.networks.map { "\($0.name) \($0.routers) \($0.online)\($0.isPreferred ? " *" : "")" }
  }

  @Test("Networks are listed by name, with their routers, and the preferred one also without any") func list() {
    var scene = HomeScene()
    scene.announce(1, .of(3))
    scene.announce(2...3, .of(2))
    scene.publish(.offline, 3)
    scene.see(.of(4, on: 5), .of(5, on: nil))
    #expect(Self.shown(scene) == ["net-2 2 1", "net-3 1 1 *", "net-5 1 1"])
    for agent: UInt64 in 1...3 { scene.publish(.leave, agent) }
    #expect(Self.shown(scene) == ["net-3 0 0 *", "net-5 1 1"])
    #expect(scene.home.network(2) == nil)
  }

  @Test("A network shows its newest dataset; the preferred one its own, whatever others claim") func newest() {
    var scene = HomeScene()
    scene.announce(1, .of(1, at: 5))
    scene.announce(2, .of(1, key: 9, at: 99, name: "evil"), from: "other")
    #expect(scene.home.network(1)?.dataset == .of(1, at: 5))
    #expect(scene.home.network(1)?.name == "net-1")
    scene.announce(3, .of(2, at: 7, name: "new"))
    scene.announce(4, .of(2, at: 6, name: "old"))
    #expect(scene.home.network(2)?.dataset == .of(2, at: 7, name: "new"))
    scene.see(.of(5, on: 2) { $0.networkName = "seen" }, .of(6, on: 1) { $0.networkName = "seen" })
    #expect(scene.home.networks.map(\.name) == ["net-1", "new"])
  }

  @Test("Without a dataset its name is what records call it") func named() {
    var scene = HomeScene()
    for name in ["", "first", "second"] {
      scene.see(.of(1) { $0.networkName = name })
      #expect(scene.home.network(1)?.name == name)
    }
  }

  @Test("A network that lost the router by which it is shown has the next one") func nextRouter() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    for agent: UInt64 in 2...4 { scene.announce(agent, .of(2, at: agent)) }
    scene.publish(.leave, 4)
    #expect(scene.home.network(2)?.dataset == .of(2, at: 3))
  }

  @Test("What changes of a router is published of its networks, and nothing else") func changes() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.announce(2, .of(2))
    func changed(_ change: (inout HomeScene) -> Void) -> Set<ExtendedPANID> {
      _ = scene.home.takeChanges()
      change(&scene)
      return scene.home.takeChanges().networks
    }
    #expect(changed { $0.announce(2) { $0.name = "Attic" } } == [])
    #expect(changed { $0.publish(.offline, 2) } == [2])
    #expect(changed { $0.announce(2, .of(3)) } == [2, 3])
    #expect(changed { $0.announce(2, .of(3, at: 2)) } == [3])
    #expect(changed { $0.publish(.leave, 2) } == [3])
    #expect(changed { $0.see(.of(4, on: 4)) } == [4])
    #expect(changed { $0.see(.of(4, on: 4) { $0.networkName = "x" }) } == [4])
    #expect(changed { $0.prefer(.of(5)) } == [1, 5])
  }
}
