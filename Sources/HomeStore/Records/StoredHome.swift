import Glibc
import Home
import KeychainCore
import ThreadDataset

/// One home of a store, for a program that has no daemon: it is read, handles something, and is written.
///
/// All of it belongs into one transaction (`SealedRecords.inTransaction`), because others may write as well. Unlike the
/// loop it notes nothing of a daemon, lets no time pass, and publishes nothing. What is not committed has never been.
package struct StoredHome {
  package private(set) var home: Home
  private let settings: ServedHome
  private let number: Int64
  /// The records as they are on disk.
  private let book: [RecordKey: RecordID]
  /// Of a home that is new.
  private let note: HomeNote?
  private let nextRecord: Int64
  private var secrets = SecretMoves()
  private var audit: [RecordChanges.AuditLine] = []

  /// - Throws: where the store cannot be read.
  package init(_ name: String, rules: HomeRules, in records: some RecordAccess) throws {
    settings = ServedHome(name: name, base: "", rules: rules)
    let loaded = try LoadedStore([settings], records)
    // It gives each home of the settings one.
    let found = loaded.served[0]
    (home, number, book) = (found.home, found.number, found.book)
    note = loaded.newNotes[RecordID(number)]
    nextRecord = loaded.nextRecord
  }

  /// - Parameters:
  ///   - dataset: that belongs to the input.
  ///   - actor: who is named in the audit.
  package mutating func handle(_ input: HomeInput, dataset: OperationalDataset? = nil, actor: String?, at now: WireTime)
    -> HomeOutput
  {
    let output = home.handle(input, at: now, rules: settings.rules)
    secrets.take(output.secrets, in: 0, dataset: dataset?.bytes) { book[$0] }
    audit += output.audit.map { $0.line(by: actor, in: settings.name, home) }
    return output
  }

  /// Lends a dataset as it was when the home was read.
  ///
  /// - Returns: nil where the record has none.
  package func withDataset<R>(
    of key: RecordKey, in records: some RecordAccess, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? { try book[key].flatMap { try records.withSecret(of: $0, body) } }

  /// Writes what has changed. Nothing can be done with the home afterwards: what is on disk is to be read again.
  package consuming func commit(to records: some RecordAccess) throws {
    var keys = home.takeChanges().records
    for key in secrets.keys(of: 0) { keys.insert(key) }
    var changes = RecordChanges()
    var next = nextRecord
    for key in keys {
      let state = home.record(key)
      // It came and went.
      guard state != nil || book[key] != nil else { continue }
      let id = book[key] ?? RecordID(next)
      if book[key] == nil { next += 1 }
      changes.records.append(
        .init(id: id, home: number, state: state, secret: state == nil ? .none : secrets.secret(of: key, in: 0, id)))
    }
    if let note, !changes.records.isEmpty {
      changes.records.append(.init(id: RecordID(number), home: number, state: note.record))
    }
    changes.audit = audit
    try records.commit(changes)
  }
}

extension HomeRules {
  /// Of this process; the ids are of the system's random numbers.
  package init() {
    self.init { .random(in: .min ... .max) }
    ownUser = geteuid()
  }
}

/// A home as the settings have it.
package struct ServedHome: Sendable {
  package let name: String
  /// The base topic.
  package let base: String
  package let rules: HomeRules

  package init(name: String, base: String, rules: HomeRules) {
    self.name = name
    self.base = base
    self.rules = rules
  }
}

/// How a home is called, in the record whose id is its number.
///
///     0 | form 1 | bytes of the name: 2 | name | base topic
package struct HomeNote: Hashable, Sendable {
  package let name: String
  /// Below which the broker may hold something of it.
  package var base: String

  private static let form: UInt8 = 1

  package init(name: String, base: String) {
    self.name = name
    self.base = base
  }

  package static func isOne(_ record: [UInt8]) -> Bool { record.first == 0 }

  package var record: [UInt8] {
    let count = UInt16(clamping: name.utf8.count)
    return [0, Self.form, UInt8(count >> 8), UInt8(count & 0xFF)] + Array(name.utf8) + Array(base.utf8)
  }

  /// - Returns: nil for what this version cannot have written.
  package init?(_ record: [UInt8]) {
    guard record.count >= 4, record[0] == 0, record[1] == Self.form else { return nil }
    let end = 4 + Int(record[2]) << 8 + Int(record[3])
    guard end <= record.count, let name = String(validating: record[4..<end], as: UTF8.self),
      let base = String(validating: record[end...], as: UTF8.self)
    else { return nil }
    self.init(name: name, base: base)
  }
}
