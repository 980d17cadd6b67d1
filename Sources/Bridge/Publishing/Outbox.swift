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
  /// Rows that were read and not handed out, the first one last.
  private var loaded: [StoredMessage] = []
  /// The last row that was read.
  private var read: Int64
  /// Rows that may be read: of later ones it is not known yet which states come before them.
  private var last: Int64
  /// Messages of a row that the broker has not acknowledged yet, in the order of the rows.
  private var outstanding: [(row: Int64, count: Int)] = []
  private var tokens: [UInt64: Int64] = [:]
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
    tokens.removeAll()
  }

  /// The next row, which stays the next.
  mutating func next() throws -> StoredMessage? {
    if loaded.isEmpty {
      guard read < last else { return nil }
      let rows = try store.messages(after: read, limit: Self.rowsRead).filter { $0.id <= last }
      // Rows that are gone are no reason to ask again.
      read = rows.last?.id ?? last
      loaded = rows.reversed()
    }
    return loaded.last
  }

  /// The next row is handed out.
  ///
  /// - Parameter tokens: of its messages.
  mutating func send(_ row: StoredMessage, as tokens: some Collection<UInt64>) {
    loaded.removeLast()
    outstanding.append((row.id, tokens.count))
    for token in tokens { self.tokens[token] = row.id }
    advance()
  }

  /// - Returns: whether it was one of these messages.
  mutating func acknowledge(_ token: UInt64) -> Bool {
    guard let row = tokens.removeValue(forKey: token) else { return false }
    if let index = outstanding.firstIndex(where: { $0.row == row }) {
      outstanding[index].count -= 1
      advance()
    }
    return true
  }

  private mutating func advance() {
    let done = outstanding.prefix { $0.count == 0 }
    guard let last = done.last else { return }
    published = last.row
    outstanding.removeFirst(done.count)
  }
}

/// Messages for the broker as one row of the store. Each has QoS 1.
///
/// ```
/// flags         1 byte: 1 retained, 2 expires, 4 the payload of the one before
/// topic         2 bytes for its length, the lower one first; UTF-8
/// expiry        4 bytes, seconds; where it expires
/// payload       4 bytes for its length; unless it is that of the one before
/// ```
struct OutboxRow {
  private enum Flag {
    static let retained: UInt8 = 1
    static let expires: UInt8 = 2
    static let repeated: UInt8 = 4
  }

  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(1_024) }

  mutating func append(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, expiry: UInt32? = nil) {
    let flags = (isRetained ? Flag.retained : 0) | (expiry == nil ? 0 : Flag.expires)
    begin(flags, topic)
    if let expiry { append(UInt64(expiry), bytes: 4) }
    append(UInt64(payload.count), bytes: 4)
    bytes += payload
  }

  /// The payload of the last one, not retained, on another topic.
  mutating func appendAgain(_ topic: String) { begin(Flag.repeated, topic) }

  private mutating func begin(_ flags: UInt8, _ topic: String) {
    bytes.append(flags)
    append(UInt64(topic.utf8.count), bytes: 2)
    bytes += topic.utf8
  }

  private mutating func append(_ number: UInt64, bytes count: Int) {
    for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
  }

  /// - Returns: nil for what `append` cannot have written.
  static func publications(_ bytes: [UInt8]) -> [Publication]? {
    var publications: [Publication] = []
    var rest = bytes[...]
    func number(_ count: Int) -> Int? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    while let flags = rest.popFirst() {
      guard flags < 8, let topic = number(2).flatMap(take) else { return nil }
      var expiry: UInt32?
      if flags & Flag.expires != 0 {
        guard let seconds = number(4) else { return nil }
        expiry = UInt32(seconds)
      }
      let payload: [UInt8]?
      if flags & Flag.repeated != 0 {
        payload = publications.last?.payload
      } else {
        payload = number(4).flatMap(take).map(Array.init)
      }
      guard let payload else { return nil }
      publications.append(
        Publication(
          topic: String(decoding: topic, as: UTF8.self), payload: payload, retain: flags & Flag.retained != 0,
          messageExpiry: expiry))
    }
    return publications
  }
}
