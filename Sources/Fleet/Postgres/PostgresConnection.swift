#if Fleet
import CLibPQ
import Dispatch
import Glibc
import Synchronization

/// A connection, always in pipeline mode: statements are prepared when they are first used, and however many there are,
/// one round trip has them done. No wait has no end.
// Unchecked because a pool lends it to one thread at a time.
final class PostgresConnection: @unchecked Sendable {
  typealias Instant = ContinuousClock.Instant
  typealias Statement = (sql: String, values: [PostgresValue])

  /// For the answer to what is sent at once, where nobody says until when it is waited for.
  static let limit = Duration.seconds(10)
  /// To connect to one address.
  private static let connectSeconds = "3"

  private let handle: OpaquePointer
  /// Of prepared statements, by their text.
  private var names: [String: String] = [:]
  private var count = 0
  /// For all that is asked now.
  var deadline: Instant?
  private var deadlineNow = Instant.now
  private var isBroken = false

  /// - Parameter url: `postgresql://…`, or libpq's keywords and values.
  init(url: String) throws(PostgresError) {
    try Self.check(url)
    // What the URL says of these comes later, and counts.
    let settings = [
      ("connect_timeout", Self.connectSeconds), ("tcp_user_timeout", "5000"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "2"), ("fallback_application_name", "threadkeeper"),
      ("dbname", url), ("client_encoding", "UTF8"),
    ]
    let (keywords, values) = (settings.map { strdup($0.0) }, settings.map { strdup($0.1) })
    defer { for text in keywords + values { free(text) } }
    let connection = PQconnectdbParams(
      keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    guard let connection else { throw .unsent("out of memory") }
    handle = connection
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw .unsent(Self.line(PQerrorMessage(handle)))
    }
    // The server's waits end, too: for a lock, for a client that has gone, for one that was stopped in a transaction.
    do {
      try query(
        """
        SELECT set_config('lock_timeout', '5s', false),
          set_config('idle_in_transaction_session_timeout', '10s', false),
          set_config('client_connection_check_interval', '2s', false)
        """)
    } catch { throw .unsent(error.message) }
  }

  deinit {
    // Else what was not sent yet would be sent now.
    if isBroken { shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
    PQfinish(handle)
  }

  /// Whether another may have it: nothing is open, and the server has not closed it.
  var isUsable: Bool {
    guard !isBroken, PQtransactionStatus(handle) == PQTRANS_IDLE else { return false }
    // What comes without a question is the server's last word, or as good as that.
    var look = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return poll(&look, 1, 0) == 0
  }

  /// Runs one statement.
  @discardableResult func query(_ sql: String, _ values: [PostgresValue] = []) throws(PostgresError) -> PostgresRows {
    try pipeline([(sql, values)])[0]
  }

  /// Runs statements in one round trip, and in one transaction, unless they say otherwise: all are done or none.
  ///
  /// - Returns: rows for each.
  /// - Throws: of the first that fails. After `connection` they may have been done all the same.
  func pipeline(_ statements: [Statement]) throws(PostgresError) -> [PostgresRows] {
    deadlineNow = deadline ?? .now + Self.limit
    // Which answers there will be; the SQL of those that say that a statement is prepared.
    var answers: [String?] = []
    var new: [String: String] = [:]
    for (sql, values) in statements {
      if names[sql] == nil, new[sql] == nil {
        count += 1
        new[sql] = "t\(count)"
        try check(PQsendPrepare(handle, new[sql], sql, Int32(values.count), values.map(\.type.rawValue)))
        answers.append(sql)
      }
      try check(send(names[sql] ?? new[sql] ?? "", values))
      answers.append(nil)
    }
    try check(PQpipelineSync(handle))
    try flush()
    var (rows, failure): ([PostgresRows], PostgresError?) = ([], nil)
    for prepared in answers {
      while let result = try next() {
        switch PQresultStatus(result.result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
          if let prepared { names[prepared] = new[prepared] } else { rows.append(result) }
        case PGRES_PIPELINE_ABORTED: break
        default: failure = failure ?? error(of: result)
        }
      }
    }
    // The end of the pipeline: what its commit refuses is refused here.
    var isOver = false
    for _ in 0..<4 where !isOver {
      guard let result = try next() else { continue }
      isOver = PQresultStatus(result.result) == PGRES_PIPELINE_SYNC
      if !isOver { failure = failure ?? error(of: result) }
    }
    if let failure { throw failure }
    guard isOver else { throw lost("the connection was lost") }
    guard rows.count == statements.count else { throw lost("the connection was lost") }
    return rows
  }

  /// Runs `body` in a transaction.
  func transaction<R>(_ begin: String = "BEGIN", _ body: (PostgresConnection) throws -> R) throws -> R {
    try query(begin)
    do {
      let result = try body(self)
      try query("COMMIT")
      return result
    } catch {
      _ = try? query("ROLLBACK")
      throw error
    }
  }

  private func send(_ name: String, _ values: [PostgresValue]) -> Int32 {
    var memory: [UInt8] = []
    memory.reserveCapacity(values.reduce(0) { $0 + ($1.bytes?.count ?? 0) + 1 })
    // A zero after each, because no bytes have a place, too: none is NULL.
    let places = values.map { value in
      value.bytes.map { bytes in
        defer {
          memory += bytes
          memory.append(0)
        }
        return memory.count
      }
    }
    return memory.withUnsafeBytes { memory in
      PQsendQueryPrepared(
        handle, name, Int32(values.count),
        places.map { $0.flatMap { memory.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) } },
        values.map { Int32($0.bytes?.count ?? 0) }, values.map { _ in 1 }, 1)
    }
  }

  private func check(_ result: Int32) throws(PostgresError) {
    if result != 1 { throw lost(Self.line(PQerrorMessage(handle))) }
  }

  private func flush() throws(PostgresError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        // It may wait for us to read before it reads.
        if try wait(for: POLLIN | POLLOUT) & POLLIN != 0 { try check(PQconsumeInput(handle)) }
      default: throw lost(Self.line(PQerrorMessage(handle)))
      }
    }
  }

  /// Nil: all of a statement's results have been taken.
  private func next() throws(PostgresError) -> PostgresRows? {
    while PQisBusy(handle) == 1 {
      _ = try wait(for: POLLIN)
      try check(PQconsumeInput(handle))
    }
    return PQgetResult(handle).map { PostgresRows($0) }
  }

  private func wait(for events: Int32) throws(PostgresError) -> Int32 {
    while true {
      let left = deadlineNow - .now
      guard left > .zero else { throw lost("the server does not answer in time") }
      var look = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      let (seconds, fraction) = left.components
      let found = poll(&look, 1, Int32(clamping: seconds * 1_000 + fraction / 1_000_000_000_000_000 + 1))
      if found > 0 { return Int32(look.revents) }
      if found < 0, errno != EINTR { throw lost("poll: \(String(cString: strerror(errno)))") }
    }
  }

  private func error(of result: PostgresRows) -> PostgresError {
    func field(_ code: Character) -> String {
      PQresultErrorField(result.result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
    }
    let state = field("C")
    let message = field("M")
    let error = PostgresError(sqlState: state, message: message.isEmpty ? Self.line(PQerrorMessage(handle)) : message)
    // Neither do statements outlive what they were prepared for.
    if error.kind == .connection || PQstatus(handle) == CONNECTION_BAD || state == "0A000" || state == "26000" {
      return lost(error.message, state, kind: PQstatus(handle) == CONNECTION_BAD ? .connection : error.kind)
    }
    return error
  }

  private func lost(_ message: String, _ state: String = "", kind: PostgresError.Kind = .connection) -> PostgresError {
    isBroken = true
    return PostgresError(kind, message, sqlState: state)
  }

  private static func line(_ text: UnsafePointer<CChar>?) -> String {
    (text.map { String(cString: $0) } ?? "").split(whereSeparator: \.isNewline).joined(separator: "; ")
  }

  /// libpq quotes what it cannot read, and that may be part of a password.
  private static func check(_ url: String) throws(PostgresError) {
    var parts: [String: String] = [:]
    let options = PQconninfoParse(url, nil)
    defer { PQconninfoFree(options) }
    var option = options
    while let keyword = option?.pointee.keyword {
      parts[String(cString: keyword)] = option?.pointee.val.map { String(cString: $0) }
      option = option.map { $0 + 1 }
    }
    let isWhole =
      options != nil && parts["port", default: ""].allSatisfy { $0.isNumber || $0 == "," }
      && ["host", "hostaddr", "dbname", "user"].allSatisfy { !parts[$0, default: ""].contains("@") }
    guard isWhole else {
      throw .unsent(
        "the address of the database cannot be read: in `postgresql://…`, write @ and / of a password as %40 and %2F")
    }
  }
}

/// Connections that threads borrow by turns. They are made when they are needed, and kept.
final class PostgresPool: Sendable {
  private let url: String
  private let places: DispatchSemaphore
  private let idle = Mutex<[PostgresConnection]>([])

  /// Connects to nothing yet.
  ///
  /// - Parameters:
  ///   - url: `postgresql://…`, or libpq's keywords and values. It is in no error.
  ///   - size: the most connections at a time.
  init(url: String, size: Int = 8) {
    self.url = url
    places = DispatchSemaphore(value: max(size, 1))
  }

  /// Lends a connection for the time of a call. One that was lost in it, or is still in a transaction, is closed.
  ///
  /// - Parameter deadline: for all that is waited for; nil: `PostgresConnection.limit` for each wait.
  func withConnection<R>(until deadline: ContinuousClock.Instant? = nil, _ body: (PostgresConnection) throws -> R)
    throws -> R
  {
    let left = (deadline ?? .now + PostgresConnection.limit) - .now
    guard places.wait(timeout: .now() + .nanoseconds(Int(left / .nanoseconds(1)))) == .success else {
      throw PostgresError.unsent("all connections to PostgreSQL are in use")
    }
    defer { places.signal() }
    let connection = try take()
    connection.deadline = deadline
    defer { if connection.isUsable { idle.withLock { $0.append(connection) } } }
    return try body(connection)
  }

  private func take() throws(PostgresError) -> PostgresConnection {
    while let connection = idle.withLock({ $0.popLast() }) { if connection.isUsable { return connection } }
    return try PostgresConnection(url: url)
  }
}

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
