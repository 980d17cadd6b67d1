// SPDX-License-Identifier: Apache-2.0

import Settings
import ThreadkeeperDaemon

/// What a person has answered, or given by options.
struct SetupAnswers: Sendable, Equatable {
  enum Broker: Sendable, Equatable {
    /// A private one, on this machine.
    case embedded
    /// - Parameter caFile: nil: no TLS.
    case own(host: String, port: UInt16, caFile: String?)
  }

  var broker: Broker
  /// The daemon's login; nil for none.
  var username: String?
  /// Whether a password was given that is not the one of the settings.
  var hasNewPassword = false
  /// Nil: as it is.
  var baseTopic: String?
  /// Whether devices are announced to Home Assistant.
  var homeAssistant: Bool
  var page: Bool

  /// A key of the settings that gets another value.
  struct Change: Sendable, Equatable, Encodable {
    let key: String
    /// Never a secret.
    let from: String
    let to: String
    let value: SettingsText.Value

    enum CodingKeys: String, CodingKey { case key, from, to }

    /// For a person.
    var line: String {
      "\(key): \(to.printable)" + (from == to ? "" : " (was: \(from.printable))")
    }
  }

  /// What these answers change, in the order of the file.
  ///
  /// - Parameters:
  ///   - isNew: there is no file yet: then it names its broker, even if that is the default.
  func changes(to current: Settings, isNew: Bool) -> [Change] {
    var changes: [Change] = []
    func note(
      _ key: String, _ old: String?, _ new: String?, isWord: Bool = false, always: Bool = false
    ) {
      guard old != new || always else { return }
      let value = new.map { isWord ? SettingsText.Value.word($0) : .text($0) } ?? .word("null")
      changes.append(Change(key: key, from: old ?? "none", to: new ?? "none", value: value))
    }
    let mqtt = current.mqtt
    let host = if case .named(let name) = mqtt.host { name } else { "embedded" }
    switch broker {
    case .embedded: note("mqtt.host", host, "embedded", always: isNew)
    case .own(let name, let port, let caFile):
      note("mqtt.host", host, name, always: isNew)
      note("mqtt.port", "\(mqtt.port)", "\(port)", isWord: true)
      note("mqtt.username", mqtt.username, username)
      if mqtt.password != nil, hasNewPassword || username == nil {
        changes.append(
          Change(
            key: "mqtt.password", from: "in the settings", to: "in the encrypted store",
            value: .word("null")))
      }
      note("mqtt.tls.ca_file", mqtt.tls?.caFile, caFile)
    }
    if let baseTopic { note("mqtt.base_topic", mqtt.baseTopic, baseTopic) }
    note(
      "home_assistant.discovery", current.homeAssistant.discovery.rawValue,
      homeAssistant ? "on" : "off", isWord: true)
    note("http.enabled", "\(current.http.isEnabled)", "\(page)", isWord: true)
    return changes
  }

  /// The settings that `changes` should lead to.
  ///
  /// - Parameter new: those that they led to, for what follows from other keys.
  func expected(from current: Settings, _ new: Settings) -> Settings {
    var expected = current
    switch broker {
    case .embedded: expected.mqtt.host = .embedded
    case .own(let host, let port, let caFile):
      expected.mqtt.host = .named(host)
      expected.mqtt.port = port
      expected.mqtt.username = username
      if hasNewPassword || username == nil { expected.mqtt.password = nil }
      if let caFile {
        expected.mqtt.tls = expected.mqtt.tls ?? .init(caFile: caFile)
        expected.mqtt.tls?.caFile = caFile
      } else {
        expected.mqtt.tls = nil
      }
    }
    if let baseTopic, baseTopic != current.mqtt.baseTopic {
      expected.mqtt.baseTopic = baseTopic
      expected.homes = new.homes
    }
    expected.homeAssistant.discovery = homeAssistant ? .on : .off
    expected.http.isEnabled = page
    return expected
  }
}
