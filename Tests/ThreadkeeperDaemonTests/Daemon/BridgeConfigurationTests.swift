// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import DaemonTestKit
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What the settings decide for the bridge")
struct BridgeConfigurationTests {
  @Test("The bridge alone has the same defaults as the settings")
  func defaults() throws {
    let settings = try BridgeConfiguration(MovedStore.settings(TemporaryStore()))
    let alone = BridgeConfiguration(version: settings.version, topics: settings.topics)
    #expect(settings.alertsHold == alone.alertsHold)
    #expect(settings.offlineAfter == alone.offlineAfter)
    #expect(settings.adoptTimeout == alone.adoptTimeout)
    #expect(settings.eventsPerSecond == alone.eventsPerSecond)
    #expect(settings.eventsBurst == alone.eventsBurst)
    #expect(settings.routersPerTeam == alone.routersPerTeam)
    #expect(settings.approvers == alone.approvers)
    #expect(settings.approversMustSign == alone.approversMustSign)
    #expect(settings.teams == alone.teams)
    #expect(settings.homeAssistant.prefix == alone.homeAssistant.prefix)
  }

  @Test("Home Assistant's discovery is on in the settings, and off for a bridge without any")
  func discovery() throws {
    var settings = try MovedStore.settings(TemporaryStore())
    #expect(BridgeConfiguration(settings).homeAssistant.isOn)
    settings.homeAssistant.discovery = .off
    settings.homeAssistant.prefix = "other"
    let configuration = BridgeConfiguration(settings)
    #expect(!configuration.homeAssistant.isOn)
    #expect(configuration.homeAssistant.prefix == "other")
    #expect(!BridgeConfiguration(version: "1", topics: configuration.topics).homeAssistant.isOn)
    #expect(configuration.homeAssistant.trusted.isEmpty)
    settings.homeAssistant.trusted = ["ha"]
    #expect(BridgeConfiguration(settings).homeAssistant.trusted == ["ha"])
  }
}
