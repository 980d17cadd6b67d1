// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
  mutating func alerts() -> Settings.Alerts {
    var alerts = Settings.Alerts()
    alerts.holdSeconds = number(.alertsHold, in: 0...86_400) ?? alerts.holdSeconds
    return alerts
  }

  mutating func presence() -> Settings.Presence {
    var presence = Settings.Presence()
    presence.offlineAfterSeconds =
      number(.presenceOfflineAfter, in: 0...604_800) ?? presence.offlineAfterSeconds
    return presence
  }

  mutating func preferred() -> Settings.Preferred {
    var preferred = Settings.Preferred()
    preferred.onMismatch = onMismatch() ?? preferred.onMismatch
    preferred.followMembers =
      choice(.preferredFollowMembers, among: Settings.Preferred.FollowMembers.allCases)
      ?? preferred.followMembers
    return preferred
  }

  /// `adopt` belongs to the protocol, but hands out a network's key, and this version can't seal
  /// what it sends.
  private mutating func onMismatch() -> Settings.Preferred.OnMismatch? {
    let key = SettingsKey.preferredOnMismatch
    if case .text("adopt", _) = sources[key]?.content {
      report(
        key, at: place(of: key),
        "`adopt` needs sealed delivery, which is not in this version; use `alert`")
      return nil
    }
    return choice(key, among: Settings.Preferred.OnMismatch.allCases)
  }

  mutating func log() -> Settings.Log {
    var log = Settings.Log()
    log.level = choice(.logLevel, among: Settings.Log.Level.allCases) ?? log.level
    log.format = choice(.logFormat, among: Settings.Log.Format.allCases) ?? log.format
    return log
  }
}
