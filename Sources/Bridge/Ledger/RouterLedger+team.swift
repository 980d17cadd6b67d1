// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadDataset

/// The border agent ids of a team, and those whose routers have left.
///
/// These rows are only an index: the sealed items decide whose an id is.
extension RouterLedger {
  /// Ids that count for a team, whether their routers are there or not; counts no further than `limit`.
  static func count(
    of team: String, home: Int64, upTo limit: Int, _ tx: ReadTransaction
  ) throws -> Int {
    try tx.first(countSQL, .integer(home), .text(team), .integer(Int64(limit))) {
      Int($0.integer(0))
    } ?? 0
  }

  /// A number that the table has no more rows than. Found at once, while counting takes as long as there are rows.
  static func mostRows(_ tx: ReadTransaction) throws -> Int64 {
    // Row ids are positive, and each is one more than the greatest.
    try tx.first("SELECT max(id) FROM router") { $0.integerIfPresent(0) ?? 0 } ?? 0
  }

  static let countSQL: StaticString = """
    SELECT count(*) FROM
      (SELECT 1 FROM router INDEXED BY router_team WHERE home = ? AND team = ? LIMIT ?)
    """

  /// Routers of a team that left and for which no credentials are stored, the one that left first at the
  /// beginning.
  static func left(
    of team: String, home: Int64, limit: Int, _ tx: ReadTransaction
  ) throws -> [RouterRecord] {
    try tx.all(
      leftOfTeamSQL, .integer(home), .text(team), .integer(Int64(limit)),
      row: RouterRecord.init(row:))
  }

  static let leftOfTeamSQL: StaticString = """
    SELECT * FROM router INDEXED BY router_left_team
     WHERE home = ? AND team = ? AND present = 0 AND credential = 'missing'
     ORDER BY last_seen LIMIT ?
    """

  /// The same of all homes and teams, of those that left at or before `deadline`.
  static func left(
    before deadline: WireTime, limit: Int, _ tx: ReadTransaction
  ) throws -> [RouterRecord] {
    try tx.all(
      leftSQL, .integer(deadline.milliseconds), .integer(Int64(limit)),
      row: RouterRecord.init(row:))
  }

  static let leftSQL: StaticString = """
    SELECT * FROM router INDEXED BY router_left
     WHERE present = 0 AND credential = 'missing' AND last_seen <= ? ORDER BY last_seen LIMIT ?
    """

  /// Takes note that credentials of an id were stored or deleted whose router is not there.
  ///
  /// - Parameter stored: the row of the id.
  static func saveAbsent(
    _ agent: BorderAgentID, _ stored: RouterRecord?, home: Int64, user: String, team: String,
    credential: CredentialState, now: WireTime, _ tx: WriteTransaction
  ) throws {
    guard var router = stored else {
      return try insert(
        RouterRecord(
          absent: agent, home: home, user: user, team: team, credential: credential, since: now), tx
      )
    }
    if !BrokerUser.isSame(router.user, user) {
      router.user = user
      router.order = SequenceWindow()
    }
    router.team = team
    router.credential = credential
    router.lastSeen = now
    try update(router, tx)
  }

  /// The row id of the item up to which owners have been listed; nil when all are.
  static func ownersCursor(_ tx: ReadTransaction) throws -> Int64? {
    try tx.first("SELECT owners_after FROM outbox") { $0.integerIfPresent(0) } ?? nil
  }

  static func setOwnersCursor(_ cursor: Int64?, _ tx: WriteTransaction) throws {
    try tx.execute(
      "UPDATE outbox SET owners_after = ?", cursor.map(SQLiteValue.integer) ?? .null)
  }
}
