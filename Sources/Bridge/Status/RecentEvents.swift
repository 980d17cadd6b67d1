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
    func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    return events.reduce(into: Self.kind) { record, event in
      let (severity, text) = (event.severity.utf8.prefix(255), event.text.utf8.prefix(65_535))
      let router = event.router?.bytes ?? []
      record += number(event.at.milliseconds) + number(event.since?.milliseconds ?? 0)
      record += number(UInt8(router.count)) + router
      record += number(UInt8(severity.count)) + severity
      record += number(UInt16(text.count)) + text
    }
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
