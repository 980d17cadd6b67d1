#if Fleet
import Glibc
import KeychainCore
import Settings
import SodiumCrypto
import Synchronization
import ThreadDataset
import Threadkeeper

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The signal that wants this process to end; 0: none.
private let stopSignal = Atomic<Int32>(0)

/// Shards that a command has for a moment, so that no node does.
enum ShardHold {
  /// From its beginning, of the database's clock: so long no node has the shards of a command that was killed. Commands
  /// take seconds, so nothing is renewed.
  private static let seconds = 30
  /// Less than that, for the drift of clocks.
  private static let limit = Duration.seconds(28)
  /// A node releases at its next renewal; the lease of one that was killed is over by then.
  private static let timeout = Duration.seconds(15)

  private struct Hold: Decodable { var until: String }

  /// Has nodes release shards, lends their stores for the time of a call, and gives them back, whatever comes of it.
  /// SIGINT and SIGTERM end the process as soon as they are given back: without the call, or after it.
  ///
  /// - Parameters:
  ///   - progress: what is waited for.
  ///   - body: gets the stores in the order of `shards`.
  /// - Throws: `CommandFailure`: 75 where a node does not release one in time.
  static func with<R>(
    _ shards: [Int], _ settings: Settings, _ database: FleetDatabase, progress: (String) -> Void,
    _ body: ([ShardStore]) throws -> R
  ) throws(CommandFailure) -> R {
    // A key service that does not answer keeps no shard from its node.
    progress("Asking the key service")
    var keys: [Int: ShardKeys] = [:]
    for shard in shards { keys[shard] = try .opened(shard, settings, database) }
    let signals = [SIGINT, SIGTERM].map { ($0, signal($0) { stopSignal.store($0, ordering: .relaxed) }) }
    defer {
      for (number, before) in signals { signal(number, before) }
      let stop = stopSignal.load(ordering: .relaxed)
      if stop != 0 { exit(128 + stop) }
    }
    let process = UUID().uuidString
    let (term, deadline) = (LeaseTerm(.now + limit), ContinuousClock.now + timeout)
    let list = "{\(shards.map(String.init).joined(separator: ","))}"
    let holds: [Hold] = try database.rows(
      with: """
        held AS (UPDATE threadkeeper.lease SET held_back_until = now() + interval '\(seconds) s'
          WHERE shard = ANY($1::int[]) RETURNING held_back_until),
        """, "SELECT DISTINCT held_back_until::text AS until FROM held", [list])
    let name = "a command on \(settings.fleet.address)"
    let until = holds.first?.until ?? "-infinity"
    // Any node may have them again, also what was not claimed in the end; but not what another command holds since.
    defer {
      try? database.run(
        """
        UPDATE threadkeeper.lease SET
          held_back_until = CASE WHEN held_back_until = $3::timestamptz THEN '-infinity' ELSE held_back_until END,
          until = CASE WHEN process = $2::uuid THEN '-infinity' ELSE until END
        WHERE shard = ANY($1::int[])
        """, [list, process, until])
    }
    do {
      var stores: [Int: ShardStore] = [:]
      // In this order, so that two commands do not wait for each other.
      for shard in shards.sorted() {
        progress("Waiting for shard \(shard)")
        let epoch = try claim(shard, [name, process, until], database, until: deadline)
        stores[shard] = keys[shard].map {
          ShardStore(shard: shard, epoch: epoch, pool: database.pool, keys: $0, term: term)
        }
      }
      return try body(shards.compactMap { stores[$0] })
    } catch { throw CommandFailure(ofFleet: error) }
  }

  private static func claim(
    _ shard: Int, _ holder: [String], _ database: FleetDatabase, until deadline: ContinuousClock.Instant
  ) throws(CommandFailure) -> Int64 {
    struct Claimed: Decodable { var epoch: Int64 }
    while true {
      guard stopSignal.load(ordering: .relaxed) == 0 else { throw CommandFailure(.temporary, "it was stopped") }
      let claimed = try database.rows(
        with: """
          free AS (SELECT s.id FROM threadkeeper.lease l JOIN threadkeeper.shard s ON s.id = l.shard
            WHERE l.shard = $1::int AND l.until <= now() FOR UPDATE),
          raised AS (UPDATE threadkeeper.shard s SET epoch = s.epoch + 1 FROM free WHERE s.id = free.id
            RETURNING s.id, s.epoch),
          taken AS (UPDATE threadkeeper.lease l SET node = $2, process = $3::uuid, address = '',
              epoch = r.epoch, until = $4::timestamptz
            FROM raised r WHERE l.shard = r.id RETURNING l.epoch),
          """, "SELECT epoch FROM taken", ["\(shard)"] + holder, as: Claimed.self)
      if let claimed = claimed.first { return claimed.epoch }
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(
          .temporary, "shard \(shard) is not released by the node that has it",
          remedy: "try again; `threadkeeper fleet status` says who has it")
      }
      usleep(200_000)
    }
  }
}

extension ShardKeys {
  /// What opens a shard, by `fleet.unseal_command`.
  ///
  /// - Throws: `CommandFailure`.
  static func opened(_ shard: Int, _ settings: Settings, _ database: FleetDatabase) throws(CommandFailure) -> ShardKeys
  {
    struct Slot: Decodable { var sealed: String }
    let slots: [Slot] = try database.rows(
      "SELECT encode(sealed, 'hex') AS sealed FROM threadkeeper.key_slot WHERE shard = $1::int", ["\(shard)"])
    guard let sealed = slots.first.flatMap({ Hexadecimal.decode($0.sealed) }) else {
      throw CommandFailure(.configuration, "shard \(shard) has no key slot", remedy: "run `threadkeeper fleet init`")
    }
    let plaintext = try KeyCommand("fleet.unseal_command", settings.fleet.unsealCommand).run(
      SecretBytes(copying: sealed), shard: shard)
    do { return try ShardKeys(opening: plaintext, shard: shard) } catch {
      throw CommandFailure(
        .notPermitted, "`fleet.unseal_command` gives back something else than the key of shard \(shard)",
        remedy: "is it the key service of this fleet? `threadkeeper fleet doctor` tries it")
    }
  }
}
#endif
