// SPDX-License-Identifier: Apache-2.0

/// What one party did in one transaction. As it is sealed:
///
///     format 1 | link 32 | time 8 | actor | lines 2 | line…
///     line: action 1 | subject          actor, subject: length 2 | UTF-8
///
/// Numbers are big-endian. The link is a keyed hash of the sealed record before it, zeros in the
/// first one; the number of a record is bound by its seal.
package struct AuditRecord: Equatable, Sendable {
  package struct Line: Equatable, Sendable {
    package let action: AuditAction
    /// What it was done to: the class of an item and what names it. Never a secret.
    package let subject: String
  }

  static let format: UInt8 = 1
  /// Of a record; what is more goes into another one.
  static let mostLines = 1_000
  private static let longestText = 300

  /// From 1, without gaps.
  package let number: Int64
  /// Microseconds since 1970.
  package let time: Int64
  package let actor: String
  package let lines: [Line]

  init(number: Int64, time: Int64, actor: String, lines: [Line]) {
    self.number = number
    self.time = time
    self.actor = actor
    self.lines = lines
  }

  func encoded(link: [UInt8]) -> [UInt8] {
    var bytes = [Self.format] + link
    Self.append(UInt64(bitPattern: time), 8, to: &bytes)
    Self.append(actor, to: &bytes)
    Self.append(UInt64(lines.count), 2, to: &bytes)
    for line in lines {
      bytes.append(line.action.rawValue)
      Self.append(line.subject, to: &bytes)
    }
    return bytes
  }

  /// Nil when it is not in this form.
  static func decode(_ bytes: [UInt8], number: Int64) -> (record: AuditRecord, link: [UInt8])? {
    var rest = bytes[...]
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    func integer(_ count: Int) -> UInt64? {
      take(count)?.reduce(0) { $0 << 8 | UInt64($1) }
    }
    func text() -> String? {
      integer(2).flatMap { take(Int($0)) }.map { String(decoding: $0, as: UTF8.self) }
    }
    guard integer(1) == UInt64(format), let link = take(AuditKey.linkLength), let time = integer(8),
      let actor = text(), let count = integer(2)
    else { return nil }
    var lines: [Line] = []
    for _ in 0..<count {
      guard let number = integer(1), let action = AuditAction(rawValue: UInt8(number)),
        let subject = text()
      else { return nil }
      lines.append(Line(action: action, subject: subject))
    }
    guard rest.isEmpty else { return nil }
    let record = AuditRecord(
      number: number, time: Int64(bitPattern: time), actor: actor, lines: lines)
    return (record, Array(link))
  }

  private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for place in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(place * 8)))
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let text = text.utf8.prefix(longestText)
    append(UInt64(text.count), 2, to: &bytes)
    bytes.append(contentsOf: text)
  }
}
