import SodiumCrypto

/// Records as they are read and written: by a store, or in one transaction of it.
///
/// A record has a state, which is read at the start, and may have a secret, which is read when it is to be sent to
/// somebody. What a record is stands in its state; which record a thing has is the caller's to know.
package protocol RecordAccess {
  /// Reads all states, in the order of their ids.
  ///
  /// - Returns: records that do not open. They stay where they are, with their ids, until they are written again or
  ///   deleted, and nothing else waits for them.
  /// - Throws: where the store as a whole cannot be read.
  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord]

  /// Writes all of it, and is on disk when it returns; or throws, and nothing has changed.
  ///
  /// What is deleted need not be there.
  ///
  /// - Throws: `param` where a record is given to another home.
  func commit(_ changes: RecordChanges) throws

  /// Lends the secret of a record for the time of a call.
  ///
  /// - Returns: nil where it has none.
  /// - Throws: where it does not open.
  func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R?
}

/// Where homes are kept: as sealed records, with the messages that wait for the broker, in one file or database.
package protocol RecordStore: RecordAccess, Sendable {
  /// Opens everything there is, as it is on disk.
  ///
  /// - Returns: records of which the state or the secret does not open.
  /// - Throws: where the store as a whole cannot be read.
  func unreadable() throws -> [DamagedRecord]

  /// Messages for the broker, oldest first.
  func messages(after id: Int64, limit: Int) throws -> [StoredMessage]
}

/// A number that rows are counted by, of records, messages and the audit, as it was read. Whoever can write to the
/// storage can put any 64 bits there, so this is where they are checked: a number that is one can be counted on from.
package struct RowNumber: Hashable, Sendable {
  package static let all: ClosedRange<Int64> = 1...(1 << 62)

  package let rawValue: Int64

  /// - Returns: nil for what nobody has given to a row.
  package init?(stored number: Int64) {
    guard Self.all.contains(number) else { return nil }
    rawValue = number
  }

  /// For the next row.
  package var next: Int64 { rawValue + 1 }
}

/// The number of a record: from 1; the caller gives a new record the next one. That of a damaged record may be any.
package struct RecordID: Hashable, Comparable, Sendable {
  package let rawValue: Int64

  package init(_ rawValue: Int64) { self.rawValue = rawValue }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

package struct StoredRecord: Sendable {
  package let id: RecordID
  /// The number of its home; 0: of no home.
  package let home: Int64
  package let state: [UInt8]
  package let hasSecret: Bool

  package init(id: RecordID, home: Int64, state: [UInt8], hasSecret: Bool) {
    self.id = id
    self.home = home
    self.state = state
    self.hasSecret = hasSecret
  }
}

package struct DamagedRecord: Hashable, Sendable {
  package let id: RecordID
  /// As its row says.
  package let home: Int64
  /// Whether there is a secret, which may open or not.
  package let hasSecret: Bool

  package init(id: RecordID, home: Int64, hasSecret: Bool) {
    self.id = id
    self.home = home
    self.hasSecret = hasSecret
  }
}

/// A message that waits for the broker. Nothing in it is secret: it is published.
package struct StoredMessage: Hashable, Sendable {
  /// Ascending, from 1.
  package let id: Int64
  package let bytes: [UInt8]

  package init(id: Int64, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }
}

/// What one commit writes.
package struct RecordChanges: Sendable {
  package enum Secret: Sendable {
    /// It stays as it is; a new record has none.
    case keep
    case none
    case new(SecretBytes)
    /// That of another record, as it is before this commit: none where it has none, or where it does not open.
    case copy(of: RecordID)
  }

  package struct Record: Sendable {
    package let id: RecordID
    package let home: Int64
    /// Nil: the record is deleted.
    package var state: [UInt8]?
    package var secret: Secret

    package init(id: RecordID, home: Int64, state: [UInt8]?, secret: Secret = .keep) {
      self.id = id
      self.home = home
      self.state = state
      self.secret = secret
    }
  }

  /// A line of the audit. Never a secret.
  package struct AuditLine: Hashable, Sendable {
    /// Nil: the daemon.
    package let actor: String?
    package let action: AuditAction
    let what: AuditSubject

    package var subject: String { what.text }

    package init(actor: String?, _ action: AuditAction, _ what: AuditSubject) {
      self.actor = actor
      self.action = action
      self.what = what
    }

    package init(actor: String?, _ action: AuditAction, _ text: String) { self.init(actor: actor, action, .text(text)) }
  }

  /// Each record once.
  package var records: [Record] = []
  /// Messages to add, in their order, with the ids that the caller gives them.
  package var messages: [StoredMessage] = []
  /// The broker has acknowledged all messages up to this one: they are deleted.
  package var published: Int64 = 0
  package var audit: [AuditLine] = []

  package init() {}

  /// Whether records or secrets are deleted, or an "always" is taken back.
  var takesAway: Bool {
    records.contains { record in if case .none = record.secret { true } else { record.state == nil } }
      || audit.contains { $0.action == .consentRevoked }
  }

  package var isEmpty: Bool { records.isEmpty && messages.isEmpty && published == 0 && audit.isEmpty }
}
