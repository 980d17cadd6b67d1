// SPDX-License-Identifier: Apache-2.0

import StatePlaces

extension SettingsReader {
  static let variablePrefix = "THREADKEEPER_"
  /// Variables that are read before any setting is.
  static let ownVariables: Set<String> = [
    "THREADKEEPER_CONFIG", "THREADKEEPER_STATE_DIRECTORY", SystemPlaces.rootVariable,
  ]
  /// Where programs look for the daemon.
  static let clientVariable = "THREADKEEPER_SOCKET"
  /// Variables that begin like these are for programs that use the keychain, or Thread credentials.
  static let othersVariables = ["THREADKEEPER_KEYCHAIN_", "THREADKEEPER_NETWORK_"]

  /// Variables override the file. An empty one counts as not set.
  ///
  /// - Parameter others: names with our prefix that somebody else reads.
  mutating func readVariables(others: Set<String>) {
    let given = environment.filter { $0.key.hasPrefix(Self.variablePrefix) && !$0.value.isEmpty }
    var settingsOf: [String: String] = [:]
    for name in SettingsKey.allCases.map(\.rawValue) + SettingsKey.mappings {
      settingsOf[SettingsKey.variable(of: name)] = name
    }
    for (variable, value) in given.sorted(by: { $0.key < $1.key }) {
      if let name = settingsOf[variable] {
        take(.text(value, .untyped), from: variable, as: name)
      } else if variable.hasSuffix("_FILE"), let name = settingsOf[String(variable.dropLast(5))] {
        let direct = String(variable.dropLast(5))
        if given[direct] != nil {
          report(name, at: .variable(variable), "\(direct) is set too; set one of the two")
        } else {
          take(.file(path: value), from: variable, as: name)
        }
      } else if !Self.ownVariables.contains(variable), !others.contains(variable),
        variable != Self.clientVariable,
        !Self.othersVariables.contains(where: { variable.hasPrefix($0) }),
        !Self.isServiceLink(variable, value)
      {
        noteUnknown(variable, known: Array(settingsOf.keys) + Self.ownVariables)
      }
    }
  }

  private mutating func take(
    _ content: SettingsSource.Content, from variable: String, as name: String
  ) {
    let source = SettingsSource(content: content, place: .variable(variable))
    if let key = SettingsKey(rawValue: name) {
      sources[key] = source
    } else if let entry = entry(from: source, of: name, isSecret: false) {
      takeMapping(entry, from: variable, as: name)
    }
  }

  /// `teams`, `homes` and lists are YAML in a variable too: `{installer: [hub1, hub2]}`, `[anna]`.
  private mutating func takeMapping(
    _ entry: SettingsEntry, from variable: String, as name: String
  ) {
    do throws(SettingsProblem) {
      let document = try YAMLDocument(parsing: entry.text, origin: .variable(variable))
      mappings[name] = document.root.map { (document, $0) }
    } catch {
      report(name, at: error.place, error.message)
    }
  }

  private mutating func noteUnknown(_ variable: String, known: [String]) {
    let prefix = Self.variablePrefix
    let names = known.map { String($0.dropFirst(prefix.count)) }.sorted()
    let nearest = NearestName.nearest(to: String(variable.dropFirst(prefix.count)), among: names)
    let hint = nearest.map { "; did you mean `\(prefix)\($0)`?" } ?? ""
    report(nil, at: .variable(variable), "unknown variable\(hint)")
  }

  /// Kubernetes gives every container variables for each service of the cluster, and one of them
  /// may be called `threadkeeper`: `THREADKEEPER_PORT=tcp://…`, `THREADKEEPER_SERVICE_HOST=…`.
  private static func isServiceLink(_ variable: String, _ value: String) -> Bool {
    variable.hasPrefix("THREADKEEPER_SERVICE_") || variable.hasPrefix("THREADKEEPER_PORT_")
      || variable == "THREADKEEPER_PORT" && value.contains("://")
  }
}
