import SQLiteDatabase
import SodiumCrypto

/// What one party did in one transaction. As it is sealed:
///
///     format 1 | link 32 | time 8 | actor | lines 2 | line…
///     line: action 1 | 0 | text, or action 1 | 1 | service | home | id | group
///     actor, text, service, home, id, group: length 2 | UTF-8, of the id its bytes
///
/// Numbers are big-endian. The link is a keyed hash of the sealed record before it, zeros in the
/// first one; the number of a record is bound by its seal.
package struct AuditRecord: Equatable, Sendable {
  package struct Line: Equatable, Sendable {
    package let action: AuditAction
    let what: AuditSubject

    package var subject: String { what.text }
  }

  static let format: UInt8 = 2
  /// Of a record; what is more goes into another one.
  static let mostLines = 1_000
  fileprivate static let longestText = 300

  /// From 1, without gaps.
  package let number: Int64
  /// Microseconds since 1970.
  package let time: Int64
  package let actor: String
  package let lines: [Line]

  func encoded(link: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(128 + 64 * lines.count)
    bytes.append(Self.format)
    bytes += link
    bytes.write(time)
    bytes.write(part: actor)
    bytes.write(UInt16(lines.count))
    for line in lines {
      bytes.write(line.action.rawValue)
      switch line.what {
      case .text(let text):
        bytes.append(0)
        bytes.write(part: text)
      case .item(let service, let home, let id, let group):
        bytes.append(1)
        bytes.write(part: service)
        bytes.write(part: home)
        id.withUnsafeBytes { bytes.write(part: $0) }
        bytes.write(part: group)
      }
    }
    return bytes
  }

  /// Nil when it is not in this form.
  static func decode(_ bytes: UnsafeRawBufferPointer, number: Int64) -> (record: AuditRecord, link: [UInt8])? {
    var reader = RowReader(bytes)
    func part() throws -> UnsafeRawBufferPointer {
      let count: UInt16 = try reader.number()
      return try reader.take(count)
    }
    func text() throws -> String { String(decoding: try part(), as: UTF8.self) }
    func subject() throws -> AuditSubject? {
      switch try reader.number() as UInt8 {
      case 0: .text(try text())
      case 1: .item(service: try text(), home: try text(), id: Array(try part()), group: try text())
      default: nil
      }
    }
    guard let found: UInt8 = try? reader.number(), found == format, let link = try? reader.take(AuditKey.linkLength),
      let time: Int64 = try? reader.number(), let actor = try? text(), let count: UInt16 = try? reader.number()
    else { return nil }
    var lines: [Line] = []
    for _ in 0..<count {
      guard let number: UInt8 = try? reader.number(), let action = AuditAction(rawValue: number),
        let what = try? subject()
      else { return nil }
      lines.append(Line(action: action, what: what))
    }
    guard reader.rest.isEmpty else { return nil }
    return (AuditRecord(number: number, time: time, actor: actor, lines: lines), Array(link))
  }
}

extension [UInt8] {
  fileprivate mutating func write(part text: String) {
    var text = text
    text.withUTF8 { write(part: UnsafeRawBufferPointer($0)) }
  }

  /// The number of its first bytes, at most `longestText`, and these.
  fileprivate mutating func write(part: UnsafeRawBufferPointer) {
    let count = Swift.min(part.count, AuditRecord.longestText)
    write(UInt16(truncatingIfNeeded: count))
    append(contentsOf: UnsafeRawBufferPointer(rebasing: part[..<count]))
  }
}

/// What something was done to. Never a secret.
package enum AuditSubject: Hashable, Sendable {
  /// The class of an item and what names it, or another text.
  case text(String)
  /// An item of a home, by the id of a router or network: stored as these parts, which are made into text when they are
  /// read.
  case item(service: String, home: String, id: [UInt8], group: String)

  /// Of at most 300 bytes.
  package var text: String {
    switch self {
    case .text(let text): return text
    case .item(let service, let home, let id, let group):
      let digits = Array("0123456789abcdef")
      let hexadecimal = String(id.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
      let text = "genp \(service)/\(home) \(hexadecimal) (\(group))"
      return String(decoding: text.utf8.prefix(AuditRecord.longestText), as: UTF8.self)
    }
  }
}

/// What a transaction will say of itself, in the order of what was done.
package struct AuditDraft {
  /// For whom the changes from here on are made; nil: the keychain's own auditor.
  var actor: String?
  private(set) var lines: [RecordChanges.AuditLine] = []

  package init() {}

  package var isEmpty: Bool { lines.isEmpty }

  /// Adds lines of several actors.
  package mutating func add(_ new: [RecordChanges.AuditLine]) { lines += new }

  mutating func add(_ action: AuditAction, _ subject: String) { lines.append(.init(actor: actor, action, subject)) }

  /// Where a savepoint comes back to. The lines are not copied: a batch has a savepoint a message.
  var mark: (actor: String?, count: Int) { (actor, lines.count) }

  mutating func rewind(to mark: (actor: String?, count: Int)) {
    actor = mark.actor
    lines.removeLast(lines.count - mark.count)
  }

  /// By who did it, in the order of who came first.
  func byActor(_ own: String) -> [(actor: String, lines: [AuditRecord.Line])] {
    var parts: [(actor: String, lines: [AuditRecord.Line])] = []
    var places: [String: Int] = [:]
    // Most lines are of the actor of the line before.
    var last = 0
    for line in lines {
      let actor = line.actor ?? own
      if parts.isEmpty || parts[last].actor != actor {
        last = places[actor] ?? parts.count
        places[actor] = last
        if last == parts.count { parts.append((actor, [])) }
      }
      parts[last].lines.append(.init(action: line.action, what: line.what))
    }
    return parts
  }

  /// What is to be written after `last`: sealed, and each linked to the one before it.
  ///
  /// - Parameters:
  ///   - own: who did what nobody is named for.
  ///   - time: microseconds since 1970.
  package func rows(after last: AuditRow?, by own: String, at time: Int64, store: StoreID, key: AuditKey) throws
    -> [AuditRow]
  {
    var rows: [AuditRow] = []
    for (actor, lines) in byActor(own) {
      for start in stride(from: 0, to: lines.count, by: AuditRecord.mostLines) {
        let end = min(start + AuditRecord.mostLines, lines.count)
        let before = rows.last ?? last
        let number = (before?.number ?? 0) + 1
        let record = AuditRecord(number: number, time: time, actor: actor, lines: Array(lines[start..<end]))
        let sealed = try key.seal(record.encoded(link: key.link(to: before?.sealed)), number: number, store: store)
        rows.append(AuditRow(number: number, sealed: sealed))
      }
    }
    return rows
  }
}

/// A record as it lies in the table.
package struct AuditRow: Sendable {
  package let number: Int64
  package let sealed: [UInt8]

  package init(number: Int64, sealed: [UInt8]) { (self.number, self.sealed) = (number, sealed) }

  /// - Throws: `decode` for a number that no record can have.
  package init(stored number: Int64, sealed: [UInt8]) throws(KeychainError) {
    self.init(number: number, sealed: sealed)
    if RowNumber(stored: number) == nil { throw broken("has a number that none can have") }
  }

  package var manifestElement: ManifestElement { .audit(number: number, tag: sealed.tag) }

  static func last(in tx: ReadTransaction) throws -> AuditRow? {
    try tx.first("SELECT id, sealed FROM audit ORDER BY id DESC LIMIT 1") {
      try AuditRow(stored: $0.integer(0), sealed: $0.blob(1))
    }
  }

  static func find(_ number: Int64, in tx: ReadTransaction) throws -> AuditRow? {
    try tx.first("SELECT id, sealed FROM audit WHERE id = ?", .integer(number)) {
      try AuditRow(stored: $0.integer(0), sealed: $0.blob(1))
    }
  }
}

extension AuditRow {
  /// Opens it, and compares it with the one before.
  ///
  /// - Parameter key: gives the key that the row names.
  /// - Throws: `decode` where it was altered, or is not in its place.
  package func opened(after previous: AuditRow?, store: StoreID, by key: (KeyID) throws -> AuditKey) throws
    -> AuditRecord
  {
    let opened: (record: AuditRecord, link: [UInt8])?
    let link: [UInt8]
    do {
      let id = try sealed.withUnsafeBytes { try SealedPart.keyID(of: $0) }
      guard id.purpose == .audit else { throw SodiumError.notAuthentic }
      let key = try key(id)
      opened = try key.open(sealed, number: number, store: store) { AuditRecord.decode($0, number: number) }
      link = try key.link(to: previous?.sealed)
    } catch is SodiumError { throw broken("was altered, or belongs elsewhere") } catch let error as KeychainError
      where error.status == .decode
    { throw broken("was altered, or its key is missing") }
    guard let opened else { throw broken("is of another form") }
    guard opened.link == link else { throw broken("does not follow the one before it") }
    return opened.record
  }

  package static func missing(_ number: Int64) -> KeychainError {
    AuditRow(number: number, sealed: []).broken("is missing")
  }

  func broken(_ what: String) -> KeychainError { KeychainError(.decode, "record \(number) of the audit \(what)") }
}

/// What was done. The raw values are part of the format.
package enum AuditAction: UInt8, Sendable {
  case added = 1
  /// Attributes of an item.
  case changed = 2
  case secretChanged = 3
  case deleted = 4
  case slotAdded = 5
  case slotRemoved = 6
  case rollbackAccepted = 7
  case restored = 8
  /// New keys of every kind.
  case rotated = 9

  // What people decide about credentials.
  case consentApproved = 30
  case consentDenied = 31
  case consentExpired = 32
  /// For always.
  case consentGranted = 33
  case consentRevoked = 34
  /// Credentials were given to who may have them by consent.
  case credentialsGiven = 35
  /// They may have them, and had gone when it was agreed to.
  case credentialsNotGiven = 36

  // What the owner of the store decides about border agent ids.
  case routerRemoved = 52
}

/// The audit key, ready for its two uses: a subkey each (`crypto_kdf`, context "tk-audi1"): number 1
/// seals the records, number 2 keys the hashes that link them.
package struct AuditKey: Sendable {
  static let linkLength = 32

  private let seal: RootKeys.Root
  private let hash: GuardedKey

  package init(_ id: KeyID, _ key: GuardedKey, in arena: KeyArena) throws {
    seal = (id, try arena.subkey(1, context: "tk-audi1", of: key))
    hash = try arena.subkey(2, context: "tk-audi1", of: key)
  }

  func seal(_ plaintext: [UInt8], number: Int64, store: StoreID) throws -> [UInt8] {
    try plaintext.withUnsafeBytes { try SealedPart.seal($0, at: Self.binding(number, store), by: seal) }
  }

  func open<R>(_ sealed: [UInt8], number: Int64, store: StoreID, _ body: (UnsafeRawBufferPointer) throws -> R) throws
    -> R
  {
    try sealed.withUnsafeBytes { try SealedPart.open($0, at: Self.binding(number, store), by: { _ in seal.key }, body) }
  }

  /// What the next record says of a sealed one; zeros where there is none before.
  func link(to sealed: [UInt8]?) throws -> [UInt8] {
    guard let sealed else { return [UInt8](repeating: 0, count: Self.linkLength) }
    return try hash.withUnsafeBytes { try BLAKE2b.hash(sealed, key: $0, count: Self.linkLength) }
  }

  private static func binding(_ number: Int64, _ store: StoreID) -> SealedPart.Binding {
    SealedPart.Binding(role: .audit, store: store, version: number)
  }
}
