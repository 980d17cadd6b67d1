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

  /// As it is stored: it is written with all that happens, and looked into seldom.
  private(set) var record = Self.kind

  package init() {}

  /// - Returns: nil for what this version cannot have written.
  init?(_ record: [UInt8]) {
    guard Self.entries(of: record) != nil else { return nil }
    self.record = record
  }

  /// The newest first.
  package var newest: [Event] { entries.suffix(Self.kept).reversed().map(event) }

  /// Alerts that have ended, the newest first.
  package var ended: [Event] { entries.filter(isEnded).suffix(Self.keptEnded).reversed().map(event) }

  mutating func add(_ more: [Event]) {
    for event in more { event.write(to: &record) }
    let all = entries
    let (old, new) = (all.dropLast(Self.kept), all.suffix(Self.kept))
    guard let first = new.first else { return }
    let kept = old.filter(isEnded).suffix(max(0, Self.keptEnded - new.count(where: isEnded)))
    record = kept.reduce(into: Self.kind) { $0 += record[$1] } + record[first.lowerBound...]
  }

  private var entries: [Range<Int>] { Self.entries(of: record) ?? [] }

  /// The range of each event, the oldest first; nil for what this version cannot have written.
  private static func entries(of record: [UInt8]) -> [Range<Int>]? {
    guard record.starts(with: kind) else { return nil }
    var entries: [Range<Int>] = []
    var end = kind.count
    while end < record.count {
      let start = end
      end += 16
      // Of the router's id, the severity and the text.
      for width in [1, 1, 2] {
        guard end + width <= record.count else { return nil }
        end += width + (width == 1 ? Int(record[end]) : Int(record[end]) | Int(record[end + 1]) << 8)
      }
      guard end <= record.count else { return nil }
      entries.append(start..<end)
    }
    return entries
  }

  /// Only alerts that have ended say when they began.
  private func isEnded(_ entry: Range<Int>) -> Bool { record[entry].dropFirst(8).prefix(8).contains { $0 != 0 } }

  private func event(_ entry: Range<Int>) -> Event { Event(record[entry]) }
}

extension RecentEvents.Event {
  fileprivate func write(to record: inout [UInt8]) {
    func add(_ number: some FixedWidthInteger) {
      withUnsafeBytes(of: number.littleEndian) { record.append(contentsOf: $0) }
    }
    func add<Count: FixedWidthInteger>(_ bytes: some Collection<UInt8>, countedBy _: Count.Type) {
      let bytes = bytes.prefix(Int(Count.max))
      add(Count(bytes.count))
      record += bytes
    }
    add(at.milliseconds)
    add(since?.milliseconds ?? 0)
    add(router?.bytes ?? [], countedBy: UInt8.self)
    add(severity.utf8, countedBy: UInt8.self)
    add(text.utf8, countedBy: UInt16.self)
  }

  /// - Parameter entry: one of `entries`.
  fileprivate init(_ entry: ArraySlice<UInt8>) {
    var rest = entry
    func number(_ bytes: Int) -> UInt64 {
      defer { rest = rest.dropFirst(bytes) }
      return rest.prefix(bytes).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func field(_ bytes: Int) -> ArraySlice<UInt8> {
      let count = Int(number(bytes))
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    func time() -> WireTime { WireTime(milliseconds: Int64(bitPattern: number(8))) }
    func text(_ bytes: Int) -> String { String(decoding: field(bytes), as: UTF8.self) }
    let (at, since, router) = (time(), time(), BorderAgentID(bytes: field(1)))
    self.init(at: at, severity: text(1), text: text(2), since: since.milliseconds == 0 ? nil : since, router: router)
  }
}
