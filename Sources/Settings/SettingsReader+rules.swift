// SPDX-License-Identifier: Apache-2.0

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
