// SPDX-License-Identifier: Apache-2.0

import Foundation
import Settings
import Testing

/// Kept files of earlier versions: what they say stays what it was.
@Suite("Settings of earlier versions")
struct OlderSettingsTests {
  private let directory: ConfigurationDirectory

  init() throws {
    directory = try ConfigurationDirectory()
    let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "Golden/settings-0.1.0.yaml")
    try directory.write(try Data(contentsOf: golden), to: "threadkeeper.yaml")
    try directory.write("a password\n", to: "mqtt_password")
    for name in ["ca.pem", "cert.pem", "key.pem"] { try directory.write("x", to: name) }
  }

  @Test("Those of 0.1.0 mean what they meant, with the one warning that they had")
  func first() throws {
    let result = directory.load()
    #expect(result.problems.map(\.severity) == [.warning])
    #expect(result.problems.first?.description.contains("`homes` names base topics") == true)
    let settings = try #require(result.settings)
    var expected = try #require(try load("").settings)
    expected.stateDirectory = settings.stateDirectory
    expected.mqtt.host = .named("broker.home.arpa")
    expected.mqtt.port = 18883
    expected.mqtt.username = "keeper"
    expected.mqtt.password = SecretText("a password")
    expected.mqtt.clientID = "keeper-1"
    expected.mqtt.baseTopic = "house/thread"
    expected.mqtt.protocolVersion = .v311
    let path = directory.path
    expected.mqtt.tls = .init(
      caFile: "\(path)/ca.pem", certFile: "\(path)/cert.pem", keyFile: "\(path)/key.pem")
    expected.store.path = "/srv/keeper/store"
    expected.store.keyFile = "/srv/keeper/key"
    expected.store.anchorPath = "/srv/other/anchor"
    expected.store.passphrase = SecretText("a passphrase of some words")
    expected.store.lockAfterSeconds = 600
    expected.alerts.holdSeconds = 5
    expected.preferred.onMismatch = .adopt
    expected.preferred.adoptTimeoutSeconds = 60
    expected.preferred.followMembers = .any
    expected.presence.offlineAfterSeconds = 0
    expected.discovery.mdns = .off
    expected.limits.eventsPerSecond = 7
    expected.limits.eventsBurst = 8
    expected.limits.routersPerTeam = 9
    expected.clients.socket = "/run/keeper/client.sock"
    expected.clients.group = 0
    expected.consent.approvers = ["phone-ada"]
    expected.consent.approversTrust = .broker
    expected.homeAssistant.discovery = .off
    expected.homeAssistant.prefix = "ha"
    expected.homeAssistant.consent = .all
    expected.homeAssistant.login = "homeassistant"
    expected.http.isEnabled = false
    expected.http.address = "192.0.2.7"
    expected.http.port = 80
    expected.http.token = SecretText("0123456789abcdef")
    expected.http.names = ["keeper.home.arpa"]
    expected.http.trustedProxy = "192.0.2.8"
    expected.http.trustedProxyChanges = true
    expected.log.level = .debug
    expected.log.format = .json
    expected.teams = ["installer": ["hub-kitchen", "hub-attic"]]
    expected.clientUsers = [1000: "phone"]
    expected.homes = [
      .init(name: "house", baseTopic: "keeper/house"),
      .init(name: "cabin", baseTopic: "keeper/cabin"),
    ]
    let rule = try #require(settings.ingest.all.first)
    #expect(settings.ingest.subscriptions == ["otbr/+/LWT"])
    #expect(rule.name == "will" && rule.home == "cabin" && rule.event == .offline)
    #expect(rule.user.text == "{box}" && rule.conditions.map(\.values) == [["Offline", "gone"]])
    expected.ingest = settings.ingest
    #expect(settings == expected)
  }
}
