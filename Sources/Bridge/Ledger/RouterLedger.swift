// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// The registry of border routers.
enum RouterLedger {
  static func find(_ agent: BorderAgentID, home: Int64, _ tx: ReadTransaction) throws
    -> RouterRecord?
  {
    try tx.first(
      "SELECT * FROM router WHERE home = ? AND agent = ?", .integer(home), .blob(agent.bytes),
      row: RouterRecord.init(row:))
  }

  /// What people call a border router, for a sentence; its id where it has no name.
  static func shownName(
    of agent: BorderAgentID, home: Int64, _ tx: ReadTransaction
  ) throws -> String {
    try find(agent, home: home, tx)?.shownName ?? agent.description
  }

  /// Routers behind an access point for which one of the users spoke last; reads at most `limit` rows for each.
  static func find(
    accessPoint: String, home: Int64, users: [String], limit: Int, _ tx: ReadTransaction
  ) throws -> [RouterRecord] {
    try users.flatMap { user in
      try tx.all(
        """
        SELECT * FROM router INDEXED BY router_access_point_user
         WHERE home = ? AND access_point = ? AND user = ? AND present = 1 LIMIT ?
        """,
        .integer(home), .text(accessPoint), .text(user), .integer(Int64(limit)),
        row: RouterRecord.init(row:))
    }
  }

  /// Routers of one home in the order of their row ids; for lists, and for walks in small steps.
  static func page(home: Int64, after id: Int64, limit: Int, _ tx: ReadTransaction) throws
    -> [RouterRecord]
  {
    try tx.all(
      pageSQL, .integer(home), .integer(id), .integer(Int64(limit)), row: RouterRecord.init(row:))
  }

  /// SQLite would choose the index of the unique key, and sort the whole home for every page.
  static let pageSQL: StaticString = """
    SELECT * FROM router INDEXED BY router_present
     WHERE home = ? AND present = 1 AND id > ? ORDER BY id LIMIT ?
    """

  /// Routers of one home that are on the list.
  static func countPresent(home: Int64, _ tx: ReadTransaction) throws -> Int {
    try tx.first(
      "SELECT count(*) FROM router INDEXED BY router_present WHERE home = ? AND present = 1",
      .integer(home)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Routers, over all homes, that have been silent since before `deadline`; looks at `limit` rows.
  static func silent(
    after id: Int64, limit: Int, before deadline: WireTime, _ tx: ReadTransaction
  ) throws -> (silent: [RouterRecord], last: Int64?) {
    let last = try tx.first(
      "SELECT max(id) FROM (SELECT id FROM router WHERE id > ? ORDER BY id LIMIT ?)",
      .integer(id), .integer(Int64(limit))
    ) { $0.integerIfPresent(0) }
    guard let last, let last else { return ([], nil) }
    let silent = try tx.all(
      """
      SELECT * FROM router
       WHERE id > ? AND id <= ? AND present = 1 AND online = 1 AND beats = 1 AND last_seen < ?
      """,
      .integer(id), .integer(last), .integer(deadline.milliseconds), row: RouterRecord.init(row:))
    return (silent, last)
  }

  /// Routers that were seen after `now`, or reported then, were seen and reported at `now`.
  static func seeNotLater(than now: WireTime, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      UPDATE router SET last_seen = min(last_seen, ?1), thread_state_since = min(thread_state_since, ?1),
        thread_state_reported = min(thread_state_reported, ?1)
       WHERE last_seen > ?1 OR thread_state_since > ?1 OR thread_state_reported > ?1
      """,
      .integer(now.milliseconds))
  }

  /// Routers, over all homes, of which an adoption is noted, in the order of their row ids.
  static func adopting(after id: Int64, limit: Int, _ tx: ReadTransaction) throws -> [RouterRecord]
  {
    try tx.all(
      """
      SELECT * FROM router WHERE adoption IS NOT NULL AND id > ? AND present = 1 ORDER BY id LIMIT ?
      """,
      .integer(id), .integer(Int64(limit)), row: RouterRecord.init(row:))
  }

  static func hasRouters(of user: String, home: Int64, _ tx: ReadTransaction) throws -> Bool {
    try tx.first(
      "SELECT 1 FROM router WHERE home = ? AND user = ? AND present = 1 LIMIT 1",
      .integer(home), .text(user)
    ) { _ in true } ?? false
  }

  /// The user of the broker that spoke last for each router of a home, also for those that left.
  static func users(home: Int64, _ tx: ReadTransaction) throws -> [BorderAgentID: String] {
    let rows = try tx.all(
      "SELECT agent, user FROM router WHERE home = ? AND user <> ''", .integer(home)
    ) {
      (BorderAgentID(bytes: $0.blob(0)), $0.text(1))
    }
    var users: [BorderAgentID: String] = [:]
    for case (let agent?, let user) in rows { users[agent] = user }
    return users
  }

  /// Where the routers are that were on a preferred network last.
  ///
  /// - Parameter agent: one that is left out.
  static func places(
    ofMembersOf preferred: ExtendedPANID, home: Int64, besides agent: BorderAgentID?,
    _ tx: ReadTransaction
  ) throws -> [HomeMove.Place] {
    try tx.all(
      """
      SELECT network, online, count(*) FROM router
       WHERE home = ? AND member_of = ? AND agent IS NOT ? GROUP BY network, online
      """,
      .integer(home), .blob(preferred.bytes), .init(agent?.bytes)
    ) { row in
      HomeMove.Place(
        network: row.blobIfPresent(0).flatMap(ExtendedPANID.init(bytes:)),
        isOnline: row.integer(1) != 0, routers: Int(row.integer(2)))
    }
  }

  /// Whether a router is on the preferred network now, and can be reached.
  static func hasOnlineMember(
    of preferred: ExtendedPANID, home: Int64, besides agent: BorderAgentID?, _ tx: ReadTransaction
  ) throws -> Bool {
    try tx.first(
      """
      SELECT 1 FROM router
       WHERE home = ? AND member_of = ? AND network = ? AND online = 1 AND agent IS NOT ? LIMIT 1
      """,
      .integer(home), .blob(preferred.bytes), .blob(preferred.bytes), .init(agent?.bytes)
    ) { _ in true } ?? false
  }

  /// Whether a listed router reports to be on a network, whatever it is configured for.
  static func isReported(
    _ network: ExtendedPANID, home: Int64, _ tx: ReadTransaction
  ) throws -> Bool {
    try tx.first(
      "SELECT 1 FROM router WHERE home = ? AND present = 1 AND current_network = ? LIMIT 1",
      .integer(home), .blob(network.bytes)
    ) { _ in true } ?? false
  }

  /// How a network is called by a router that is on it.
  static func name(
    of network: ExtendedPANID, home: Int64, _ tx: ReadTransaction
  ) throws -> String? {
    try tx.first(
      """
      SELECT network_name FROM router
       WHERE home = ? AND network = ? AND present = 1 AND network_name <> '' LIMIT 1
      """,
      .integer(home), .blob(network.bytes)
    ) { $0.textIfPresent(0) } ?? nil
  }

  static func insert(_ router: RouterRecord, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO router (home, agent, user, name, vendor, model, ext_address, access_point, ssid,
        previous_ssid, present, online, beats, credential, network, network_name, channel, pan_id,
        active_seconds, preferred, first_seen, last_seen, dataset_changed, seq_high, seq_window,
        recent_ids, alerts, generation, adoption, current_network, thread_state, thread_state_since,
        offline_reason, member_of, team, source, advertised, partition, thread_version, known,
        record_gone, thread_state_reported)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
        ?, ?, ?, ?, ?, ?, ?)
      """,
      .integer(router.home), .blob(router.agent.bytes), .text(router.user), .init(router.name),
      .init(router.vendor), .init(router.model), .init(router.extendedAddress),
      .init(router.accessPoint), .init(router.ssid), .init(router.previousSSID),
      .init(router.isPresent), .init(router.isOnline), .init(router.beats),
      .text(router.credential.rawValue), .init(router.network?.bytes), .init(router.networkName),
      .init(router.channel), .init(router.panID), .init(bits: router.activeSeconds),
      .text(router.preferred), .integer(router.firstSeen.milliseconds),
      .integer(router.lastSeen.milliseconds), .init(router.datasetChangedAt),
      .init(bits: router.order.high), .init(bits: router.order.seen),
      .init(router.order.identifierText), .integer(router.alerts), .integer(router.generation),
      .init(router.adoption?.rawValue), .init(router.currentNetwork?.bytes),
      .init(router.threadState?.rawValue), .init(router.threadStateSince),
      .init(router.offlineReason?.rawValue), .init(router.memberOf?.bytes), .init(router.team),
      .text(router.source.rawValue), .init(router.isAdvertised),
      .init(router.partition.map(Int.init)), .init(router.threadVersion), .init(router.isKnown),
      .init(router.isRecordGone), .init(router.threadStateReported))
  }

  static func update(_ router: RouterRecord, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      UPDATE router SET user = ?, name = ?, vendor = ?, model = ?, ext_address = ?,
        access_point = ?, ssid = ?, previous_ssid = ?, present = ?, online = ?, beats = ?,
        credential = ?, network = ?, network_name = ?, channel = ?, pan_id = ?,
        active_seconds = ?, preferred = ?, last_seen = ?, dataset_changed = ?, seq_high = ?,
        seq_window = ?, recent_ids = ?, alerts = ?, generation = ?, adoption = ?,
        current_network = ?, thread_state = ?, thread_state_since = ?, offline_reason = ?,
        member_of = ?, team = ?, source = ?, advertised = ?, partition = ?, thread_version = ?,
        known = ?, record_gone = ?, thread_state_reported = ?
       WHERE id = ?
      """,
      .text(router.user), .init(router.name), .init(router.vendor), .init(router.model),
      .init(router.extendedAddress), .init(router.accessPoint), .init(router.ssid),
      .init(router.previousSSID), .init(router.isPresent), .init(router.isOnline),
      .init(router.beats), .text(router.credential.rawValue), .init(router.network?.bytes),
      .init(router.networkName), .init(router.channel), .init(router.panID),
      .init(bits: router.activeSeconds), .text(router.preferred),
      .integer(router.lastSeen.milliseconds), .init(router.datasetChangedAt),
      .init(bits: router.order.high), .init(bits: router.order.seen),
      .init(router.order.identifierText), .integer(router.alerts), .integer(router.generation),
      .init(router.adoption?.rawValue), .init(router.currentNetwork?.bytes),
      .init(router.threadState?.rawValue), .init(router.threadStateSince),
      .init(router.offlineReason?.rawValue), .init(router.memberOf?.bytes), .init(router.team),
      .text(router.source.rawValue), .init(router.isAdvertised),
      .init(router.partition.map(Int.init)), .init(router.threadVersion), .init(router.isKnown),
      .init(router.isRecordGone), .init(router.threadStateReported), .integer(router.id))
  }

  /// The short way for a sign of life that changes nothing else.
  static func touch(_ router: RouterRecord, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      UPDATE router SET last_seen = ?, beats = ?, seq_high = ?, seq_window = ?, recent_ids = ?,
        thread_state_reported = ?
       WHERE id = ?
      """,
      .integer(router.lastSeen.milliseconds), .init(router.beats), .init(bits: router.order.high),
      .init(bits: router.order.seen), .init(router.order.identifierText),
      .init(router.threadStateReported), .integer(router.id))
  }

  static func delete(_ router: RouterRecord, _ tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM router WHERE id = ?", .integer(router.id))
  }
}
