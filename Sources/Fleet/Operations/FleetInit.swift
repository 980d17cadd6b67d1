#if Fleet
import Settings
import SodiumCrypto
import ThreadDataset
import Threadkeeper

/// Makes what a fleet needs and does not have yet: schema, shards, their key slots. What is there is never replaced.
struct FleetInit {
  struct Report: Encodable {
    var fleet: String
    var shards: Int
    /// How many are new.
    var keysMade: Int
  }

  /// Of a fleet that has none yet, where nobody says how many: for some 64,000 homes.
  private static let standardShards = 16

  let settings: Settings
  let database: FleetDatabase

  init(_ settings: Settings, _ database: FleetDatabase) { (self.settings, self.database) = (settings, database) }

  /// For an administrator of the database, where this role may not make it. Connects to nothing.
  static var script: String {
    """
    -- Once, in the fleet's own database: … | psql -v ON_ERROR_STOP=1 DATABASE
    -- Then a login for nodes and commands: CREATE ROLE … LOGIN IN ROLE threadkeeper_node;
    -- and one for monitoring, which sees nothing that is sealed: … IN ROLE threadkeeper_reader;
    BEGIN;
    \(FleetSchema.script)
    -- For `threadkeeper fleet init`. Nobody changes a key slot.
    GRANT INSERT ON threadkeeper.fleet, threadkeeper.shard, threadkeeper.lease, threadkeeper.key_slot
      TO threadkeeper_node;
    COMMIT;

    """
  }

  /// - Parameters:
  ///   - shards: how many there are to be; nil: those that there are.
  ///   - name: of a new fleet; it stands in the client ids at the broker.
  func run(shards: Int?, name: String?, progress: (String) -> Void) throws(CommandFailure) -> Report {
    progress("Looking at the database")
    func create(_ shards: Int) throws(CommandFailure) -> FleetStatus {
      let name = name ?? "fleet"
      try database.connected { try FleetSchema.create(name: name, shards: shards, on: $0) }
      return try FleetStatus(database)
    }
    var status = try create(shards ?? 0)
    if status.shards.isEmpty { status = try create(Self.standardShards) }
    guard name == nil || name == status.fleet.name else {
      throw CommandFailure(
        .usage, "this database has the fleet `\(status.fleet.name)`",
        remedy: "leave `--name` out: its sessions at the broker are called by it")
    }
    return Report(fleet: status.fleet.name, shards: status.shards.count, keysMade: try makeKeys(progress))
  }

  /// What a program has sealed counts when the other one has opened it again.
  private func makeKeys(_ progress: (String) -> Void) throws(CommandFailure) -> Int {
    struct Shard: Decodable { var id: Int }
    let missing: [Shard] = try database.rows(
      """
      SELECT id FROM threadkeeper.shard
      WHERE id NOT IN (SELECT shard FROM threadkeeper.key_slot) ORDER BY id
      """)
    for (index, shard) in missing.map(\.id).enumerated() {
      progress("Sealing the key of shard \(shard), \(index + 1) of \(missing.count)")
      guard let plaintext = try? ShardKeys.make(shard: shard).plaintext else {
        throw CommandFailure(.system, "no key can be made")
      }
      let sealed = try KeyCommand("fleet.seal_command", settings.fleet.sealCommand).run(plaintext, shard: shard)
      let opened = try KeyCommand("fleet.unseal_command", settings.fleet.unsealCommand).run(sealed, shard: shard)
      guard opened == plaintext, sealed != plaintext else {
        throw CommandFailure(
          .configuration,
          sealed == plaintext
            ? "`fleet.seal_command` does not seal: it prints what it gets"
            : "`fleet.unseal_command` does not give back what `fleet.seal_command` has sealed, so it is not stored",
          remedy: "correct them in the settings: see docs/guides/fleet.md")
      }
      try database.run(
        """
        INSERT INTO threadkeeper.key_slot (shard, kind, sealed)
        VALUES ($1::int, 'command', decode($2, 'hex')) ON CONFLICT DO NOTHING
        """, ["\(shard)", sealed.withUnsafeBytes { Hexadecimal.encode($0) }])
    }
    return missing.count
  }
}
#endif
