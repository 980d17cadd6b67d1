// SPDX-License-Identifier: Apache-2.0

import Broker
import DaemonTestKit
import Foundation
import Home
import KeychainCore
import Logging
import Settings
import StatusPage
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import ThreadkeeperDaemon

@Suite("What the status page is told, and whether there is one")
struct PageFactsTests {
  private let store: TemporaryStore
  private let clock = ManualClock(microseconds: 1_000_000_000)
  private let bridge: Bridge
  private var settings: Settings

  init() throws {
    store = try TemporaryStore()
    settings = MovedStore.settings(store)
    bridge = try Bridge(
      BridgeConfiguration(settings),
      connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
      store: SealedRecords(store.keychain), clock: clock, logger: Logger(label: "test"))
  }

  private struct Shown: Decodable {
    struct Part: Decodable {
      var name: String
      var state: String
      var text: String
    }

    var health: [Part]
  }

  @Test("While the store fails the page's health says why, and its lists are as they were")
  func failingStore() async throws {
    let facts = PageFacts(
      OperationContext(settings, bridge: bridge, logger: Logger(label: "test")))
    let agent = try #require(BorderAgentID(hex: String(repeating: "a", count: 32)))
    try bridge.loop.see(Sightings([try #require(Advertisement([agent]))]))
    func lists(_ state: [UInt8]) throws -> NSDictionary {
      let all = try #require(try JSONSerialization.jsonObject(with: Data(state)) as? [String: Any])
      return all.filter { ["homes", "alerts", "consents"].contains($0.key) } as NSDictionary
    }
    let first = try #require(await facts.state())
    let before = try lists(first)
    #expect(before.count == 3 && "\(before)".contains("aaaaaaaa"))
    bridge.monitor.storeFailed("the disk is full", at: clock.now(), inBatch: false)
    let state = try #require(await facts.state())
    let text = String(decoding: state, as: UTF8.self)
    #expect(try lists(state) == before)
    let stores = try JSONDecoder().decode(Shown.self, from: Data(state)).health.filter {
      $0.name == "store"
    }
    #expect(stores.map(\.state) == ["bad"] && stores.first?.text == "the disk is full", "\(text)")
    #expect(MetricsText.encode(await facts.metrics()).contains("threadkeeper_store_writable 0\n"))
  }

  @Test(
    "Where other machines reach it and no token can be read there is no page, and status says why",
    arguments: ["0.0.0.0", "::", "192.0.2.1"])
  func noToken(address: String) {
    var settings = settings
    settings.http.address = address
    let log = RecordingLog()
    func server(_ settings: Settings) -> PageServer? {
      PageServer(OperationContext(settings, bridge: bridge, logger: log.logger))
    }
    #expect(server(settings) == nil)
    #expect(log.lines.contains { $0.contains("its token cannot be read") })
    let page = DaemonState.Page(settings.http, besideStore: "/store", nil)
    #expect(page.state == .unavailable && page.remedy?.contains("/store.http-token") == true)
    settings.http.token = SecretText("0123456789abcdef")
    #expect(server(settings) != nil)
    settings.http.isEnabled = false
    #expect(DaemonState.Page(settings.http, besideStore: "/store", nil).state == .off)
  }

  @Test("On loopback there is no page either where there is a token that cannot be read")
  func unreadableToken() {
    var settings = settings
    settings.http.isTokenUnreadable = true
    let log = RecordingLog()
    #expect(
      PageServer(OperationContext(settings, bridge: bridge, logger: log.logger)) == nil)
    #expect(log.lines.contains { $0.contains("its token cannot be read") })
    #expect(DaemonState.Page(settings.http, besideStore: "/store", nil).state == .unavailable)
  }

  @Test(
    "An advertised router is seen now while the daemon looks for routers; else its time counts",
    arguments: [
      DiscoveryState.off, .starting, .unavailable(message: "no mDNS", remedy: "Start it."),
    ])
  func seen(state: DiscoveryState) async throws {
    let agent = try #require(BorderAgentID(hex: String(repeating: "a", count: 32)))
    let seen = try #require(Advertisement([agent]))
    try bridge.loop.see(Sightings([seen]))
    var facts = PageFacts(
      OperationContext(settings, bridge: bridge, logger: Logger(label: "test")))
    let shown = #""seen":"1970-01-01T00:16:00Z""#
    let sample = #"border_agent_id="\#(agent)"} 1000"# + "\n"
    for (discovery, isNow) in [(.running(routers: 1, refused: 0), true), (state, false)] {
      facts.discovery = { discovery }
      let text = String(decoding: try #require(await facts.state()), as: UTF8.self)
      #expect(text.contains("\(agent)") && text.contains(shown) == !isNow, "\(text)")
      let metrics = MetricsText.encode(await facts.metrics())
      #expect(metrics.contains("\(agent)") && metrics.contains(sample) == !isNow, "\(metrics)")
    }
  }

  @Test("A link names the address on loopback, also where a proxy has a name, and else the name")
  func links() {
    var http = settings.http
    http.names = ["keeper.home.arpa"]
    for (address, host) in [
      ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", "keeper.home.arpa"),
      ("192.0.2.1", "keeper.home.arpa"),
    ] {
      http.address = address
      #expect(PageToken.link(http, token: "t") == "http://\(host):8423/?token=t")
    }
  }
}
