#if Fleet
import Broker
import Home
import HomeStore
import KeychainCore
import Settings
import SodiumCrypto
import Threadkeeper

/// Moves a home into another shard: sealed by the keys of that shard, with hashes made by its hash key. Nobody serves
/// either shard meanwhile. Messages of their other homes wait at the broker; those to the old base topic of this one are
/// lost.
///
/// | step | when it ends here |
/// |---|---|
/// | 1 its records are written into the new shard | the old shard serves it, and the next move replaces them |
/// | 2 `home` names the new shard | that serves it, and the next move does step 3 |
/// | 3 its records are deleted from the old shard | done |
struct HomeMove {
  struct Report: Encodable {
    var home: String
    var records: Int
    var baseTopic: String
    var formerBaseTopic: String
  }

  private let home: HomeAddress
  private let target: HomeAddress
  private let settings: Settings
  private let database: FleetDatabase

  init(_ home: HomeAddress, to shard: Int, _ settings: Settings, _ database: FleetDatabase) throws(CommandFailure) {
    (self.home, self.settings, self.database) = (home, settings, database)
    target = HomeAddress(shard: shard, name: home.name)
  }

  func run(progress: (String) -> Void) throws(CommandFailure) -> Report {
    // Before a node has to release anything.
    _ = try place()
    return try ShardHold.with([home.shard, target.shard], settings, database, progress: progress) { stores in
      progress("Moving \(home)")
      let old = try ShardRecords(stores[0]).records(of: home.name)
      let there = try ShardRecords(stores[1])
      // Another command may have moved it meanwhile.
      if try place() == home.shard {
        try copy(old, from: stores[0], to: stores[1], there)
        try moveRow(stores)
      } else if there.records(of: home.name).count < old.count {
        throw CommandFailure(
          .usage, "\(target) is another home than what shard \(home.shard) has of \(home), which stays there",
          remedy: "`threadkeeper fleet homes add \(home)` has that served again")
      }
      // Its note stays: by it the old shard empties what the broker keeps below the old base topic.
      if !old.isEmpty {
        var changes = RecordChanges()
        changes.records = old.map { .init(id: $0.id, home: $0.home, state: nil, secret: .none) }
        changes.audit = [.init(actor: "fleet homes move", .deleted, "home \(home), now \(target)")]
        try stores[0].commit(changes)
      }
      return Report(
        home: "\(target)", records: old.count, baseTopic: "\(settings.mqtt.baseTopic)/\(target)",
        formerBaseTopic: "\(settings.mqtt.baseTopic)/\(home)")
    }
  }

  /// The shard of the two that has it: the new one where a move was interrupted.
  private func place() throws(CommandFailure) -> Int {
    struct Place: Decodable { var shard: Int, isHome: Bool }
    let places: [Place] = try database.rows(
      """
      SELECT s.id AS shard, h.name IS NOT NULL AS is_home FROM threadkeeper.shard s
      LEFT JOIN threadkeeper.home h ON h.shard = s.id AND h.name = $3
      WHERE s.id IN ($1::int, $2::int)
      """, ["\(home.shard)", "\(target.shard)", home.name])
    let homes = places.filter(\.isHome)
    guard places.count == 2, homes.count == 1 else {
      throw CommandFailure(
        .usage, "\(home) cannot be moved to \(target): there must be the home, the shard, and no such home in it",
        remedy: "`threadkeeper fleet homes list` and `threadkeeper fleet status` list them")
    }
    return homes[0].shard
  }

  /// - Throws: `CommandFailure` with status 75 where another process has one of the shards by now.
  private func moveRow(_ stores: [ShardStore]) throws(CommandFailure) {
    struct Moved: Decodable { var name: String }
    let moved: [Moved] = try database.rows(
      with: """
        fence AS (UPDATE threadkeeper.shard SET homes_version = homes_version + 1
          WHERE (id, epoch) IN (($1::int, $4::bigint), ($2::int, $5::bigint)) RETURNING id),
        moved AS (UPDATE threadkeeper.home SET shard = $2::int
          WHERE shard = $1::int AND name = $3 AND (SELECT count(*) FROM fence) = 2 RETURNING name),
        """, "SELECT name FROM moved", ["\(home.shard)", "\(target.shard)", home.name] + stores.map { "\($0.epoch)" })
    guard moved.count == 1 else {
      throw CommandFailure(
        .temporary, "another process has shard \(home.shard) or \(target.shard) by now",
        remedy: "run the same command again")
    }
  }

  private func copy(_ records: [StoredRecord], from old: ShardStore, to new: ShardStore, _ there: ShardRecords) throws {
    var next = there.highest + 1
    // A home that was there before, or whose move was interrupted, has a number already.
    let number = there.numbers[home.name] ?? next
    if number == next { next += 1 }
    var changes = RecordChanges()
    changes.records = there.records(of: home.name).map { .init(id: $0.id, home: number, state: nil, secret: .none) }
    let note = HomeNote(name: home.name, base: "\(settings.mqtt.baseTopic)/\(target)")
    changes.records.append(.init(id: RecordID(number), home: number, state: note.record))
    let secrets = try Dictionary(
      uniqueKeysWithValues: records.filter(\.hasSecret).compactMap { record in
        try old.withSecret(of: record.id) { (record.id, SecretBytes(copying: $0)) }
      })
    var loaded = Home(rules: HomeRules())
    for record in records { _ = try? loaded.load(record.state) }
    let hashes = try HashChange(
      from: old.hashKey(), to: new.hashKey(), Array(secrets.values),
      signers: loaded.clients.values.compactMap { try? PublicIdentity(line: $0.line).signingKey })
    for record in records {
      changes.records.append(
        .init(
          id: RecordID(next), home: number, state: hashes.applied(to: record.state),
          secret: secrets[record.id].map { .new($0) } ?? .none))
      next += 1
    }
    changes.audit = [.init(actor: "fleet homes move", .added, "home \(target), before \(home)")]
    try new.commit(changes)
  }
}

/// All records of a shard, in the order of their ids.
private struct ShardRecords {
  private(set) var records: [StoredRecord] = []
  /// Of homes by their names, served or not.
  private(set) var numbers: [String: Int64] = [:]

  var highest: Int64 { records.last?.id.rawValue ?? 0 }

  /// All but its note.
  func records(of name: String) -> [StoredRecord] {
    guard let number = numbers[name] else { return [] }
    return records.filter { $0.home == number && $0.id.rawValue != number }
  }

  /// - Throws: where some do not open: they may be of the home that is to be moved.
  init(_ store: ShardStore) throws {
    let damaged = try store.load { record in
      records.append(record)
      if let note = HomeNote(record.state) { numbers[note.name] = record.home }
    }
    guard damaged.isEmpty else {
      throw CommandFailure(
        .badInput, "\(damaged.count) records of \(store.place) cannot be read, so nothing is moved",
        remedy: "restore a backup, or run `threadkeeper store forget-damaged --home SHARD/NAME`")
    }
  }
}

/// Hashes in records are made by a key of their shard. What is hashed is stored, so each is found by its old value; one
/// of something that is not stored stays, and equals nothing from then on.
struct HashChange {
  private var replacements: [[UInt8]: [UInt8]] = [:]

  /// - Parameter signers: public keys, by whose hashes envelopes are numbered.
  init(from old: SecretBytes, to new: SecretBytes, _ datasets: [SecretBytes], signers: [[UInt8]]) throws {
    var (before, after) = (try DatasetReader(key: old), try DatasetReader(key: new))
    var pairs = signers.map { (before.hash($0, as: .signer), after.hash($0, as: .signer)) }
    for dataset in datasets {
      var bytes = dataset.withUnsafeBytes { [UInt8]($0) }
      defer { wipe(&bytes) }
      guard let old = before.summary(of: bytes)?.parameters, let new = after.summary(of: bytes)?.parameters else {
        continue
      }
      pairs += [(old.whole, new.whole), (old.networkKey, new.networkKey)]
      if let old = old.pskc, let new = new.pskc { pairs.append((old, new)) }
    }
    for (old, new) in pairs { replacements[Self.bytes(old)] = Self.bytes(new) }
  }

  /// As records have a hash.
  private static func bytes(_ hash: Hash128) -> [UInt8] {
    [hash.high, hash.low].flatMap { word in withUnsafeBytes(of: word.littleEndian) { [UInt8]($0) } }
  }

  /// A hash is too long to stand in a record by chance.
  func applied(to record: [UInt8]) -> [UInt8] {
    var record = record
    for place in 0..<max(0, record.count - 15) {
      guard let new = replacements[Array(record[place..<place + 16])] else { continue }
      record.replaceSubrange(place..<place + 16, with: new)
    }
    return record
  }
}
#endif
