// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import HomeStore
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("From the settings to the rules of each part")
struct ConfiguredRulesTests {
  private var configuration = BridgeConfiguration(
    version: "1.2.3",
    topics: BaseTopics([.init(name: "home", base: "tk"), .init(name: "cabin", base: "tk2")]))

  private func homes(
    canSeal: @escaping @Sendable () -> Bool = { true }, callers: WaitingCallers = WaitingCallers()
  ) -> [ServedHome] {
    configuration.servedHomes(canSeal: canSeal, callers: callers)
  }

  // MARK: Homes

  @Test("Each home of the settings has its name, its base topic, and the same numbers")
  func numbers() throws {
    var one = Self()
    one.configuration.routersPerTeam = 11
    one.configuration.alertsHold = 12
    one.configuration.adoptTimeout = 13
    one.configuration.offlineAfter = 14
    let homes = one.homes()
    #expect(homes.map(\.name) == ["home", "cabin"] && homes.map(\.base) == ["tk", "tk2"])
    for rules in homes.map(\.rules) {
      #expect(rules.routersPerTeam == 11 && rules.alertsHold == 12)
      #expect(rules.adoptTimeout == 13 && rules.offlineAfter == 14)
      #expect(rules.ownUser == geteuid())
    }
    #expect(self.homes().allSatisfy { $0.rules.adoptTimeout == nil })
  }

  @Test("A home may have some of the numbers otherwise, and says so in what is published of it")
  func overrides() throws {
    var one = Self()
    one.configuration.alertsHold = 12
    one.configuration.offlineAfter = 14
    one.configuration.ofHome["cabin"] = HomeOverrides()
    #expect(one.homes().allSatisfy { $0.rules.alertsHold == 12 && $0.rules.adoptTimeout == nil })
    one.configuration.ofHome["cabin"]?.alertsHold = 0
    one.configuration.ofHome["cabin"]?.offlineAfter = 60
    one.configuration.ofHome["cabin"]?.adopts = true
    let (home, cabin) = (one.homes()[0].rules, one.homes()[1].rules)
    #expect((home.alertsHold, home.offlineAfter) == (12, 14) && home.adoptTimeout == nil)
    #expect((cabin.alertsHold, cabin.offlineAfter) == (0, 60) && cabin.adoptTimeout == 300)
    one.configuration.adoptTimeout = 13
    one.configuration.ofHome["cabin"]?.adopts = false
    #expect(one.homes()[0].rules.adoptTimeout == 13 && one.homes()[1].rules.adoptTimeout == nil)

    var states = RetainedStates(
      one.configuration.publisherSettings(identity: { nil }, instanceID: "abc"))
    let infos = one.homes().enumerated().map { place, served in
      String(
        decoding: states.publication(
          RetainedPlace(home: place, subject: .info), Home(rules: served.rules),
          at: WireTime(milliseconds: 0)
        ).payload, as: UTF8.self)
    }
    #expect(infos[0].contains(#""alerts_hold":12"#), "\(infos[0])")
    #expect(infos[1].contains(#""alerts_hold":0"#), "\(infos[1])")
    #expect(infos[0].contains(#""on_mismatch":"adopt""#), "\(infos[0])")
    #expect(infos[1].contains(#""on_mismatch":"alert""#), "\(infos[1])")
  }

  @Test("Shared credentials of those whom the settings name are trusted; names are bytes")
  func trusted() {
    var one = Self()
    #expect(!one.homes()[0].rules.trustsShared("ha"))
    one.configuration.homeAssistant.trusted = ["ha", "caf\u{E9}"]
    for trusts in one.homes().map(\.rules.trustsShared) {
      #expect(trusts("ha") && trusts("caf\u{E9}"))
      #expect(!trusts("cafe\u{301}") && !trusts("hb"))
    }
  }

  @Test("Ids are not to be guessed: no two are the same")
  func random() {
    let rules = homes().map(\.rules)
    #expect(Set((0..<100).map { rules[$0 % 2].random() }).count == 100)
  }

  @Test("A login speaks for the team that lists it, else for its own; names are bytes")
  func team() throws {
    var one = Self()
    one.configuration.teams = BrokerTeams(["vendor": ["caf\u{E9}", "otbr"]])
    let team = one.homes()[1].rules.team
    #expect(team("otbr") == "vendor" && team("caf\u{E9}") == "vendor")
    #expect(team("cafe\u{301}") == "cafe\u{301}")
    #expect(team("vendor") == "user/vendor")
    let settings = one.configuration.publisherSettings(identity: { nil }, instanceID: "")
    #expect(settings.team("otbr") == "vendor" && settings.team("phone") == "phone")
  }

  @Test("Whether something can be sealed follows the daemon's keys, and who waits the callers")
  func followed() throws {
    let keys = Atomic(false)
    let callers = WaitingCallers()
    let rules = homes(canSeal: { keys.load(ordering: .relaxed) }, callers: callers)[0].rules
    #expect(!rules.canSeal() && !rules.isAwaited(ConsentID(1)))
    keys.store(true, ordering: .relaxed)
    let place = try callers.reserve(transaction: nil, isOwnUser: true, isThere: { true })
    try callers.wait(at: place, for: ConsentID(1))
    #expect(rules.canSeal() && rules.isAwaited(ConsentID(1)) && !rules.isAwaited(ConsentID(2)))
  }

  // MARK: Requests

  @Test("Who may decide, and how, is what the settings say")
  func approvers() {
    var one = Self()
    one.configuration.approvers = ["caf\u{E9}", "owner"]
    #expect(one.configuration.requestRules.approvers == ["caf\u{E9}", "owner"])
    #expect(!one.configuration.requestRules.approvers.contains("cafe\u{301}"))
    #expect(one.configuration.requestRules.approversMustSign)
    one.configuration.approversMustSign = false
    #expect(!one.configuration.requestRules.approversMustSign)
  }

  @Test("Home Assistant decides as far as the settings say, and everything is an alert")
  func homeAssistant() {
    var one = Self()
    one.configuration.homeAssistant.login = "ha"
    #expect(one.configuration.requestRules.homeAssistant == nil)
    #expect(!one.configuration.requestRules.isHomeAssistant("ha"))
    #expect(one.configuration.consentAlert == nil)
    one.configuration.homeAssistant.consent = .adoptions
    #expect(one.configuration.requestRules.homeAssistant == .adoptions)
    #expect(one.configuration.requestRules.isHomeAssistant("ha"))
    #expect(one.configuration.consentAlert == nil)
    one.configuration.homeAssistant.consent = .all
    #expect(one.configuration.requestRules.homeAssistant == .all)
    #expect(one.configuration.consentAlert == .consentByHomeAssistant(login: "ha"))
    one.configuration.homeAssistant.login = nil
    #expect(!one.configuration.requestRules.isHomeAssistant("ha"))
    #expect(one.configuration.consentAlert == nil)
  }

  @Test("A button that is published has the token that its decision is compared with")
  func tokens() {
    let settings = configuration.publisherSettings(identity: { nil }, instanceID: "")
    let id = ConsentID(7)
    #expect(
      configuration.requestRules.tokens.isValid(settings.requests.tokens.token(for: id), for: id))
    let other = BridgeConfiguration(version: "1.2.3", topics: configuration.topics)
    #expect(!other.requestRules.tokens.isValid(settings.requests.tokens.token(for: id), for: id))
  }

  // MARK: Publishing and reading

  @Test("What is published names the settings, and the keys once there are any")
  func publishing() throws {
    let keys = Mutex<Identity?>(nil)
    var one = Self()
    one.configuration.alertsHold = 12
    one.configuration.offlineAfter = 14
    func settings() -> PublisherSettings {
      one.configuration.publisherSettings(
        identity: { keys.withLock { $0 } }, instanceID: "abc", formerBases: ["old"],
        formerPrefixes: ["ha"])
    }
    let plain = settings()
    #expect(plain.topics == configuration.topics && plain.version == "1.2.3")
    #expect(plain.instanceID == "abc")
    #expect(plain.shown == .init(repeating: .init(alertsHold: 12, offlineAfter: 14), count: 2))
    #expect(plain.formerBases == ["old"] && plain.formerPrefixes == ["ha"])
    #expect(plain.discoveryPrefix == nil && plain.identity() == nil)
    #expect(plain.birthTopic == "homeassistant/status")
    let made = try Identity()
    keys.withLock { $0 = made }
    #expect(plain.identity()?.line == made.keys.line)
    #expect(plain.identity()?.fingerprint == made.keys.fingerprint)

    one.configuration.adoptTimeout = 300
    one.configuration.homeAssistant.isOn = true
    one.configuration.homeAssistant.prefix = "ha2"
    let full = settings()
    #expect(
      full.shown.allSatisfy(\.adopts) && full.discoveryPrefix == "ha2"
        && full.birthTopic == "ha2/status")
  }

  @Test("Messages are read with the limits of the settings")
  func reading() throws {
    var one = Self()
    one.configuration.eventsPerSecond = 3
    one.configuration.eventsBurst = 4
    let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
    let made = try Identity()
    let reading = one.configuration.intakeReading(
      hashKey: key, identity: { made }, request: { _, _ in .ignored })
    #expect(reading.eventsPerSecond == 3 && reading.eventsBurst == 4)
    #expect(reading.identity()?.keys == made.keys)
    #expect(reading.hashKey.withUnsafeBytes { Array($0) } == [UInt8](repeating: 7, count: 32))
  }
}
