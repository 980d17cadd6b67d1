import Broker
import Home
import KeychainCore

/// The stored messages that wait for the broker, in the order in which they were caused: read as the broker takes them,
/// and counted as published when all of a row is acknowledged. That is written with the next commit, so a crash repeats
/// some and loses none.
struct Outbox {
  private static let rowsRead = 32
  /// Times that are kept for the figures; of more it is not known.
  private static let mostTimes = 10_000

  private let store: any RecordStore
  /// Rows that were read and not handed out.
  private var loaded: ArraySlice<StoredMessage> = []
  /// The last row that was read.
  private var read: Int64
  /// Rows that may be read: of later ones it is not known yet which states come before them.
  private var last: Int64
  /// Messages of a row that the broker has not acknowledged yet, in the order of the rows.
  private var outstanding: [(row: Int64, count: Int)] = []
  /// Everything up to this row is acknowledged.
  private(set) var published: Int64
  /// When what was caused lately has happened: the last row, and the time.
  private var happened: [(last: Int64, at: WireTime)] = []

  /// - Parameter stored: the ids of the rows in the store.
  init(_ store: any RecordStore, _ stored: Range<Int64>) {
    self.store = store
    last = stored.upperBound - 1
    published = stored.lowerBound - 1
    read = published
  }

  /// Rows that the broker has not acknowledged.
  var waiting: Int { Int(last - published) }

  /// Rows that were not handed out, including rows that no longer exist.
  var unread: Int { loaded.count + Int(last - read) }

  /// Whether `next` may have one.
  var hasMore: Bool { unread > 0 }

  /// Rows up to this one are on disk, and the states that come before them are noted.
  mutating func note(last: Int64, at now: WireTime) {
    guard last > self.last else { return }
    self.last = last
    if happened.count < Self.mostTimes { happened.append((last, now)) }
  }

  /// When that has happened of which the last row is acknowledged by now.
  mutating func takePublished() -> [WireTime] {
    let done = happened.prefix { $0.last <= published }
    happened.removeFirst(done.count)
    return done.map(\.at)
  }

  /// A connection was lost: what was not acknowledged is handed out again.
  mutating func restart() {
    loaded.removeAll()
    read = published
    outstanding.removeAll()
  }

  /// The next row, which stays the next.
  mutating func next() throws -> StoredMessage? {
    if loaded.isEmpty {
      guard read < last else { return nil }
      let rows = try store.messages(after: read, limit: Self.rowsRead).filter { $0.id <= last }
      // Rows that are gone are no reason to ask again.
      read = rows.last?.id ?? last
      loaded = rows[...]
    }
    return loaded.first
  }

  /// The next row is handed out.
  ///
  /// - Parameter messages: how many are made of it.
  mutating func send(_ row: StoredMessage, messages: Int) {
    loaded.removeFirst()
    // A slice keeps all that it began with.
    if loaded.isEmpty { loaded = [] }
    outstanding.append((row.id, messages))
    advance()
  }

  /// One message of a row that was handed out since the last `restart`.
  mutating func acknowledge(_ row: Int64) {
    guard let index = outstanding.firstIndex(where: { $0.row == row }) else { return }
    outstanding[index].count -= 1
    advance()
  }

  private mutating func advance() {
    let done = outstanding.prefix { $0.count == 0 }
    guard let last = done.last else { return }
    published = last.row
    outstanding.removeFirst(done.count)
  }
}

/// What is published of an input, as a row of the store. Each of its messages has QoS 1.
///
/// ```
/// message       1, then the topic: 2 bytes for its length, the lower one first, UTF-8; the rest is the payload
/// events        2, then as `StoredEvents` writes them
/// ```
enum OutboxRow: Equatable {
  /// That a message was rejected.
  case message(topic: String, payload: [UInt8])
  case events(StoredEvents)

  private enum Kind {
    static let message: UInt8 = 1
    static let events: UInt8 = 2
  }

  var bytes: [UInt8] {
    switch self {
    case .message(let topic, let payload):
      let count = topic.utf8.count
      return [Kind.message, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)] + topic.utf8
        + payload
    case .events(let events): return events.bytes(after: Kind.events)
    }
  }

  /// - Returns: nil for what `bytes` cannot be.
  init?(_ bytes: [UInt8]) {
    switch bytes.first {
    case Kind.message:
      guard bytes.count >= 3 else { return nil }
      let count = Int(bytes[1]) | Int(bytes[2]) << 8
      guard bytes.count >= 3 + count, let topic = String(validating: bytes[3..<3 + count], as: UTF8.self) else {
        return nil
      }
      self = .message(topic: topic, payload: Array(bytes[(3 + count)...]))
    case Kind.events:
      guard let events = try? StoredEvents(bytes) else { return nil }
      self = .events(events)
    default: return nil
    }
  }
}
