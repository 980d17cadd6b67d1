#if Fleet
import KeychainCore
import Settings
import Threadkeeper

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The database of a fleet, for commands: rows come as JSON, so that they need no reader of their own.
struct FleetDatabase {
  let pool: PostgresPool
  private let limit: Duration?

  /// Connects to nothing yet.
  ///
  /// - Parameter limit: for a statement; nil: `PostgresConnection.limit`.
  /// - Throws: `CommandFailure` with status 78 where the settings name no database.
  init(_ settings: Settings, within limit: Duration? = nil) throws(CommandFailure) {
    guard let url = settings.store.url else {
      throw CommandFailure(
        .configuration, "`store.url` is not set, so there is no fleet",
        remedy: "set it to a PostgreSQL database: see docs/guides/fleet.md")
    }
    pool = PostgresPool(url: url.revealed, size: 1)
    self.limit = limit
  }

  /// The fleet, whose tables this program can work with.
  ///
  /// - Throws: `CommandFailure` with status 78 where there is none, or this program cannot work with it.
  func fleet() throws(CommandFailure) -> FleetStatus.Fleet {
    struct Row: Decodable { let name: String, version: Int, oldest: Int }
    let fleets: [Row] = try rows("SELECT name, version, oldest FROM threadkeeper.fleet")
    guard let fleet = fleets.first else {
      throw CommandFailure(.configuration, "this database has no fleet", remedy: "run `threadkeeper fleet init`")
    }
    guard fleet.oldest <= FleetSchema.version, FleetSchema.version <= fleet.version else {
      let needed = FleetSchema.version < fleet.oldest ? "a newer" : "an older"
      throw CommandFailure(
        .configuration,
        "the database is of version \(fleet.version), and this program works with version \(FleetSchema.version)",
        remedy: "use \(needed) program")
    }
    return .init(name: fleet.name, version: fleet.version)
  }

  /// Runs one statement, which returns rows.
  ///
  /// - Parameters:
  ///   - parts: further parts of its `WITH`, each with its comma: what changes something stands there.
  ///   - values: of `$1`, `$2` …, as text.
  /// - Throws: `CommandFailure`.
  func rows<Row: Decodable>(
    with parts: String = "", _ statement: String, _ values: [String] = [], as type: Row.Type = Row.self
  ) throws(CommandFailure) -> [Row] {
    let sql = "WITH \(parts) t AS (\(statement)) SELECT coalesce(json_agg(t), '[]')::text FROM t"
    let text = try connected { connection in try connection.query(sql, values.map { .text($0) }).first?[0]?.text ?? "[]"
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do { return try decoder.decode([Row].self, from: Data(text.utf8)) } catch {
      throw CommandFailure(.software, "the database has something in \(Row.self) that cannot be read")
    }
  }

  /// Runs one statement that returns nothing.
  func run(_ statement: String, _ values: [String] = []) throws(CommandFailure) {
    _ = try connected { _ = try $0.query(statement, values.map { .text($0) }) }
  }

  func connected<R>(_ body: (PostgresConnection) throws -> R) throws(CommandFailure) -> R {
    do { return try pool.withConnection(until: limit.map { .now + $0 }, body) } catch {
      throw CommandFailure(ofFleet: error)
    }
  }
}

extension CommandFailure {
  /// What a database has refused, or the store above it.
  init(ofFleet error: any Error) {
    self =
      switch error {
      case let failure as CommandFailure: failure
      case let error as PostgresError where error.kind == .connection:
        .init(
          .unavailable, "PostgreSQL cannot be reached: \(error.message)",
          remedy: "see that it runs, and correct `store.url`; `threadkeeper fleet doctor` checks more")
      // No schema, no table, no function, no column.
      case let error as PostgresError where ["3F000", "42P01", "42883", "42703"].contains(error.sqlState):
        .init(.configuration, "this database has no fleet, or an older one", remedy: "run `threadkeeper fleet init`")
      case let error as PostgresError where error.sqlState == "42501":
        .init(
          .notPermitted, "the database does not let this role do it: \(error.message)",
          remedy: "have its administrator run what `threadkeeper fleet init --print-sql` prints")
      case let error as PostgresError: .init(.temporary, "the database refuses it: \(error.message)")
      case let error as KeychainError: .init(error)
      default: .init(.software, "\(error)")
      }
  }
}
#endif
