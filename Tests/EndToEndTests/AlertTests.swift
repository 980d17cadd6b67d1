// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing

@Suite("Alerts", .inTurns, .timeLimit(.minutes(30)))
struct AlertTests {
  @Test("Every alert about a router rises with its condition and resolves with it")
  func conditions() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0, more: "presence: {offline_after: 2}")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let known = try ThreadNetwork(
      "documented", networkKey: Array(stride(from: 0, to: 256, by: 17)).map(UInt8.init))
    let hub = BorderRouter(number: 1)
    let one = BorderRouter(number: 2)

    func raised(_ name: String, _ router: BorderRouter?) async throws {
      try await audience.until("\(name) to be raised") {
        $0.alerts("alert_raised", name).contains { $0["router"]?.text == router?.agent }
      }
    }
    func resolved(_ name: String, _ router: BorderRouter?) async throws {
      try await audience.until("\(name) to be resolved") {
        $0.alerts("alert_resolved", name).contains { $0["router"]?.text == router?.agent }
      }
    }

    // A router without a dataset: nothing is stored, and nothing is preferred.
    try await publisher.publish([one.says("announce")])
    try await raised("CredentialsMissing", one)
    try await raised("NoPreferredNetwork", nil)
    try await publisher.publish([hub.announces(try home.hex(at: 5))])
    try await resolved("NoPreferredNetwork", nil)
    try await publisher.publish([one.changes(to: try home.hex(at: 5))])
    try await resolved("CredentialsMissing", one)
    try await raised("PlaintextCredentials", nil)

    // The same age, other content; then older than what it had before.
    try await publisher.publish([one.changes(to: try home.hex(at: 5, channel: 26))])
    try await raised("DatasetConflict", one)
    #expect(try await installation.dataset(of: one.agent) == (try home.hex(at: 5)))
    try await publisher.publish([one.changes(to: try home.hex(at: 4))])
    try await raised("StaleDataset", one)
    try await resolved("DatasetConflict", one)
    try await publisher.publish([one.changes(to: try home.hex(at: 5))])
    try await resolved("StaleDataset", one)

    // A network key out of documentation.
    try await publisher.publish([one.changes(to: try known.hex())])
    try await raised("WellKnownNetworkKey", one)
    try await raised("PreferredNetworkMismatch", one)
    try await publisher.publish([one.changes(to: try home.hex(at: 6, channel: 20))])
    try await resolved("WellKnownNetworkKey", one)
    #expect(
      try await installation.json("status")["preferred_networks"]?.list.first?["network_name"]
        == "home")

    // It says that it goes; it is silent.
    try await publisher.publish([hub.says("offline")])
    try await raised("BorderRouterOffline", hub)
    try await audience.until("its availability") {
      $0.state("\(hub.topic)/availability") == ["state": "offline"]
    }
    try await publisher.publish([hub.says("heartbeat")])
    try await resolved("BorderRouterOffline", hub)
    try await audience.until("its silence to be noticed") {
      $0.alerts("alert_raised", "BorderRouterOffline").count == 2
    }
    // Being off is not leaving.
    #expect(try await installation.dataset(of: hub.agent) == (try home.hex(at: 5)))
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Names of routers and networks are quoted and cut in the sentences of an alert")
  func names() async throws {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0)
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([
      BorderRouter(number: 1).announces(try ThreadNetwork("home").hex())
    ])
    // As JSON. The first is harmless: what stands around it stands around the others, too.
    let names = [
      #""Attic""#, #""Attic\" is fine. Run `rm -rf ~` as \"root""#, #""“Attic” is fine""#,
      #""line\nbreak \u001b[2J \u202Edrowssap\u2028x""#,
      "\"\(String(repeating: "long ", count: 25))\"",
    ]
    let networks = [
      "guest", #"a", not on "b"#, "a\u{202E}b", "\u{201C}a\u{201D}", "sixteen-bytes-16",
    ]
    let routers = names.indices.map { BorderRouter(number: $0 + 2) }
    for (index, router) in routers.enumerated() {
      let network = try ThreadNetwork(networks[index])
      try await publisher.publish([
        router.says("announce", ("dataset", "\"\(try network.hex())\""), ("name", names[index]))
      ])
    }
    try await audience.until("an alert about each") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").count == routers.count
    }
    for field in ["summary", "remedy"] {
      var plain: [Substring] = []
      for router in routers {
        let alert = try #require(
          audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch") }
            .first { $0["router"]?.text == router.agent })
        let sentence = try #require(alert[field]?.text)
        let parts = sentence.split(separator: "\"", omittingEmptySubsequences: false)
        let ours = parts.indices.filter { $0.isMultiple(of: 2) }.map { parts[$0] }
        if plain.isEmpty { plain = ours }
        #expect(ours == plain, "\(sentence)")
        for name in parts.indices.filter({ !$0.isMultiple(of: 2) }).map({ parts[$0] }) {
          #expect(!name.isEmpty && name.unicodeScalars.count <= 32, "\(sentence)")
        }
        #expect(
          sentence.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator].contains($0.properties.generalCategory)
          }, "\(sentence.debugDescription)")
      }
      #expect(plain.count > 3, "the names are in quotes")
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A changed SSID makes the daemon check the router, and the alert says what brought it up")
  func ssid() async throws {
    let broker = try TestBroker()
    let installation = try Installation(
      broker, hold: 0, more: "teams: {home: [border-router, watcher]}")
    let audience = try await Audience.start(broker)
    let daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let hub = BorderRouter(number: 1)
    let stray = BorderRouter(number: 2)
    try await publisher.publish([
      hub.announces(try home.hex()),
      stray.says(
        "announce", ("dataset", "\"\(try guests.hex())\""), ("access_point", #""ap-cellar""#)),
      stray.says("ssid", ("ssid", #""wifi""#)),
    ])
    // A watcher of the same team that knows the access point only.
    try await publisher.publish([
      Publication(
        topic: "threadkeeper/in/watcher/ssid",
        payload: Array(#"{"access_point":"ap-cellar","ssid":"wifi-6","previous_ssid":"wifi"}"#.utf8)
      )
    ])
    try await audience.until("the event") { !$0.events("ssid_changed").isEmpty }
    let changed = try #require(audience.look { $0.events("ssid_changed") }.first)
    #expect(changed["border_agent_id"]?.text == stray.agent)
    #expect(changed["ssid"] == "wifi-6")
    #expect(changed["previous_ssid"] == "wifi")
    #expect(changed["preferred"] == "mismatch")
    try await audience.until("its state") { $0.state(stray.topic)?["ssid"] == "wifi-6" }
    #expect(audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch").count } == 1)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test(
    "A daemon that is restarted again and again within the hold suppresses no alert", .beginsFirst)
  func restarts() async throws {
    // Far longer than a life, however busy this machine is.
    let hold = 20
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: hold)
    let audience = try await Audience.start(broker)
    var daemon = try await installation.start()
    let publisher = try await TestPublisher.start(broker)
    let home = try ThreadNetwork("home")
    let guests = try ThreadNetwork("guest-thread")
    let stray = BorderRouter(number: 2)
    try await publisher.publish([
      BorderRouter(number: 1).announces(try home.hex()), stray.announces(try guests.hex()),
    ])
    try await audience.until("the mismatch") { $0.state(stray.topic)?["preferred"] == "mismatch" }
    var lives = 1
    func isRaised() -> Bool {
      audience.look { !$0.alerts("alert_raised", "PreferredNetworkMismatch").isEmpty }
    }
    while !isRaised(), lives < 60 {
      try await daemon.kill9()
      let started = ContinuousClock.now
      let told = audience.look { $0.messages.count }
      daemon = try await installation.start()
      // Long enough for one look at the clock, after which a running intake is told.
      try await audience.until("its health") { heard in
        heard.messages.dropFirst(told).contains {
          $0.topic == "threadkeeper/bridge/health"
            && JSON(String(decoding: $0.payload, as: UTF8.self))?["intake"] == "running"
        }
      }
      try #require(started.duration(to: .now) < .seconds(hold), "a life was as long as the hold")
      lives += 1
    }
    #expect(lives > 2)
    #expect(isRaised())
    // Told again after a kill, perhaps, but raised once.
    #expect(
      audience.look { $0.alerts("alert_raised", "PreferredNetworkMismatch") }
        .allSatisfy { $0["seq"] == 1 })
    #expect(try await daemon.stop() == .exit(0))
  }
}
