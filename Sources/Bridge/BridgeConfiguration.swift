import Broker
import Home
import HomeStore
import Settings

/// The settings, and what they decide for each part of the bridge. Values only.
package struct BridgeConfiguration: Sendable {
  package var settings: Settings
  package var version: String
  package var topics: BaseTopics
  /// Settings of single homes that differ, by name.
  package var ofHome: [String: HomeSettings] = [:]
  /// Where a browser of the home opens the page; nil where none can.
  package var page: String?
  /// When a backup of the store was made last, as far as is known.
  package var lastBackup: @Sendable () -> WireTime? = { nil }
  /// The time in which a service manager has to see a turn; nil: none looks.
  package var watchdog: Duration?
  /// What a person can do when the broker refuses the daemon's login.
  package var loginRemedy = "Give the daemon the right user name and password."
  /// Of this process: what a button of Home Assistant has to publish.
  private let buttonTokens = ButtonTokens()

  /// - Parameter parent: of a shard: see `BaseTopics`.
  package init(_ settings: Settings, version: String, below parent: String? = nil) {
    (self.settings, self.version) = (settings, version)
    topics = BaseTopics(settings.homes, below: parent)
  }

  private var team: @Sendable (ExactName) -> ExactName {
    { [teams = settings.brokerTeams] in ExactName(teams.team(of: $0.text)) }
  }

  private func settings(of home: BaseTopics.Home) -> HomeSettings { ofHome[home.name] ?? settings.eachHome }

  /// What is announced elsewhere, the loop knows.
  ///
  /// - Parameters:
  ///   - canSeal: whether the daemon has keys.
  ///   - callers: who wait on this machine for what is decided.
  func servedHomes(canSeal: @escaping @Sendable () -> Bool, callers: WaitingCallers) -> [ServedHome] {
    var rules = HomeRules()
    rules.team = team
    rules.canSeal = canSeal
    rules.isAwaited = { callers.isAwaited($0) }
    return topics.homes.map { home in
      rules.settings = settings(of: home)
      return ServedHome(name: home.name, base: home.base, rules: rules)
    }
  }

  var requestRules: RequestRules {
    var rules = RequestRules(tokens: buttonTokens)
    rules.approvers = Set(settings.consent.approvers.map { ExactName($0) })
    rules.approversMustSign = settings.consent.approversTrust == .signed
    rules.homeAssistant = .init(rawValue: settings.homeAssistant.consent.rawValue)
    rules.testAlert = .test
    rules.homeAssistantLogin = settings.homeAssistant.login.map { ExactName($0) }
    return rules
  }

  var remedyWays: RemedyWays { RemedyWays(settings, isOnlyHome: topics.homes.count == 1) }

  /// Nil unless Home Assistant decides about everything.
  var consentAlert: AlertFacts? {
    guard settings.homeAssistant.consent == .all else { return nil }
    return settings.homeAssistant.login.map { .consentByHomeAssistant(login: $0) }
  }

  /// - Parameters:
  ///   - identity: the daemon's own keys, as they are now.
  ///   - instanceID: 32 hex digits of the store.
  ///   - formerBases: base topics that are in use no more.
  ///   - formerPrefixes: prefixes of Home Assistant's discovery that are in use no more.
  func publisherSettings(
    identity: @escaping @Sendable () -> Identity?, instanceID: String, formerBases: [String] = [],
    formerPrefixes: [String] = []
  ) -> PublisherSettings {
    var published = PublisherSettings(topics)
    (published.version, published.page) = (version, page)
    published.instanceID = instanceID
    published.takesOver = settings.mqtt.takeOver
    published.homes = topics.homes.map(settings)
    published.identity = { identity().map { ($0.keys.line, $0.keys.fingerprint) } }
    published.discoveryPrefix = settings.homeAssistant.discoveryPrefix
    published.birthTopic = settings.homeAssistant.birthTopic
    published.requests = requestRules
    published.team = team
    published.ways = remedyWays
    published.formerBases = formerBases
    published.formerPrefixes = formerPrefixes
    return published
  }
}
