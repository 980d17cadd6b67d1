#if Fleet
import Home
import Settings
import Threadkeeper

/// What a home of a fleet has otherwise than the settings of its node: keys as in the configuration, with texts as
/// there. In the database as JSON: `{"alerts.hold": "60"}`.
struct HomeOverrides: Codable, Equatable {
  /// The keys that a home may have.
  static let names = ["alerts.hold", "presence.offline_after", "preferred.on_mismatch"]

  let values: [String: String]
  private var read = HomeSettings()

  /// - Throws: `CommandFailure` with status 64 for what no home can have.
  init(_ values: [String: String] = [:]) throws(CommandFailure) {
    self.values = values
    guard !values.isEmpty else { return }
    if let unknown = values.keys.sorted().first(where: { !Self.names.contains($0) }) {
      throw CommandFailure(
        .usage, "a home has no setting `\(unknown)`",
        remedy: "it can have \(Self.names.map { "`\($0)`" }.joined(separator: ", "))")
    }
    // Checked as those of a node are.
    let variables = values.map { ("THREADKEEPER_" + $0.uppercased().replacing(".", with: "_"), $1) }
    let result = SettingsLoader.load(text: "", as: "/", environment: Dictionary(variables) { $1 }, stateDirectory: "/")
    guard let read = result.settings else {
      throw CommandFailure(.usage, result.problems.first?.message ?? "the settings cannot be used")
    }
    self.read = read.eachHome
  }

  /// Those of its node, with the home's own instead.
  func over(_ node: HomeSettings) -> HomeSettings {
    var all = node
    if values["alerts.hold"] != nil { all.alertsHold = read.alertsHold }
    if values["presence.offline_after"] != nil { all.offlineAfter = read.offlineAfter }
    if values["preferred.on_mismatch"] != nil { all.onMismatch = read.onMismatch }
    return all
  }

  /// As the database has it: what this program does not know, or cannot use, counts as not set.
  init(from decoder: any Decoder) throws {
    let values = try decoder.singleValueContainer().decode([String: String].self)
    try self.init(values.filter { (try? HomeOverrides([$0.key: $0.value])) != nil })
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
}

/// The homes of a fleet, which stand in its database.
enum FleetHomes {
  struct Row: Codable {
    var shard: Int
    var name: String
    var settings: HomeOverrides

    init(_ home: HomeAddress, settings: HomeOverrides) {
      (shard, name, self.settings) = (home.shard, home.name, settings)
    }
  }

  struct Added: Codable {
    var added = 0
    /// Homes that were there and have other settings now.
    var changed = 0
    var unchanged = 0
  }

  /// Homes in one statement: what is larger is cut, so that no lease waits for it.
  fileprivate static let inStatement = 5_000
}

extension FleetDatabase {
  /// - Parameter shard: nil: of all.
  func homes(of shard: Int? = nil) throws(CommandFailure) -> [FleetHomes.Row] {
    try rows(
      """
      SELECT shard, name, settings FROM threadkeeper.home
      WHERE $1 = '' OR shard = nullif($1, '')::int ORDER BY shard, name
      """, [shard.map(String.init) ?? ""])
  }

  /// Adds homes. One that is there already keeps its settings, but for those that are named.
  ///
  /// - Throws: `CommandFailure` with status 64 where there is no such shard, and then nothing is added.
  func add(_ homes: [FleetHomes.Row], progress: (Int) -> Void = { _ in }) throws(CommandFailure) -> FleetHomes.Added {
    struct Shard: Decodable { var id: Int }
    struct Change: Decodable { var isNew: Bool }
    let shards = Set(try rows("SELECT id FROM threadkeeper.shard", as: Shard.self).map(\.id))
    if let home = homes.first(where: { !shards.contains($0.shard) }) {
      throw CommandFailure(
        .usage, "there is no shard \(home.shard), for \(home.shard)/\(home.name)",
        remedy: "`threadkeeper fleet init --shards \(home.shard)` makes it, and those before it")
    }
    var outcome = FleetHomes.Added()
    // One that is named twice has what is said of it last.
    let named = Dictionary(homes.map { (HomeAddress(shard: $0.shard, name: $0.name), $0) }, uniquingKeysWith: { $1 })
    var rest = Array(named.values)[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(FleetHomes.inStatement))
      rest = rest.dropFirst(part.count)
      let changes: [Change] = try rows(
        "SELECT is_new FROM threadkeeper.add_homes($1::jsonb)", [try JSONText.line(part)])
      outcome.added += changes.count { $0.isNew }
      outcome.changed += changes.count { !$0.isNew }
      outcome.unchanged += part.count - changes.count
      progress(named.count - rest.count)
    }
    return outcome
  }
}
#endif
