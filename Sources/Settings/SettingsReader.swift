// SPDX-License-Identifier: Apache-2.0

import YAMLReader

/// Gathers what the file and the variables say, turns it into settings, and notes every problem
/// on the way. It goes on after each, so that a person sees all of them at once.
struct SettingsReader {
  let environment: [String: String]
  /// Of the configuration file; the working directory when there is none.
  let directory: String
  let workingDirectory: String
  /// Whether every user of the machine may read the configuration file.
  var isFileReadableByOthers = false
  /// Whether this user may not read one of the files.
  var isRefused = false
  /// Whether a key whose secret this user may not read counts as not given.
  var skipsRefusedSecrets = false

  var sources: [SettingsKey: SettingsSource] = [:]
  var mappings: [String: (document: YAMLDocument, node: YAMLNode)] = [:]
  var problems: [SettingsProblem] = []

  init(environment: [String: String], directory: String, workingDirectory: String) {
    self.environment = environment
    self.directory = directory
    self.workingDirectory = workingDirectory
  }

  var hasErrors: Bool {
    problems.contains { $0.severity == .error }
  }

  /// Notes an error. The key's full name, where there is one, goes before the message.
  mutating func report(_ name: String?, at place: SettingsProblem.Place, _ message: String) {
    note(name, at: place, .error, message)
  }

  mutating func report(_ key: SettingsKey, at place: SettingsProblem.Place, _ message: String) {
    note(key.rawValue, at: place, .error, message)
  }

  mutating func warn(_ name: String, at place: SettingsProblem.Place, _ message: String) {
    note(name, at: place, .warning, message)
  }

  mutating func warn(_ key: SettingsKey, at place: SettingsProblem.Place, _ message: String) {
    note(key.rawValue, at: place, .warning, message)
  }

  private mutating func note(
    _ name: String?, at place: SettingsProblem.Place, _ severity: SettingsProblem.Severity,
    _ message: String
  ) {
    let message = name.map { "\($0): \(message)" } ?? message
    problems.append(SettingsProblem(place: place, severity: severity, key: name, message: message))
  }

  /// The whole, as far as it can be made; without errors it is sound.
  mutating func settings(stateDirectory: String) -> Settings {
    let mqtt = mqtt()
    let store = store(stateDirectory: stateDirectory)
    var settings = Settings(
      mqtt: mqtt,
      store: store,
      alerts: alerts(),
      preferred: preferred(),
      presence: presence(),
      log: log(),
      consent: consent(),
      teams: teams(),
      homes: homes(default: mqtt.baseTopic),
      stateDirectory: stateDirectory)
    settings.limits = limits()
    settings.discovery = discovery()
    settings.homeAssistant = homeAssistant(beside: settings.homes)
    settings.http = http(besideStore: store.path)
    settings.clientUsers = clientUsers()
    settings.clients = clients(besideStore: store.path, users: settings.clientUsers)
    return settings
  }
}
