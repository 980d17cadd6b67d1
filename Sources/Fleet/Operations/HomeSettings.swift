// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Settings
import ThreadkeeperDaemon

/// What a home of a fleet has otherwise than the settings of its node: keys as in the configuration, with texts as
/// there. In the database as JSON: `{"alerts.hold": "60"}`.
package struct HomeSettings: Codable, Equatable, Sendable {
  /// The keys that a home may have.
  package static let names = ["alerts.hold", "presence.offline_after", "preferred.on_mismatch"]

  package let values: [String: String]
  /// Seconds; nil: as its node has it. So are the others.
  package let alertsHold: Int?
  package let offlineAfter: Int?
  package let onMismatch: Settings.Preferred.OnMismatch?

  /// - Throws: `CommandFailure` with status 64 for what no home can have.
  package init(_ values: [String: String] = [:]) throws(CommandFailure) {
    self.values = values
    let read = values.isEmpty ? nil : try Self.read(values)
    alertsHold = values["alerts.hold"] == nil ? nil : read?.alerts.holdSeconds
    offlineAfter =
      values["presence.offline_after"] == nil ? nil : read?.presence.offlineAfterSeconds
    onMismatch = values["preferred.on_mismatch"] == nil ? nil : read?.preferred.onMismatch
  }

  /// As the database has it: what this program does not know, or cannot use, counts as not set.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.singleValueContainer().decode([String: String].self)
    do {
      try self.init(values)
    } catch {
      try self.init(values.filter { (try? HomeSettings([$0.key: $0.value])) != nil })
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }

  /// The defaults with these values, checked as those of a node are.
  private static func read(_ values: [String: String]) throws(CommandFailure) -> Settings {
    if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
      throw CommandFailure(
        .usage, "a home has no setting `\(unknown)`",
        remedy: "it can have \(names.map { "`\($0)`" }.joined(separator: ", "))")
    }
    let variables = values.map { name, value in
      ("THREADKEEPER_" + name.uppercased().replacing(".", with: "_"), value)
    }
    let result = SettingsLoader.load(
      text: "", as: "/", environment: Dictionary(variables) { $1 }, stateDirectory: "/")
    guard let settings = result.settings else {
      throw CommandFailure(.usage, result.problems.first?.message ?? "the settings cannot be used")
    }
    return settings
  }
}

/// A home of a fleet, as commands name it: `17/smith`.
package struct HomeAddress: Hashable, Sendable, CustomStringConvertible {
  package static let shards = 1...65_535

  package let shard: Int
  package let name: String

  package var description: String { "\(shard)/\(name)" }

  package init(shard: Int, name: String) { (self.shard, self.name) = (shard, name) }

  /// - Throws: `CommandFailure` with status 64.
  package init(_ text: String) throws(CommandFailure) {
    guard let parts = text.wholeMatch(of: /([0-9]{1,5})\/([a-z0-9_-]{1,32})/)?.output,
      let shard = Int(parts.1), Self.shards.contains(shard)
    else {
      throw CommandFailure(
        .usage, "`\(text)` is no home of a fleet",
        remedy: "write it as 17/smith: names have 1 to 32 small letters, digits, `-`, `_`")
    }
    self.init(shard: shard, name: String(parts.2))
  }
}
#endif
