// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import YAMLReader

extension SettingsReader {
  mutating func alerts() -> Settings.Alerts {
    var alerts = Settings.Alerts()
    alerts.holdSeconds = number(.alertsHold, in: 0...86_400) ?? alerts.holdSeconds
    return alerts
  }

  mutating func limits() -> Settings.Limits {
    var limits = Settings.Limits()
    limits.eventsPerSecond =
      number(.limitsEventsPerSecond, in: 1...10_000) ?? limits.eventsPerSecond
    limits.eventsBurst = number(.limitsEventsBurst, in: 1...1_000_000) ?? limits.eventsBurst
    limits.routersPerTeam =
      number(.limitsRoutersPerTeam, in: 1...100_000) ?? limits.routersPerTeam
    return limits
  }

  mutating func presence() -> Settings.Presence {
    var presence = Settings.Presence()
    presence.offlineAfterSeconds =
      number(.presenceOfflineAfter, in: 0...604_800) ?? presence.offlineAfterSeconds
    return presence
  }

  mutating func discovery() -> Settings.Discovery {
    var discovery = Settings.Discovery()
    discovery.mdns =
      choice(.discoveryMDNS, among: Settings.Discovery.MDNS.allCases) ?? discovery.mdns
    return discovery
  }

  mutating func preferred() -> Settings.Preferred {
    var preferred = Settings.Preferred()
    preferred.onMismatch =
      choice(.preferredOnMismatch, among: Settings.Preferred.OnMismatch.allCases)
      ?? preferred.onMismatch
    return preferred
  }

  mutating func log() -> Settings.Log {
    var log = Settings.Log()
    log.level = choice(.logLevel, among: Settings.Log.Level.allCases) ?? log.level
    log.format = choice(.logFormat, among: Settings.Log.Format.allCases) ?? log.format
    return log
  }
}

extension SettingsReader {
  mutating func consent() -> Settings.Consent {
    var consent = Settings.Consent()
    consent.approvers = approvers()
    consent.approversTrust =
      choice(.consentApproversTrust, among: Settings.Consent.ApproversTrust.allCases)
      ?? consent.approversTrust
    return consent
  }

  private mutating func approvers() -> [String] {
    let key = "consent.approvers"
    guard let (document, node) = mappings[key], !node.isNull else { return [] }
    guard case .sequence(let users) = node.content else {
      report(
        key, at: document.place(of: node), "expected a list of user names, found \(node.kind)")
      return []
    }
    var approvers: [String] = []
    for node in users {
      let place = document.place(of: node)
      guard let user = user(node, of: key, at: place) else { continue }
      guard !approvers.contains(where: { $0.utf8.elementsEqual(user.utf8) }) else {
        report(key, at: place, "the user `\(user)` is listed twice")
        continue
      }
      approvers.append(user)
    }
    return approvers
  }
}

extension SettingsReader {
  /// - Parameter homes: whose base topics must not overlap with the prefix.
  mutating func homeAssistant(beside homes: [Settings.Home]) -> Settings.HomeAssistant {
    var homeAssistant = Settings.HomeAssistant()
    homeAssistant.discovery = discovery() ?? homeAssistant.discovery
    homeAssistant.prefix =
      text(.homeAssistantPrefix, where: BaseTopic.isFit) ?? homeAssistant.prefix
    homeAssistant.consent = homeAssistantConsent() ?? homeAssistant.consent
    homeAssistant.login = text(.homeAssistantLogin) {
      (try? AccessList.check(userName: $0)) != nil
    }
    let isGiven = sources[.homeAssistantPrefix] != nil
    let overlaps = homes.first { BaseTopic.overlap($0.baseTopic, homeAssistant.prefix) }
    if let home = overlaps, isGiven || homeAssistant.discovery == .on {
      // Where no prefix was written, it is the base topic that a person has to look at.
      let key =
        isGiven || sources[.mqttBaseTopic] == nil ? SettingsKey.homeAssistantPrefix : .mqttBaseTopic
      report(
        .homeAssistantPrefix, at: place(of: key),
        "\(SettingsEntry.shown(homeAssistant.prefix)) equals the base topic of the home `\(home.name)` "
          + "(\(SettingsEntry.shown(home.baseTopic))), or one lies in the other; choose another base topic, "
          + "or set `home_assistant.discovery: off`")
    }
    return homeAssistant
  }

  /// `off` is a text to this reader, a truth value to others.
  private mutating func homeAssistantConsent() -> Settings.HomeAssistant.Consent? {
    if let entry = entry(of: .homeAssistantConsent), entry.kind == .plain,
      entry.text.lowercased() == "false"
    {
      return .off
    }
    return choice(.homeAssistantConsent, among: Settings.HomeAssistant.Consent.allCases)
  }

  /// `on` and `off` are texts to this reader, truth values to others: both spellings are taken.
  private mutating func discovery() -> Settings.HomeAssistant.Discovery? {
    if let entry = entry(of: .homeAssistantDiscovery), entry.kind == .plain {
      switch entry.text.lowercased() {
      case "true": return .on
      case "false": return .off
      default: break
      }
    }
    return choice(.homeAssistantDiscovery, among: Settings.HomeAssistant.Discovery.allCases)
  }
}
