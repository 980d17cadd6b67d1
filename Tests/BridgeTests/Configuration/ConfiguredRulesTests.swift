import Broker
import Glibc
import HomeStore
import Settings
import Synchronization
import Testing

@testable import Bridge
@testable import Home

@Suite("From the settings to the rules of each part") struct ConfiguredRulesTests {
  private var configuration: BridgeConfiguration

  init() {
    var settings = Settings(stateDirectory: "/none")
    settings.homes = [.init(name: "home", base: "tk"), .init(name: "cabin", base: "tk2")]
    settings.homeAssistant.discovery = .off
    configuration = BridgeConfiguration(settings, version: "1.2.3")
  }

  private func homes(canSeal: @escaping @Sendable () -> Bool = { true }, callers: WaitingCallers = WaitingCallers())
    -> [ServedHome]
  { configuration.servedHomes(canSeal: canSeal, callers: callers) }

  // MARK: Homes

  @Test("Each home of the settings has its name, its base topic, and the same numbers") mutating func numbers() throws {
    configuration.settings.eachHome.routersPerTeam = 11
    configuration.settings.eachHome.alertsHold = 12
    let all = homes()
    #expect(all.map(\.name) == ["home", "cabin"] && all.map(\.base) == ["tk", "tk2"])
    for rules in all.map(\.rules) {
      #expect(rules.settings == configuration.settings.eachHome)
      #expect(rules.ownUser == geteuid())
    }
    #expect(Self().homes().allSatisfy { $0.rules.settings == HomeSettings() })
  }

  @Test("A home may have some of the numbers otherwise, and says so in what is published of it")
  mutating func overrides() throws {
    configuration.settings.eachHome.alertsHold = 12
    configuration.settings.eachHome.onMismatch = .adopt
    var own = configuration.settings.eachHome
    (own.alertsHold, own.onMismatch) = (0, .alert)
    configuration.ofHome["cabin"] = own
    #expect(homes()[0].rules.settings == configuration.settings.eachHome)
    #expect(homes()[1].rules.settings == own)

    var states = RetainedStates(configuration.publisherSettings(identity: { nil }, instanceID: "abc"))
    let infos = homes().enumerated().map { place, served in
      String(
        decoding: states.publication(
          RetainedPlace(home: place, subject: .info), Home(rules: served.rules), at: WireTime(milliseconds: 0)
        ).payload, as: UTF8.self)
    }
    #expect(infos[0].contains(#""alerts_hold":12"#), "\(infos[0])")
    #expect(infos[1].contains(#""alerts_hold":0"#), "\(infos[1])")
    #expect(infos[0].contains(#""on_mismatch":"adopt""#), "\(infos[0])")
    #expect(infos[1].contains(#""on_mismatch":"alert""#), "\(infos[1])")
  }

  @Test("Ids are not to be guessed: no two are the same") mutating func random() {
    let rules = homes().map(\.rules)
    #expect(Set((0..<100).map { rules[$0 % 2].random() }).count == 100)
  }

  @Test("A login speaks for the team that lists it, else for its own; names are bytes") mutating func team() throws {
    configuration.settings.teams = ["vendor": ["caf\u{E9}", "otbr"]]
    let team = homes()[1].rules.team
    #expect(team("otbr") == "vendor" && team("caf\u{E9}") == "vendor")
    #expect(team("cafe\u{301}") == "cafe\u{301}")
    #expect(team("vendor") == "user/vendor")
    let settings = configuration.publisherSettings(identity: { nil }, instanceID: "")
    #expect(settings.team("otbr") == "vendor" && settings.team("phone") == "phone")
  }

  @Test("Whether something can be sealed follows the daemon's keys, and who waits the callers") mutating func followed()
    throws
  {
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

  @Test("Who may decide, and how, is what the settings say") mutating func approvers() {
    configuration.settings.consent.approvers = ["caf\u{E9}", "owner"]
    #expect(configuration.requestRules.approvers == ["caf\u{E9}", "owner"])
    #expect(!configuration.requestRules.approvers.contains("cafe\u{301}"))
    #expect(configuration.requestRules.approversMustSign)
    configuration.settings.consent.approversTrust = .broker
    #expect(!configuration.requestRules.approversMustSign)
  }

  @Test("Home Assistant decides as far as the settings say, and everything is an alert") mutating func homeAssistant() {
    configuration.settings.homeAssistant.login = "ha"
    configuration.settings.homeAssistant.consent = .off
    #expect(configuration.requestRules.homeAssistant == nil)
    #expect(!configuration.requestRules.isHomeAssistant("ha"))
    #expect(configuration.consentAlert == nil)
    configuration.settings.homeAssistant.consent = .adoptions
    #expect(configuration.requestRules.homeAssistant == .adoptions)
    #expect(configuration.requestRules.isHomeAssistant("ha"))
    #expect(configuration.consentAlert == nil)
    configuration.settings.homeAssistant.consent = .all
    #expect(configuration.requestRules.homeAssistant == .all)
    #expect(configuration.consentAlert == .consentByHomeAssistant(login: "ha"))
    configuration.settings.homeAssistant.login = nil
    #expect(!configuration.requestRules.isHomeAssistant("ha"))
    #expect(configuration.consentAlert == nil)
  }

  @Test("A button that is published has the token that its decision is compared with") mutating func tokens() {
    let settings = configuration.publisherSettings(identity: { nil }, instanceID: "")
    let id = ConsentID(7)
    #expect(configuration.requestRules.tokens.isValid(settings.requests.tokens.token(for: id), for: id))
    let other = BridgeConfiguration(configuration.settings, version: "1.2.3")
    #expect(!other.requestRules.tokens.isValid(settings.requests.tokens.token(for: id), for: id))
  }

  // MARK: Publishing

  @Test("What is published names the settings, and the keys once there are any") mutating func publishing() throws {
    let keys = Mutex<Identity?>(nil)
    configuration.settings.eachHome.alertsHold = 12
    func settings() -> PublisherSettings {
      configuration.publisherSettings(
        identity: { keys.withLock { $0 } }, instanceID: "abc", formerBases: ["old"], formerPrefixes: ["ha"])
    }
    let plain = settings()
    #expect(plain.topics == configuration.topics && plain.version == "1.2.3")
    #expect(plain.instanceID == "abc")
    #expect(plain.homes == .init(repeating: configuration.settings.eachHome, count: 2))
    #expect(plain.formerBases == ["old"] && plain.formerPrefixes == ["ha"])
    #expect(plain.discoveryPrefix == nil && plain.identity() == nil)
    #expect(plain.birthTopic == "homeassistant/status")
    let made = try Identity()
    keys.withLock { $0 = made }
    #expect(plain.identity()?.line == made.keys.line)
    #expect(plain.identity()?.fingerprint == made.keys.fingerprint)

    configuration.settings.homeAssistant.discovery = .on
    configuration.settings.homeAssistant.prefix = "ha2"
    let full = settings()
    #expect(full.discoveryPrefix == "ha2" && full.birthTopic == "ha2/status")
  }
}
