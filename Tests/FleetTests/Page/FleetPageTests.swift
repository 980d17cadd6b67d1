#if Fleet
import Broker
import DaemonTestKit
import Foundation
import KeychainCore
import Logging
import Settings
import StatusPage
import TestKit
import Testing

@testable import Bridge
@testable import Fleet
@testable import Threadkeeper

@Suite("What operators see of a fleet") struct FleetDocumentTests {
  private static let node = FleetStatus.Node(
    name: "node-a", address: "a.example.net", version: "0.1.0", capacity: 64, shards: 2, draining: false, seenAgo: 1)

  private static func shard(_ number: Int, state: String = "serving") -> FleetStatus.Shard {
    FleetStatus.Shard(
      shard: number, node: state == "serving" ? "node-a" : nil, address: nil, leaseAge: 0.5, homes: 4, routers: 9,
      alerts: 0, waiting: 2, commitMs: 1.25, state: state)
  }

  private struct Draft: Encodable {
    var fleet = FleetStatus.Fleet(name: "north", version: 1)
    var shards: [FleetStatus.Shard] = []
    var nodes: [FleetStatus.Node] = []

    var status: FleetStatus {
      get throws { try JSONDecoder().decode(FleetStatus.self, from: JSONEncoder().encode(self)) }
    }
  }

  @Test("The first sentence says the worst of what is wrong") func verdict() throws {
    var status = try Draft(shards: [Self.shard(1), Self.shard(2)], nodes: [Self.node]).status
    #expect(FleetDocument.verdict(status) == ("good", "All 2 shards are served."))
    status.nodes[0].seenAgo = 40
    #expect(FleetDocument.verdict(status).sign == "warn")
    #expect(FleetDocument.verdict(status).text.contains("node-a gives no sign of life"))
    status.shards.append(Self.shard(3, state: "unclaimed"))
    #expect(FleetDocument.verdict(status) == ("bad", "1 of 3 shards are not served."))
  }

  @Test("What is not served comes first, and a long list is cut") func order() throws {
    let shards = (1...3_000).map { Self.shard($0, state: $0 == 2_500 ? "rolled_back" : "serving") }
    let page = FleetDocument.html(try Draft(shards: shards).status, nonce: "n0")
    let rows = page.matches(of: #/<tr><td>(\d+)</td><td>([a-z ]+)</td>/#)
    #expect(rows.count == FleetDocument.most)
    let first = try #require(rows.first)
    #expect(first.output.1 == "2500" && first.output.2 == "rolled back")
  }

  @Test("Names of others are text, whatever is in them, and nothing is from elsewhere") func names() throws {
    var node = Self.node
    node.name = "<script>alert(1)</script>&"
    node.address = "<\u{301}img src=x>"
    let page = FleetDocument.html(try Draft(nodes: [node]).status, nonce: "n0")
    #expect(page.contains("&lt;script>alert(1)&lt;/script>&amp;"))
    #expect(!page.contains("<script") && !Array(page.utf8).contains(Array("<\u{301}".utf8)))
    for mark in ["http:", "https:", "//", "@import", "url(", " style="] { #expect(!page.contains(mark), "\(mark)") }
    #expect(page.contains("<style nonce=\"n0\">") && page.contains("<html lang=\"en\">"))
  }
}

@Suite("The HTTP server of a node", .enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(10)))
struct FleetPageTests {
  private let store: TemporaryStore
  private let bridge: Bridge

  init() throws {
    store = try TemporaryStore()
    bridge = try Bridge(
      BridgeConfiguration(MovedStore.settings(store), version: threadkeeperVersion),
      connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
      store: SealedRecords(store.keychain), logger: Logger(label: "test"))
  }

  private func page(_ shards: [Int], _ problems: FleetPage.Problems = .init(), database url: String) throws -> FleetPage
  {
    var settings = MovedStore.settings(store)
    settings.store.url = SecretText(url)
    return FleetPage(
      try FleetDatabase(settings), shards: { [bridge] in shards.map { .init(shard: $0, bridge: bridge) } },
      problems: { problems })
  }

  /// Of a fleet with three shards and two nodes.
  private func page(_ shards: [Int] = [1]) throws -> FleetPage {
    let server = try PostgresServer.shared()
    let name = try server.makeFleet(shards: 3)
    try server.run(
      """
      INSERT INTO threadkeeper.node (name, address, version, capacity, seen) VALUES
        ('node-a', 'localhost', '0.1.0', 64, now()), ('node-b', 'localhost', '0.1.0', 64, now() - interval '1 h');
      INSERT INTO threadkeeper.key_slot (shard, sealed) VALUES (1, ''), (2, ''), (3, '');
      UPDATE threadkeeper.lease SET node = 'node-a', until = now() + interval '9 s', state = 'serving'
        WHERE shard = 1;
      UPDATE threadkeeper.lease SET state = 'rolled_back' WHERE shard = 2;
      """, database: name)
    return try page(shards, database: server.url(database: name))
  }

  /// Where there is no server.
  private func lonely(_ shards: [Int], _ problems: FleetPage.Problems = .init()) throws -> FleetPage {
    try page(shards, problems, database: "host=\(store.path) dbname=none connect_timeout=2")
  }

  @Test("Metrics have each shard of the process, and the fleet as the database has it") func metrics() async throws {
    let text = MetricsText.encode(try await page([1, 3]).metrics())
    for line in [
      #"threadkeeper_broker_connected{shard="1"} 0"#, #"threadkeeper_broker_connected{shard="3"} 0"#,
      #"threadkeeper_store_writable{shard="1"} 1"#, #"threadkeeper_homes{shard="3"} 1"#,
      #"threadkeeper_routers{shard="1",availability="online"} 0"#,
      #"threadkeeper_commit_duration_seconds_bucket{shard="1",le="0.0005"} 0"#, "threadkeeper_database_connected 1",
      "threadkeeper_node_shards 2", #"threadkeeper_fleet_shards{state="served"} 1"#,
      #"threadkeeper_fleet_shards{state="rolled_back"} 1"#, #"threadkeeper_fleet_shards{state="unserved"} 1"#,
      #"threadkeeper_fleet_nodes{state="seen"} 1"#, #"threadkeeper_fleet_nodes{state="silent"} 1"#,
    ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
    #expect(text.matches(of: #/(?m)^# TYPE threadkeeper_build_info /#).count == 1)
    #expect(text.matches(of: #/(?m)^# TYPE threadkeeper_homes /#).count == 1)
    let age = try #require(text.firstMatch(of: #/fleet_lease_age_seconds ([0-9.]+)/#))
    #expect((0.5..<9).contains(try #require(Double(age.output.1))))
  }

  @Test("A node that does not reach the database says so, and has no figures of the fleet") func lostDatabase()
    async throws
  {
    let page = try lonely([], .init(database: "PostgreSQL cannot be reached"))
    let text = MetricsText.encode(await page.metrics())
    #expect(text.contains("\nthreadkeeper_database_connected 0\n"))
    #expect(!text.contains("threadkeeper_fleet_"))
    let document = try #require(await page.document(nonce: "n0"))
    #expect(document.contains("class=\"bad\"") && document.contains("PostgreSQL cannot be reached"))
    #expect(!page.readiness.ready)
  }

  @Test("A node is ready while all that it has takes up events") func readiness() throws {
    #expect(try lonely([]).readiness.ready)
    let failing = try lonely([1]).readiness
    #expect(failing.checks.filter { !$0.ok }.map(\.name) == ["intake"])
    #expect(failing.checks.last?.reason?.hasPrefix("shard 1: ") == true)
    let away = try lonely([], .init(broker: "the broker is away"))
    #expect(away.readiness.checks.first?.ok == false)
  }

  @Test("The page is under `/`, needs the token where there is one, and changes nothing") func routes() async throws {
    let page = try page()
    var http = Settings.HTTP()
    http.token = SecretText("0123456789abcdef")
    let routes = PageRoutes(PageConfiguration(http), source: page)
    #expect(await routes.reply(to: PageRequest("/")).status == .unauthorized)
    let shown = "Bearer 0123456789abcdef"
    let reply = await routes.reply(to: PageRequest("/", authorization: shown))
    let text = String(decoding: reply.body, as: UTF8.self)
    #expect(reply.status == .ok && text.contains("threadkeeper fleet test"))
    #expect(text.contains("<td>rolled back</td>") && text.contains("<td>node-b</td><td>silent</td>"))
    let change = await routes.reply(
      to: PageRequest(
        "/consent/deny", method: "POST", authorization: shown, contentType: "application/json",
        body: Array(#"{"id":"c-0123456789abcdef"}"#.utf8)))
    #expect(change.status != .ok)
    await #expect(throws: PageRefusal.self) { try await page.make(.deny(id: "c-0123456789abcdef")) }
  }

  private static func names(in text: String) -> Set<String> {
    Set(
      text.matches(of: #/threadkeeper_[a-z_]+/#).map { String($0.output).replacing(#/_(bucket|sum|count)$/#, with: "") }
    )
  }

  private static func file(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
      .standardized
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("Every metric of a fleet is documented, and the examples use none that is not") func documented() async throws {
    let own = Self.names(in: try Self.file("docs/reference/fleet.md")).subtracting([
      "threadkeeper_node", "threadkeeper_reader",
    ])
    let all = own.union(Self.names(in: try Self.file("docs/guides/monitoring.md")))
    let given = Self.names(in: MetricsText.encode(try await page().metrics()))
    #expect(given.subtracting(all).isEmpty, "\(given.subtracting(all))")
    #expect(own.subtracting(given).isEmpty, "\(own.subtracting(given))")
    for file in ["threadkeeper-fleet.rules.yml", "grafana.json"] {
      let used = Self.names(in: try Self.file("examples/fleet/\(file)"))
      #expect(used.count > 5 && used.subtracting(all).isEmpty, "\(used.subtracting(all))")
    }
  }

  @Test("The board is JSON whose panels have expressions") func board() throws {
    let json = try JSONSerialization.jsonObject(with: Data(try Self.file("examples/fleet/grafana.json").utf8))
    let panels = try #require((json as? [String: Any])?["panels"] as? [[String: Any]])
    #expect(panels.count > 10)
    for panel in panels {
      let targets = try #require(panel["targets"] as? [[String: Any]])
      #expect(targets.allSatisfy { ($0["expr"] as? String)?.contains("threadkeeper_") == true })
    }
  }
}
#endif
