#if Fleet
import Threadkeeper

/// The tables of a fleet, in a schema of their own: `threadkeeper`.
enum FleetSchema {
  /// A program works with a newer database as long as that says so in `fleet.oldest`.
  static let version = 2

  /// Makes what is missing, and the shards 1 to `count`.
  ///
  /// - Throws: `PostgresError`; `CommandFailure` where this program is too old for the database.
  static func create(name: String, shards count: Int, on connection: PostgresConnection) throws {
    if try connection.query("SELECT to_regclass('threadkeeper.fleet')::text").first?[0] == nil {
      _ = try connection.pipeline(tables.split(separator: "\n\n").map { (String($0), []) })
    }
    let row = try connection.query("SELECT oldest FROM threadkeeper.fleet").first
    guard row?[0]?.int ?? 0 <= version else {
      throw CommandFailure(
        .configuration, "this program is too old for the database", remedy: "install the newer version of threadkeeper")
    }
    if row == nil {
      try connection.query(
        "INSERT INTO threadkeeper.fleet (name, version, oldest) VALUES ($1, $2, $2)", [.text(name), .int(version)])
    }
    _ = try connection.pipeline(
      ["shard (id)", "lease (shard)"].map { table in
        let rows = "SELECT generate_series(1, $1) ON CONFLICT DO NOTHING"
        return ("INSERT INTO threadkeeper.\(table) \(rows)", [.int(count)])
      })
  }

  /// All of it with the roles, for an administrator.
  static var script: String { tables + "\n\n" + roles }

  /// Statements with a blank line after each.
  ///
  /// What is written with each message is in parts, by shard. `advance` is the fence: inside of the transaction that it
  /// is for, so that a COMMIT that is sent already commits nothing. A row of `outbox` has the messages of one commit,
  /// and the number of the last.
  private static let tables = """
    CREATE SCHEMA threadkeeper;

    CREATE TABLE threadkeeper.fleet (
      one boolean PRIMARY KEY DEFAULT true CHECK (one), name text NOT NULL, version int NOT NULL,
      oldest int NOT NULL, created timestamptz NOT NULL DEFAULT now());

    CREATE TABLE threadkeeper.shard (
      id int PRIMARY KEY CHECK (id BETWEEN 1 AND 65535), epoch bigint NOT NULL DEFAULT 0,
      generation bigint NOT NULL DEFAULT 0, manifest bytea, published bigint NOT NULL DEFAULT 0,
      homes_version bigint NOT NULL DEFAULT 0) WITH (fillfactor = 20);

    CREATE TABLE threadkeeper.lease (
      shard int PRIMARY KEY REFERENCES threadkeeper.shard, node text, process uuid, address text,
      epoch bigint, until timestamptz NOT NULL DEFAULT '-infinity',
      held_back_until timestamptz NOT NULL DEFAULT '-infinity',
      homes int, routers int, alerts int, waiting int, commit_ms real, state text,
      crashes int NOT NULL DEFAULT 0)
      WITH (fillfactor = 20);

    CREATE TABLE threadkeeper.node (
      name text PRIMARY KEY, process uuid, address text, version text, capacity int,
      draining boolean NOT NULL DEFAULT false, seen timestamptz NOT NULL DEFAULT now());

    CREATE TABLE threadkeeper.home (
      shard int NOT NULL REFERENCES threadkeeper.shard, name text NOT NULL,
      settings jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (shard, name));

    CREATE TABLE threadkeeper.key_slot (
      shard int PRIMARY KEY REFERENCES threadkeeper.shard, kind text NOT NULL DEFAULT 'command',
      sealed bytea NOT NULL, created timestamptz NOT NULL DEFAULT now());

    CREATE TABLE threadkeeper.record (
      shard int NOT NULL, id bigint NOT NULL, home bigint NOT NULL, version bigint NOT NULL,
      secret_version bigint NOT NULL, state bytea NOT NULL, secret bytea, PRIMARY KEY (shard, id))
      PARTITION BY HASH (shard);

    CREATE TABLE threadkeeper.outbox (
      shard int NOT NULL, id bigint NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (shard, id))
      PARTITION BY HASH (shard);

    ALTER TABLE threadkeeper.outbox ALTER COLUMN sealed SET STORAGE EXTERNAL;

    CREATE TABLE threadkeeper.audit (
      shard int NOT NULL, id bigint NOT NULL, sealed bytea NOT NULL, PRIMARY KEY (shard, id))
      PARTITION BY HASH (shard);

    DO $$ BEGIN
      FOR part IN 0..7 LOOP
        EXECUTE format('CREATE TABLE threadkeeper.record_%1$s PARTITION OF threadkeeper.record
            FOR VALUES WITH (MODULUS 8, REMAINDER %1$s) WITH (fillfactor = 80);
          CREATE TABLE threadkeeper.outbox_%1$s PARTITION OF threadkeeper.outbox
            FOR VALUES WITH (MODULUS 8, REMAINDER %1$s);
          CREATE TABLE threadkeeper.audit_%1$s PARTITION OF threadkeeper.audit
            FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', part);
      END LOOP;
    END $$;

    CREATE FUNCTION threadkeeper.advance(
      of bigint, expected bigint, last bigint, sealed bytea, acknowledged bigint)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE threadkeeper.shard
      SET generation = generation + 1, manifest = sealed, published = acknowledged
      WHERE id = of AND epoch = expected AND generation = last;
      IF FOUND THEN RETURN; END IF;
      IF EXISTS (SELECT FROM threadkeeper.shard WHERE id = of AND epoch = expected) THEN
        RAISE EXCEPTION 'shard % has another generation', of USING ERRCODE = 'TK002';
      END IF;
      RAISE EXCEPTION 'shard % has another owner', of USING ERRCODE = 'TK001';
    END $$;

    CREATE FUNCTION threadkeeper.add_homes(homes jsonb)
    RETURNS TABLE (shard int, name text, is_new boolean) LANGUAGE sql AS $$
      WITH done AS (
        INSERT INTO threadkeeper.home AS old (shard, name, settings)
        SELECT (new->>'shard')::int, new->>'name', coalesce(new->'settings', '{}')
        FROM jsonb_array_elements(homes) new ORDER BY 1, 2
        ON CONFLICT ON CONSTRAINT home_pkey DO UPDATE
        SET settings = old.settings || excluded.settings
        WHERE old.settings || excluded.settings <> old.settings
        RETURNING old.shard, old.name, old.xmax = 0 AS is_new
      ), noted AS (
        UPDATE threadkeeper.shard SET homes_version = homes_version + 1
        WHERE id IN (SELECT done.shard FROM done)
      )
      SELECT * FROM done
    $$;

    CREATE VIEW threadkeeper.shard_status AS
      SELECT s.id AS shard, s.epoch, s.generation, l.node, l.address, l.until, l.held_back_until,
        l.until > now() AS is_held, l.homes, l.routers, l.alerts, l.waiting, l.commit_ms, l.state
      FROM threadkeeper.shard s LEFT JOIN threadkeeper.lease l ON l.shard = s.id;

    CREATE VIEW threadkeeper.home_list AS SELECT shard, name, settings FROM threadkeeper.home;

    CREATE VIEW threadkeeper.node_status AS
      SELECT name, address, version, capacity, draining, seen, (SELECT count(*)
        FROM threadkeeper.lease l WHERE l.node = n.name AND l.until > now()) AS shards
      FROM threadkeeper.node n;
    """

  /// They belong to the whole server, so those of another fleet may be there. Who logs in is a member of one of them.
  private static let roles = """
    DO $$ BEGIN CREATE ROLE threadkeeper_node NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    DO $$ BEGIN CREATE ROLE threadkeeper_reader NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    GRANT USAGE ON SCHEMA threadkeeper TO threadkeeper_node, threadkeeper_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA threadkeeper TO threadkeeper_node;
    GRANT UPDATE ON threadkeeper.shard, threadkeeper.lease TO threadkeeper_node;
    GRANT INSERT, UPDATE, DELETE ON threadkeeper.record, threadkeeper.outbox, threadkeeper.home,
      threadkeeper.node TO threadkeeper_node;
    GRANT INSERT ON threadkeeper.audit TO threadkeeper_node;
    GRANT SELECT ON threadkeeper.shard_status, threadkeeper.home_list, threadkeeper.node_status
      TO threadkeeper_reader;
    """
}

#endif
