#if Fleet
import Broker
import KeychainCore
import Settings
import Threadkeeper

/// Takes a shard as it is, though the broker's anchor says that there was a newer state of it: somebody has restored the
/// database.
enum FleetAccept {
  /// - Returns: whether the shard was rolled back; else nothing is changed.
  static func run(
    shard: Int, by actor: String, _ settings: Settings, _ database: FleetDatabase, progress: (String) -> Void
  ) async throws(CommandFailure) -> Bool {
    guard let found = try FleetStatus(database).shards.first(where: { $0.shard == shard }) else {
      throw CommandFailure(.usage, "there is no shard \(shard)", remedy: "`threadkeeper fleet status` lists them")
    }
    guard found.state == LeaseState.rolledBack.rawValue else { return false }
    // First into the audit: what comes after it can be repeated.
    try ShardHold.with([shard], settings, database, progress: progress) { stores in
      guard let store = stores.first else { return }
      _ = try store.load { _ in }
      var changes = RecordChanges()
      changes.audit = [.init(actor: actor, .rollbackAccepted, "\(store.place)")]
      try store.commit(changes)
    }
    progress("Removing the anchor at the broker")
    let probe = BrokerProbe(try connection(settings))
    if let error = await probe.publish([Anchor.removal(of: shard, below: settings.mqtt.baseTopic)]) {
      throw CommandFailure(
        .unavailable, "the anchor cannot be removed at the broker: \(error.message)",
        remedy: "`threadkeeper fleet doctor` checks the broker; then try again")
    }
    try database.run(
      // Nodes see that the anchor is gone a moment after this.
      """
      UPDATE threadkeeper.lease SET state = $2, held_back_until = now() + interval '2 s'
      WHERE shard = $1::int AND state = $3
      """, ["\(shard)", LeaseState.free.rawValue, LeaseState.rolledBack.rawValue])
    return true
  }

  /// How commands reach the broker: as the nodes do, with client ids of their own.
  static func connection(_ settings: Settings) throws(CommandFailure) -> MosquittoConfiguration {
    guard case .named(let host) = settings.mqtt.host else {
      throw CommandFailure(.configuration, "`mqtt.host` is not set", remedy: "name the broker of the fleet")
    }
    return MosquittoConfiguration(settings.mqtt, host: host)
  }
}
#endif
