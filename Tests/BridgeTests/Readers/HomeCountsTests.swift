import Home
import HomeStore
import Testing

@testable import Bridge

@Suite("Counts of homes") struct HomeCountsTests {
  typealias Change = @Sendable (inout PublishingScene) -> Void

  struct Row: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let change: Change
    /// What is other than zero.
    let counts: [String: Int]
  }

  private static let rows: [Row] = [
    Row(testDescription: "An empty home", change: { _ in }, counts: [:]),
    Row(
      testDescription: "A router on its network", change: { $0.publish(.announce, 1, .of(1)) },
      counts: ["listed": 1, "online": 1, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "A router without a dataset", change: { $0.publish(.announce, 1) },
      counts: ["listed": 1, "online": 1]),
    Row(
      testDescription: "Routers on two networks, one offline",
      change: {
        $0.publish(.announce, 1, .of(1))
        $0.publish(.announce, 2, .of(2))
        $0.publish(.announce, 3, .of(1))
        $0.publish(.offline, 2)
      }, counts: ["listed": 3, "online": 2, "offline": 1, "credentials": 3, "networks": 2]),
    Row(
      testDescription: "A detached router",
      change: { $0.publish(.announce, 1, .of(1)) { $0.thread.state = .detached } },
      counts: ["listed": 1, "online": 1, "detached": 1, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "A router that was detached when it went offline",
      change: {
        $0.publish(.announce, 1, .of(1)) { $0.thread.state = .detached }
        $0.publish(.offline, 1)
      }, counts: ["listed": 1, "offline": 1, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "A router on another network than it is configured for",
      change: { $0.publish(.announce, 1, .of(1)) { $0.thread.network = .init(number: 2) } },
      counts: ["listed": 1, "online": 1, "elsewhere": 1, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "The network of a router that left stays the preferred one",
      change: {
        $0.publish(.announce, 1, .of(1))
        $0.publish(.leave, 1)
      }, counts: ["departed": 1, "networks": 1]),
    Row(
      testDescription: "Credentials that a program has stored before the router is there",
      change: {
        let requester = Requester(.systemUser(1_000), team: "otbr")
        $0.handle(
          .request(.storeCredentials(.number(1), .of(1)), RequestContext(requester, reply: .caller, actor: "uid 1000")))
      }, counts: ["departed": 1, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "Credentials that logins share, accepted or not",
      change: {
        $0.publish(.announce, 1, .of(1))
        $0.share(.of(1))
        $0.share(.of(2))
      }, counts: ["listed": 1, "online": 1, "credentials": 3, "networks": 2]),
    Row(
      testDescription: "An alert that is held does not count",
      change: {
        $0.publish(.announce, 1, .of(1))
        $0.publish(.announce, 2)
      }, counts: ["listed": 2, "online": 2, "credentials": 1, "networks": 1]),
    Row(
      testDescription: "An alert that fires",
      change: {
        $0.publish(.announce, 1, .of(1))
        $0.publish(.announce, 2)
        $0.tick(after: 31)
      },
      counts: [
        "listed": 2, "online": 2, "credentials": 1, "networks": 1, "credentialsMissing warning": 1,
        "plaintextCredentials info": 1,
      ]),
  ]

  @Test("What is counted", arguments: rows) func counting(row: Row) {
    var scene = PublishingScene()
    row.change(&scene)
    #expect(shown(HomeCounts(scene.home)) == row.counts)
  }

  private func shown(_ counts: HomeCounts) -> [String: Int] {
    let routers = counts.routers
    var shown = [
      "listed": routers.listed, "online": routers.online, "offline": routers.offline, "detached": routers.detached,
      "elsewhere": routers.elsewhere, "departed": routers.departed, "credentials": counts.credentials,
      "networks": counts.networks,
    ].filter { $0.value != 0 }
    for (kind, count) in counts.alerts { shown["\(kind.name) \(kind.severity)"] = count }
    return shown
  }

  @Test("Homes are summed up") func all() {
    let homes = Self.rows.map { row in
      var scene = PublishingScene()
      row.change(&scene)
      return scene.home
    }
    let snapshot = HomeSnapshot(homes: Dictionary(uniqueKeysWithValues: zip(Self.rows.map(\.testDescription), homes)))
    var wanted: [String: Int] = [:]
    for row in Self.rows { wanted.merge(row.counts, uniquingKeysWith: +) }
    #expect(shown(snapshot.counts) == wanted)
    #expect(snapshot.counts.alertsFiring == 2)
  }
}

struct HistogramTests {
  @Test("A value counts in the first bucket that it is not above") func buckets() {
    let histogram = Histogram([1, 2])
    for value in [0, 1, 1.5, 2, 2.5, 1_000] { histogram.add(value) }
    #expect(histogram.snapshot == .init(bounds: [1, 2], counts: [2, 2, 2], sum: 1_007))
    histogram.add(.milliseconds(1_500))
    #expect(histogram.snapshot.counts == [2, 3, 2] && histogram.snapshot.sum == 1_008.5)
  }

  @Test("Many threads lose nothing") func threads() async {
    let histogram = Histogram([1])
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { histogram.add(0.5) } } }
    }
    #expect(histogram.snapshot == .init(bounds: [1], counts: [8_000, 0], sum: 4_000))
  }
}
