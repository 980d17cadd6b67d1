// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase

/// The bridge's own tables, beside the keychain's in the same file. Nothing in them is secret, and no
/// decision about access reads them.
package enum BridgeSchema {
  package static let component = "bridge"

  package static let migrations = [
    Migration("homes, routers, networks, alerts, events") { tx in
      // `preferred` mirrors the sealed preferred network for display. `reevaluate_after` is the row
      // id up to which routers have been checked again after the preferred network changed.
      try tx.execute(
        """
        CREATE TABLE home (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          base_topic TEXT NOT NULL,
          preferred BLOB,
          preferred_name TEXT,
          routers INTEGER NOT NULL DEFAULT 0,
          reevaluate_after INTEGER)
        """)
      try tx.execute(
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
          UNIQUE (home, agent))
        """)
      try tx.execute(
        """
        CREATE INDEX router_access_point ON router (home, access_point)
          WHERE access_point IS NOT NULL
        """)
      try tx.execute(
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
        """)
      try tx.execute(
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
        """)
      try tx.execute("CREATE INDEX alert_phase ON alert (phase, updated_at)")
      // A row for each thing that a message or tick changed; gone once the broker has it.
      try tx.execute(
        """
        CREATE TABLE event (
          id INTEGER PRIMARY KEY,
          at INTEGER NOT NULL,
          types INTEGER NOT NULL,
          home INTEGER NOT NULL,
          router BLOB, network BLOB, alert BLOB, user TEXT, detail TEXT)
        """)
      // `published` is the id up to which the broker has acknowledged everything.
      try tx.execute(
        """
        CREATE TABLE outbox (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          published INTEGER NOT NULL,
          intake_connected INTEGER NOT NULL,
          republish INTEGER NOT NULL DEFAULT 0,
          dropped INTEGER,
          probes INTEGER NOT NULL DEFAULT 0)
        """)
      try tx.execute("INSERT INTO outbox (id, published, intake_connected) VALUES (1, 0, 0)")
    },
    Migration("the order of sealed events") { tx in
      try tx.execute(
        """
        CREATE TABLE sealed_order (
          home INTEGER NOT NULL REFERENCES home (id),
          user TEXT NOT NULL,
          issuer BLOB NOT NULL,
          subject TEXT NOT NULL,
          high INTEGER NOT NULL,
          seen INTEGER NOT NULL,
          PRIMARY KEY (home, user, issuer, subject)) WITHOUT ROWID
        """)
    },
    Migration("sealed requests that have come") { tx in
      // `ends`: Unix seconds from which on the envelope does not open any more, and the row may go.
      try tx.execute(
        """
        CREATE TABLE sealed_request (
          issuer BLOB NOT NULL,
          id BLOB NOT NULL,
          ends INTEGER NOT NULL,
          PRIMARY KEY (issuer, id)) WITHOUT ROWID
        """)
      try tx.execute("CREATE INDEX sealed_request_ends ON sealed_request (ends)")
      // The latest end of a signer's rows that are gone.
      try tx.execute(
        """
        CREATE TABLE sealed_forgotten (issuer BLOB PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID
        """)
    },
    Migration("adoption of the preferred network") { tx in
      // For display, and to know where there is something to do. What is decided is in sealed items.
      try tx.execute("ALTER TABLE router ADD COLUMN adoption TEXT")
      try tx.execute("CREATE INDEX router_adoption ON router (id) WHERE adoption IS NOT NULL")
    },
    Migration("where routers are and their Thread state") { tx in
      try tx.execute("ALTER TABLE router ADD COLUMN current_network BLOB")
      try tx.execute("ALTER TABLE router ADD COLUMN thread_state TEXT")
      try tx.execute("ALTER TABLE router ADD COLUMN thread_state_since INTEGER")
      try tx.execute("ALTER TABLE router ADD COLUMN offline_reason TEXT")
    },
    Migration("the session of the published client id") { tx in
      // Whether a session may still be at the broker under the client id that follows from the store's id,
      // with events waiting in it.
      try tx.execute("ALTER TABLE outbox ADD COLUMN former_session INTEGER NOT NULL DEFAULT 0")
      try tx.execute("UPDATE outbox SET former_session = intake_connected")
    },
    Migration("bounded look-ups by access point, and the message under way") { tx in
      try tx.execute(
        """
        CREATE INDEX router_access_point_user ON router (home, access_point, user)
          WHERE access_point IS NOT NULL AND present = 1
        """)
      try tx.execute("DROP INDEX router_access_point")
      try tx.execute("CREATE INDEX router_user ON router (home, user) WHERE present = 1")
      // The hash of the message that is tried alone, and how many processes have ended while they tried it.
      try tx.execute("ALTER TABLE outbox ADD COLUMN tried BLOB")
      try tx.execute("ALTER TABLE outbox ADD COLUMN tries INTEGER NOT NULL DEFAULT 0")
    },
    Migration("homes that move") { tx in
      // `member_of` is the preferred network that a router was on last; `moved_to` the network that all
      // of those are on instead.
      try tx.execute("ALTER TABLE router ADD COLUMN member_of BLOB")
      try tx.execute("ALTER TABLE home ADD COLUMN moved_to BLOB")
      try tx.execute(
        """
        CREATE INDEX router_member_of ON router (home, member_of, network, online)
          WHERE member_of IS NOT NULL
        """)
    },
    Migration("border agent ids of a team, and lists by home") { tx in
      // The team that a border agent id counts for; null until the walk below has come to it.
      try tx.execute("ALTER TABLE router ADD COLUMN team TEXT")
      // The row id of the item up to which owners have been listed as routers; null: all are.
      try tx.execute("ALTER TABLE outbox ADD COLUMN owners_after INTEGER")
      try tx.execute("UPDATE outbox SET owners_after = 0")
      try tx.execute("CREATE INDEX router_team ON router (home, team)")
      try tx.execute("CREATE INDEX router_present ON router (home) WHERE present = 1")
      try tx.execute(
        """
        CREATE INDEX router_left ON router (last_seen)
          WHERE present = 0 AND credential = 'missing'
        """)
      try tx.execute(
        """
        CREATE INDEX router_left_team ON router (home, team, last_seen)
          WHERE present = 0 AND credential = 'missing'
        """)
      try tx.execute("CREATE INDEX network_home ON network (home)")
      try tx.execute("CREATE INDEX alert_home ON alert (home, phase, updated_at)")
    },
    Migration("bounded numbers of sealed events") { tx in
      try tx.execute("CREATE INDEX sealed_order_high ON sealed_order (home, user, issuer, high)")
      // The highest number of a signer's rows that are gone.
      try tx.execute(
        """
        CREATE TABLE sealed_order_forgotten (
          home INTEGER NOT NULL REFERENCES home (id),
          user TEXT NOT NULL,
          issuer BLOB NOT NULL,
          high INTEGER NOT NULL,
          PRIMARY KEY (home, user, issuer)) WITHOUT ROWID
        """)
    },
    Migration("border routers on the local network") { tx in
      // `source`: who describes the router. `advertised`: its record is there now. `known`: it was there before, or a
      // person has accepted it.
      try tx.execute("ALTER TABLE router ADD COLUMN source TEXT NOT NULL DEFAULT 'mqtt'")
      try tx.execute("ALTER TABLE router ADD COLUMN advertised INTEGER NOT NULL DEFAULT 0")
      try tx.execute("ALTER TABLE router ADD COLUMN partition INTEGER")
      try tx.execute("ALTER TABLE router ADD COLUMN thread_version TEXT")
      try tx.execute("ALTER TABLE router ADD COLUMN known INTEGER NOT NULL DEFAULT 1")
      try tx.execute("CREATE INDEX router_advertised ON router (home) WHERE advertised = 1")
      try tx.execute(
        "CREATE INDEX router_mdns ON router (home, last_seen) WHERE source = 'mdns' AND present = 1"
      )
      try tx.execute(
        """
        CREATE INDEX router_ext_address ON router (home, ext_address)
          WHERE ext_address IS NOT NULL AND present = 1
        """)
      // When the first list of the local network was complete.
      try tx.execute("ALTER TABLE home ADD COLUMN discovered_since INTEGER")
      try tx.execute(
        """
        CREATE TABLE accepted_network (
          home INTEGER NOT NULL REFERENCES home (id),
          ext_pan_id BLOB NOT NULL,
          PRIMARY KEY (home, ext_pan_id)) WITHOUT ROWID
        """)
    },
    Migration("devices of Home Assistant") { tx in
      // `form`: a hash of what the broker has acknowledged on the topic. `due`: the event from which on the
      // topic is to be published or emptied; null: nothing is to be done.
      try tx.execute(
        """
        CREATE TABLE home_assistant (
          id INTEGER PRIMARY KEY,
          topic TEXT NOT NULL UNIQUE,
          home INTEGER NOT NULL,
          router BLOB,
          form BLOB,
          due INTEGER)
        """)
      try tx.execute(
        "CREATE INDEX home_assistant_due ON home_assistant (due) WHERE due IS NOT NULL")
      try tx.execute("CREATE INDEX home_assistant_router ON home_assistant (home, router)")
    },
    Migration("subscriptions of the intake session") { tx in
      // What the broker may still send, because it keeps the session: what is no longer wanted is ended.
      try tx.execute("CREATE TABLE intake_filter (filter TEXT PRIMARY KEY) WITHOUT ROWID")
    },
    Migration("records that are gone") { tx in
      // Of a router with a login, since it published last.
      try tx.execute("ALTER TABLE router ADD COLUMN record_gone INTEGER NOT NULL DEFAULT 0")
    },
  ]
}
