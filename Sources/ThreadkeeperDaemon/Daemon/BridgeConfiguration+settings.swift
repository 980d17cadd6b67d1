// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import MosquittoClient
import Settings

extension BridgeConfiguration {
  /// What the settings decide for the bridge.
  package init(_ settings: Settings) {
    self.init(
      version: threadkeeperVersion,
      topics: BaseTopics(settings.homes.map { .init(name: $0.name, base: $0.baseTopic) }))
    teams = settings.brokerTeams
    eventsPerSecond = settings.limits.eventsPerSecond
    eventsBurst = settings.limits.eventsBurst
    routersPerTeam = settings.limits.routersPerTeam
    approvers = settings.consent.approvers
    approversMustSign = settings.consent.approversTrust == .signed
    homeAssistant.isOn = settings.homeAssistant.discovery == .on
    homeAssistant.prefix = settings.homeAssistant.prefix
    homeAssistant.login = settings.homeAssistant.login
    homeAssistant.consent =
      switch settings.homeAssistant.consent {
      case .off: .off
      case .adoptions: .adoptions
      case .all: .all
      }
    alertsHold = settings.alerts.holdSeconds
    offlineAfter = settings.presence.offlineAfterSeconds
    discoversRouters = settings.discovery.mdns == .auto
    adoptTimeout = settings.preferred.onMismatch == .adopt ? 300 : nil
  }
}

extension MosquittoConfiguration {
  /// The connection to a broker that is not ours.
  package init(_ mqtt: Settings.MQTT, host: String) {
    self.init(
      host: host, port: mqtt.port, clientID: mqtt.clientID ?? "threadkeeper",
      username: mqtt.username, password: mqtt.password?.revealed,
      protocolVersion: mqtt.protocolVersion == .v5 ? .v5 : .v311,
      tls: mqtt.tls.map {
        TLS(caFile: $0.caFile, certificateFile: $0.certFile, keyFile: $0.keyFile)
      })
  }
}
