import Broker
import Home
import ThreadDataset

/// What happened last, in sentences, and the last alerts that have ended: a record of no home, written with what
/// happened.
///
///     2 | form 2 | of each, the oldest first: milliseconds: 8 | began: 8 | bytes of the router's id | id |
///     of the severity | severity | of the text: 2 | text
package struct RecentEvents: Hashable, Sendable {
  package struct Event: Sendable, Hashable {
    package var at: WireTime
    /// The level of the log: `info`, `warning`, …
    package var severity: String
    /// A sentence without its full stop.
    package var text: String
    /// Of an alert that has ended: when it began.
    package var since: WireTime?
    /// The border router that an alert is about.
    package var router: BorderAgentID?

    package var sentence: String { (since == nil ? "" : "Resolved: ") + text }
  }

  package static let kept = 40
  /// Of alerts that have ended.
  package static let keptEnded = 20
  private static let kind: [UInt8] = [2, 2]

  private var events: [Event] = []

  package init() {}

  /// The newest first.
  package var newest: [Event] { events.suffix(Self.kept).reversed() }

  /// Alerts that have ended, the newest first.
  package var ended: [Event] { events.filter { $0.since != nil }.suffix(Self.keptEnded).reversed() }

  mutating func add(_ more: [Event]) {
    events += more
    let (old, ended) = (events.dropLast(Self.kept), events.suffix(Self.kept).count { $0.since != nil })
    events.replaceSubrange(old.indices, with: old.filter { $0.since != nil }.suffix(max(0, Self.keptEnded - ended)))
  }

  var record: [UInt8] {
    var record = Self.kind
    // Written with all that happens: room for all, and no arrays on the way.
    record.reserveCapacity(events.count * 128)
    func add(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { record.append(contentsOf: $0) }
    }
    func add<Count: FixedWidthInteger>(_ text: String, countedBy _: Count.Type) {
      var text = text
      text.withUTF8 { bytes in
        let bytes = bytes.prefix(Int(Count.max))
        add(Count(bytes.count))
        record.append(contentsOf: UnsafeBufferPointer(rebasing: bytes))
      }
    }
    for event in events {
      add(event.at.milliseconds)
      add(event.since?.milliseconds ?? 0)
      let router = event.router?.bytes ?? []
      add(UInt8(router.count))
      record += router
      add(event.severity, countedBy: UInt8.self)
      add(event.text, countedBy: UInt16.self)
    }
    return record
  }

  /// - Returns: nil for what this version cannot have written.
  init?(_ record: [UInt8]) {
    guard record.starts(with: Self.kind) else { return nil }
    var rest = record.dropFirst(Self.kind.count)
    func number(_ bytes: Int) -> UInt64? {
      guard rest.count >= bytes else { return nil }
      defer { rest = rest.dropFirst(bytes) }
      return rest.prefix(bytes).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func field(_ bytes: Int) -> ArraySlice<UInt8>? {
      guard let count = number(bytes).map(Int.init), rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    func text(_ bytes: Int) -> String? { field(bytes).map { String(decoding: $0, as: UTF8.self) } }
    while !rest.isEmpty {
      guard let at = number(8), let since = number(8), let router = field(1), let severity = text(1), let text = text(2)
      else { return nil }
      events.append(
        Event(
          at: WireTime(milliseconds: Int64(bitPattern: at)), severity: severity, text: text,
          since: since == 0 ? nil : WireTime(milliseconds: Int64(bitPattern: since)),
          router: BorderAgentID(bytes: router)))
    }
  }
}
