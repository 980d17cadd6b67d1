// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// The bridge's own tables, beside the keychain's in the same file. Nothing in them is secret, and no
/// decision about access reads them.
package enum BridgeSchema {
  /// Changes with every change of the tables.
  static let version: Int64 = 2

  /// Makes the tables where there are none, all in one transaction.
  ///
  /// - Throws: `SQLiteError` of kind `otherVersion` where another version of this program has made them.
  package static func create(in database: SQLiteDatabase) throws {
    if let found = try database.read({ try self.found(in: $0) }) { return try check(found) }
    try database.write { tx in
      // Asked again: another process may have been here in between.
      if let found = try self.found(in: tx) { return try check(found) }
      for statement in statements { try tx.execute(statement) }
      try tx.execute("INSERT INTO bridge (id, version) VALUES (1, ?)", .integer(version))
    }
  }

  private static func check(_ found: Int64) throws {
    guard found != version else { return }
    throw SQLiteError(
      kind: .otherVersion,
      message: "the tables of the bridge are of version \(found), this program has \(version):"
        + " use the program that made them")
  }

  /// Nil where there are no tables.
  private static func found(in tx: ReadTransaction) throws -> Int64? {
    let exists = try tx.first(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'bridge'"
    ) { _ in true }
    guard exists == true else { return nil }
    return try tx.first("SELECT version FROM bridge") { $0.integer(0) } ?? 0
  }

  private static let statements: [StaticString] =
    [
      "CREATE TABLE bridge (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)"
    ] + registry + events + envelopes + homeAssistant

  // MARK: Homes, routers, networks, alerts

  private static let registry: [StaticString] = [
    // `preferred` mirrors the sealed preferred network for display. `reevaluate_after` is the row
    // id up to which routers have been checked again after the preferred network changed.
    // `moved_to`: the network that all members of the preferred one are on instead. `discovered_since`: when the first
    // list of the local network was complete.
    """
    CREATE TABLE home (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      base_topic TEXT NOT NULL,
      preferred BLOB,
      preferred_name TEXT,
      routers INTEGER NOT NULL DEFAULT 0,
      reevaluate_after INTEGER,
      moved_to BLOB,
      discovered_since INTEGER)
    """,
    // `adoption`: for display, and to know where there is something to do; what is decided is in sealed items.
    // `member_of`: the preferred network that the router was on last. `team`: that the border agent id counts for.
    // `source`: who describes the router. `advertised`: its record is on the local network now. `known`: it was there
    // before, or a person has accepted it. `record_gone`: since its login published last. `thread_state_reported`: when
    // it reported that state last.
    """
    CREATE TABLE router (
      id INTEGER PRIMARY KEY,
      home INTEGER NOT NULL REFERENCES home (id),
      agent BLOB NOT NULL,
      user TEXT NOT NULL,
      name TEXT, vendor TEXT, model TEXT, ext_address BLOB, access_point TEXT,
      ssid TEXT, previous_ssid TEXT,
      present INTEGER NOT NULL,
      online INTEGER NOT NULL,
      beats INTEGER NOT NULL,
      credential TEXT NOT NULL,
      network BLOB, network_name TEXT, channel INTEGER, pan_id INTEGER,
      active_seconds INTEGER,
      preferred TEXT NOT NULL,
      first_seen INTEGER NOT NULL,
      last_seen INTEGER NOT NULL,
      dataset_changed INTEGER,
      seq_high INTEGER, seq_window INTEGER, recent_ids TEXT,
      alerts INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      adoption TEXT,
      current_network BLOB,
      thread_state TEXT,
      thread_state_since INTEGER,
      offline_reason TEXT,
      member_of BLOB,
      team TEXT,
      source TEXT NOT NULL DEFAULT 'mqtt',
      advertised INTEGER NOT NULL DEFAULT 0,
      partition INTEGER,
      thread_version TEXT,
      known INTEGER NOT NULL DEFAULT 1,
      record_gone INTEGER NOT NULL DEFAULT 0,
      thread_state_reported INTEGER,
      UNIQUE (home, agent))
    """,
    """
    CREATE INDEX router_access_point_user ON router (home, access_point, user)
      WHERE access_point IS NOT NULL AND present = 1
    """,
    "CREATE INDEX router_user ON router (home, user) WHERE present = 1",
    "CREATE INDEX router_adoption ON router (id) WHERE adoption IS NOT NULL",
    """
    CREATE INDEX router_member_of ON router (home, member_of, network, online)
      WHERE member_of IS NOT NULL
    """,
    "CREATE INDEX router_team ON router (home, team)",
    "CREATE INDEX router_present ON router (home) WHERE present = 1",
    """
    CREATE INDEX router_left ON router (last_seen)
      WHERE present = 0 AND credential = 'missing'
    """,
    """
    CREATE INDEX router_left_team ON router (home, team, last_seen)
      WHERE present = 0 AND credential = 'missing'
    """,
    "CREATE INDEX router_advertised ON router (home) WHERE advertised = 1",
    """
    CREATE INDEX router_leader ON router (home, coalesce(current_network, network))
      WHERE thread_state = 'leader' AND online = 1 AND present = 1
    """,
    "CREATE INDEX router_mdns ON router (home, last_seen) WHERE source = 'mdns' AND present = 1",
    """
    CREATE INDEX router_ext_address ON router (home, ext_address)
      WHERE ext_address IS NOT NULL AND present = 1
    """,
    """
    CREATE TABLE network (
      id INTEGER PRIMARY KEY,
      home INTEGER NOT NULL REFERENCES home (id),
      ext_pan_id BLOB NOT NULL,
      name TEXT NOT NULL, channel INTEGER, pan_id INTEGER, active_seconds INTEGER,
      routers INTEGER NOT NULL,
      online INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      UNIQUE (home, ext_pan_id))
    """,
    "CREATE INDEX network_home ON network (home)",
    """
    CREATE TABLE accepted_network (
      home INTEGER NOT NULL REFERENCES home (id),
      ext_pan_id BLOB NOT NULL,
      PRIMARY KEY (home, ext_pan_id)) WITHOUT ROWID
    """,
    """
    CREATE TABLE alert (
      id INTEGER PRIMARY KEY,
      fingerprint BLOB NOT NULL UNIQUE,
      home INTEGER NOT NULL REFERENCES home (id),
      name INTEGER NOT NULL,
      subject TEXT NOT NULL,
      phase INTEGER NOT NULL,
      facts TEXT NOT NULL,
      held_since INTEGER NOT NULL,
      starts_at INTEGER,
      updated_at INTEGER NOT NULL,
      ends_at INTEGER,
      seq INTEGER NOT NULL,
      held_facts TEXT)
    """,
    "CREATE INDEX alert_phase ON alert (phase, updated_at)",
    "CREATE INDEX alert_home ON alert (home, phase, updated_at)",
  ]

  // MARK: Events

  private static let events: [StaticString] = [
    // A row for each thing that a message or tick changed; gone once the broker has it.
    """
    CREATE TABLE event (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      types INTEGER NOT NULL,
      home INTEGER NOT NULL,
      router BLOB, network BLOB, alert BLOB, user TEXT, detail BLOB)
    """,
    // `published` is the id up to which the broker has acknowledged everything. `tried`: the hash of the message that is
    // tried alone; `tries`: how many processes have ended while they tried it. `owners_after`: the row id of the item up
    // to which owners have been listed as routers; null: all are.
    """
    CREATE TABLE outbox (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      published INTEGER NOT NULL,
      intake_connected INTEGER NOT NULL,
      republish INTEGER NOT NULL DEFAULT 0,
      dropped INTEGER,
      probes INTEGER NOT NULL DEFAULT 0,
      tried BLOB,
      tries INTEGER NOT NULL DEFAULT 0,
      owners_after INTEGER)
    """,
    "INSERT INTO outbox (id, published, intake_connected) VALUES (1, 0, 0)",
  ]

  // MARK: Sealed events and requests

  private static let envelopes: [StaticString] = [
    """
    CREATE TABLE sealed_order (
      home INTEGER NOT NULL REFERENCES home (id),
      user TEXT NOT NULL,
      issuer BLOB NOT NULL,
      subject TEXT NOT NULL,
      high INTEGER NOT NULL,
      seen INTEGER NOT NULL,
      PRIMARY KEY (home, user, issuer, subject)) WITHOUT ROWID
    """,
    "CREATE INDEX sealed_order_high ON sealed_order (home, user, issuer, high)",
    // The highest number of a signer's rows that are gone.
    """
    CREATE TABLE sealed_order_forgotten (
      home INTEGER NOT NULL REFERENCES home (id),
      user TEXT NOT NULL,
      issuer BLOB NOT NULL,
      high INTEGER NOT NULL,
      PRIMARY KEY (home, user, issuer)) WITHOUT ROWID
    """,
    // `ends`: Unix seconds from which on the envelope does not open any more, and the row may go.
    """
    CREATE TABLE sealed_request (
      issuer BLOB NOT NULL,
      id BLOB NOT NULL,
      ends INTEGER NOT NULL,
      PRIMARY KEY (issuer, id)) WITHOUT ROWID
    """,
    "CREATE INDEX sealed_request_ends ON sealed_request (ends)",
    // The latest end of a signer's rows that are gone.
    "CREATE TABLE sealed_forgotten (issuer BLOB PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID",
  ]

  // MARK: Devices of Home Assistant

  private static let homeAssistant: [StaticString] = [
    // `form`: a hash of what the broker has acknowledged on the topic. `due`: the event from which on the
    // topic is to be published or emptied; null: nothing is to be done.
    """
    CREATE TABLE home_assistant (
      id INTEGER PRIMARY KEY,
      topic TEXT NOT NULL UNIQUE,
      home INTEGER NOT NULL,
      router BLOB,
      form BLOB,
      due INTEGER)
    """,
    "CREATE INDEX home_assistant_due ON home_assistant (due) WHERE due IS NOT NULL",
    "CREATE INDEX home_assistant_router ON home_assistant (home, router)",
  ]
}
