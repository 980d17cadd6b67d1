// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import Home
import HomeStore
import SodiumCrypto
import ThreadDataset

/// What the settings decide, for each part of the bridge.
extension BridgeConfiguration {
  private var team: @Sendable (ExactName) -> ExactName {
    { [teams] in ExactName(teams.team(of: $0.text)) }
  }

  /// With the settings of one home.
  private func overridden(for home: String) -> BridgeConfiguration {
    guard let overrides = ofHome[home] else { return self }
    var own = self
    own.alertsHold = overrides.alertsHold ?? alertsHold
    own.offlineAfter = overrides.offlineAfter ?? offlineAfter
    if let adopts = overrides.adopts { own.adoptTimeout = adopts ? Self.adoptTimeoutSeconds : nil }
    return own
  }

  /// What is announced elsewhere, the loop knows.
  ///
  /// - Parameters:
  ///   - canSeal: whether the daemon has keys.
  ///   - callers: who wait on this machine for what is decided.
  func servedHomes(
    canSeal: @escaping @Sendable () -> Bool, callers: WaitingCallers
  ) -> [ServedHome] {
    let trusted = Set(homeAssistant.trusted.map { ExactName($0) })
    let watchers = Set(reportersOfSSID.map { ExactName($0) })
    return topics.homes.map { home in
      var rules = HomeRules { .random(in: .min ... .max) }
      rules.team = team
      rules.routersPerTeam = routersPerTeam
      rules.routersPerHome = routersPerHome
      let own = overridden(for: home.name)
      rules.alertsHold = own.alertsHold
      rules.adoptTimeout = own.adoptTimeout
      rules.offlineAfter = own.offlineAfter
      rules.ownUser = geteuid()
      rules.canSeal = canSeal
      rules.isAwaited = { callers.isAwaited($0) }
      rules.trustsShared = { trusted.contains($0) }
      rules.reportsSSID = { watchers.contains($0) }
      return ServedHome(name: home.name, base: home.base, rules: rules)
    }
  }

  var requestRules: RequestRules {
    var rules = RequestRules(tokens: buttonTokens)
    rules.approvers = Set(approvers.map { ExactName($0) })
    rules.approversMustSign = approversMustSign
    rules.homeAssistant =
      switch homeAssistant.consent {
      case .off: nil
      case .adoptions: .adoptions
      case .all: .all
      }
    rules.homeAssistantLogin = homeAssistant.login.map { ExactName($0) }
    return rules
  }

  /// Nil unless Home Assistant decides about everything.
  var consentAlert: AlertFacts? {
    guard homeAssistant.consent == .all, let login = homeAssistant.login else { return nil }
    return .consentByHomeAssistant(login: login)
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
    var settings = PublisherSettings(topics)
    settings.version = version
    settings.instanceID = instanceID
    settings.takesOver = takesOver
    settings.shown = topics.homes.map {
      let own = overridden(for: $0.name)
      return .init(
        alertsHold: own.alertsHold, offlineAfter: own.offlineAfter, adopts: own.adoptTimeout != nil)
    }
    settings.identity = { identity().map { ($0.keys.line, $0.keys.fingerprint) } }
    settings.discoveryPrefix = homeAssistant.isOn ? homeAssistant.prefix : nil
    settings.birthTopic = homeAssistant.birthTopic
    settings.requests = requestRules
    settings.team = team
    settings.formerBases = formerBases
    settings.formerPrefixes = formerPrefixes
    return settings
  }

  /// - Parameters:
  ///   - hashKey: `Keychain.hashKey(in:)`.
  ///   - identity: the daemon's own keys, as they are now.
  func intakeReading(
    hashKey: SecretBytes, identity: @escaping @Sendable () -> Identity?,
    request: @escaping RequestReader
  ) -> IntakeReading {
    var reading = IntakeReading(hashKey: hashKey)
    reading.eventsPerSecond = eventsPerSecond
    reading.eventsBurst = eventsBurst
    reading.identity = identity
    reading.request = request
    reading.isOfShard = topics.parent != nil
    return reading
  }
}
