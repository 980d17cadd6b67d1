// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YAMLReader

@testable import Settings

struct ShippedConfigurationTests {
  static let path = URL(fileURLWithPath: #filePath)
    .appending(path: "../../../config/threadkeeper.yaml").standardized.path

  private func load(file: String?) -> SettingsResult {
    SettingsLoader.load(
      file: file, environment: ["HOME": "/home/ada"], systemFile: "/nonexistent",
      workingDirectory: "/", isRoot: false)
  }

  @Test("The shipped file says what holds without a file")
  func equalsDefaults() throws {
    let shipped = load(file: Self.path)
    let defaults = load(file: nil)
    #expect(shipped.problems.map(\.description) == [])
    #expect(defaults.problems.map(\.description) == [])
    #expect(defaults.file == nil)
    #expect(try #require(shipped.settings) == #require(defaults.settings))
  }

  @Test("The shipped file has every key, and a comment before each")
  func isComplete() throws {
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    let root = try #require(try YAMLNode.read(text))
    var values: [String: YAMLNode] = [:]
    func collect(_ node: YAMLNode, _ prefix: String) {
      guard case .mapping(let pairs) = node.content else { return }
      for (key, value) in pairs {
        let name = prefix + (key.text ?? "?")
        if case .mapping = value.content, !SettingsKey.mappings.contains(name) {
          collect(value, name + ".")
        } else {
          values[name] = value
        }
      }
    }
    collect(root, "")
    let names = values.keys
    #expect(Set(names) == Set(SettingsKey.allCases.map(\.rawValue) + SettingsKey.mappings))
    // A null is for defaults that depend on something; all others are written down.
    let depending: Set = [
      "mqtt.port", "mqtt.username", "mqtt.password", "mqtt.client_id", "mqtt.tls.ca_file",
      "mqtt.tls.cert_file", "mqtt.tls.key_file", "store.path", "store.key_file",
      "store.passphrase", "clients.socket", "http.token", "http.trusted_proxy",
      "home_assistant.login",
    ]
    for name in names where !depending.contains(name) {
      #expect(values[name]?.isNull == false, "\(name) has its default written down")
    }
    #expect(text.components(separatedBy: "Default:").count > names.count - 2)
  }

  @Test("Every value in the shipped file counts: another one changes the settings or is refused")
  func valuesCount() throws {
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    let defaults = try #require(load(file: nil).settings)
    let changes = [
      ("host: embedded", "host: broker"), ("port: null", "port: 1"),
      ("username: null", "username: ada"), ("client_id: null", "client_id: a"),
      ("base_topic: threadkeeper", "base_topic: other"), ("protocol: 5", "protocol: 3.1.1"),
      ("ca_file: null", "ca_file: /etc/hostname"), ("path: null", "path: /srv/a"),
      ("\n  key_file: null", "\n  key_file: /srv/a"),
      ("hold: 30", "hold: 31"), ("on_mismatch: alert", "on_mismatch: adopt"),
      ("offline_after: 300", "offline_after: 0"), ("level: info", "level: debug"),
      ("approvers: []", "approvers: [a]"), ("approvers_trust: signed", "approvers_trust: broker"),
      ("format: text", "format: json"), ("teams: {}", "teams: {a: [b]}"),
      ("discovery: on", "discovery: off"), ("prefix: homeassistant", "prefix: other"),
      ("consent: adoptions", "consent: all"), ("login: null", "login: ha"),
      ("homes: {}", "homes: {a: {base_topic: b}}"),
      ("client_users: {}", "client_users: {root: a}"),
      ("\n  socket: null", "\n  socket: /run/a"),
      ("enabled: true", "enabled: false"), ("address: 127.0.0.1", "address: 127.0.0.2"),
      ("port: 8423", "port: 8424"), ("token: null", "token: 0123456789abcdef"),
      ("names: []", "names: [a]"), ("trusted_proxy: null", "trusted_proxy: 192.0.2.1"),
      ("trusted_proxy_changes: false", "trusted_proxy_changes: true"),
    ]
    let directory = try ConfigurationDirectory()
    for (line, changed) in changes {
      try #require(text.contains(line), "\(line)")
      try directory.write(text.replacing(line, with: changed, maxReplacements: 1), to: "a.yaml")
      let result = load(file: directory.path + "/a.yaml")
      #expect(result.settings != nil, "\(changed): \(result.problems)")
      #expect(result.settings != defaults, "\(changed)")
    }
  }
}
