// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

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
