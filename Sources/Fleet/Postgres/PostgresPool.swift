#if Fleet
import Dispatch
import Synchronization

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

#endif
