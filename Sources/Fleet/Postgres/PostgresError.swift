#if Fleet

/// What PostgreSQL, or the way to it, has refused.
struct PostgresError: Error {
  enum Kind {
    /// The server cannot be reached, or the connection was lost. What was sent may have been done.
    case connection
    /// Another process has the shard (SQLSTATE TK001).
    case claimed
    /// The shard has gone on, or back, without this process (SQLSTATE TK002).
    case moved
    /// Everything else that the server refuses.
    case refused
  }

  let kind: Kind
  /// In one line, with no value of a parameter, and no password.
  let message: String
  /// Five characters; empty where the server has said nothing.
  let sqlState: String
  /// There was no connection yet, so nothing was done.
  private(set) var isUnsent = false

  init(_ kind: Kind, _ message: String, sqlState: String = "") {
    (self.kind, self.message, self.sqlState) = (kind, message, sqlState)
  }

  static func unsent(_ message: String) -> Self {
    var error = Self(.connection, message)
    error.isUnsent = true
    return error
  }

  /// What the server has answered to a statement.
  init(sqlState: String, message: String) {
    let kind: Kind =
      switch sqlState {
      case "TK001": .claimed
      case "TK002": .moved
      // It shuts down, or starts, or is a standby now: another one is to be looked for.
      case "57P01", "57P02", "57P03", "25006": .connection
      case "": .connection
      default: sqlState.hasPrefix("08") ? .connection : .refused
      }
    // Messages of this class quote the value.
    let message = sqlState.hasPrefix("22") ? "a value is not what its column takes" : message
    self.init(kind, message, sqlState: sqlState)
  }
}

extension PostgresError: CustomStringConvertible {
  var description: String { sqlState.isEmpty ? message : "\(message) (\(sqlState))" }
}

#endif
