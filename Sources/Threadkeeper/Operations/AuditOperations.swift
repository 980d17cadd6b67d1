import Broker
import Home
import KeychainCore
import LocalAPI
import Wire

/// The last records of the audit, the oldest first, and then each as it is written. The first reply comes at once, and
/// may have none. Another call goes on behind what has come.
struct FollowAudit: StreamOperation, ReadOperation, OneTimeOperation {
  /// From one look for new records to the next.
  private static let interval = Duration.milliseconds(300)

  /// Begin after the record of this number, 0 or more.
  var after: Int64?
  /// Without `after`: begin with so many of the last records. Nil is 0.
  var last: Int64?
  /// End with the newest record instead of waiting for more.
  var untilNow: Bool?

  struct Reply: Codable {
    var records: [AuditEntry]
    /// The number of the last record that is complete with this reply, or that came before.
    var last: Int64
  }

  func perform(_ context: OperationContext, _ replies: VarlinkReplies<Reply>) throws -> Reply {
    let store = context.store
    var shown = try context.read { try begin(store) }
    var isFirst = true
    while true {
      let page = try context.read { try AuditPage(store, after: shown) }
      for reply in page.replies where isFirst || !reply.records.isEmpty {
        try replies.send(reply)
        isFirst = false
      }
      shown = page.last
      if untilNow == true, !page.isFull { return Reply(records: [], last: shown) }
      if !page.isFull { try replies.wait(for: Self.interval) }
    }
  }

  /// The number of the record after which it begins.
  private func begin(_ store: any DaemonStore) throws -> Int64 {
    guard after ?? 0 >= 0, last ?? 0 >= 0 else { throw CommandFailure(.usage, "`after` and `last` are 0 or more") }
    if let after { return after }
    let newest = try store.lastAuditRecord()
    return newest - min(newest, last ?? 0)
  }
}

/// Goes through all records of the audit.
struct VerifyAudit: ReadOperation {
  struct Reply: Codable {
    var records: Int64
    /// Which one is missing, altered or not in its place; nil when all is well.
    var problem: String?
  }

  func perform(_ context: OperationContext) throws -> Reply {
    Reply(records: try context.store.lastAuditRecord(), problem: try context.store.auditProblem())
  }
}

/// Records that are read at a time.
private struct AuditPage {
  /// Changes in one reply. Each has a subject and a record an actor, of 300 bytes each at most: in JSON a byte takes six
  /// at most, and a message has at most 512 KiB.
  private static let changesInReply = 200
  private static let most = 500

  /// Its entries, portioned for replies; there is always one, which may be empty.
  let replies: [FollowAudit.Reply]
  /// Whether there may be more by now.
  let isFull: Bool

  var last: Int64 { replies.last?.last ?? 0 }

  /// - Throws: `decode` when a record is missing, altered or not in its place.
  init(_ store: any DaemonStore, after number: Int64) throws {
    var replies = [FollowAudit.Reply(records: [], last: number)]
    var (records, weight) = (0, 0)
    try store.forEachAuditRecord(after: number, limit: Self.most) { record in
      for part in AuditEntry(record).parts(of: Self.changesInReply - 1) {
        // The actor counts as one of them.
        weight += part.changes.count + 1
        if weight > Self.changesInReply {
          replies.append(.init(records: [], last: replies[replies.count - 1].last))
          weight = part.changes.count + 1
        }
        replies[replies.count - 1].records.append(part)
      }
      replies[replies.count - 1].last = record.number
      records += 1
    }
    self.replies = replies
    isFull = records == Self.most
  }
}

/// A record of the audit as it is shown, or a part of one on its way to a client.
struct AuditEntry: Codable, Equatable {
  struct Change: Codable, Equatable {
    let action: String
    let subject: String
  }

  let number: Int64
  let time: String
  let actor: String
  private(set) var changes: [Change]
  /// Whether the next entry has more changes of this record.
  private(set) var continues: Bool?

  init(_ record: AuditRecord) {
    number = record.number
    time = WireTime(milliseconds: record.time / 1_000).description
    actor = record.actor
    changes = record.lines.map { Change(action: $0.action.words, subject: $0.subject) }
  }

  /// The same record in entries of at most `count` changes each.
  func parts(of count: Int) -> [AuditEntry] {
    guard changes.count > count else { return [self] }
    return stride(from: 0, to: changes.count, by: count).map { start in
      var part = self
      part.changes = Array(changes[start...].prefix(count))
      part.continues = start + count < changes.count ? true : nil
      return part
    }
  }

  /// Adds the next part of the same record.
  mutating func append(_ part: AuditEntry) {
    changes += part.changes
    continues = part.continues
  }

  /// One line for each change.
  var text: String { changes.map { "\(time)  \(actor.printable)  \($0.action) \($0.subject.printable)\n" }.joined() }
}

extension AuditAction {
  /// Stable: scripts read them.
  var words: String {
    switch self {
    case .added: "added"
    case .changed: "changed"
    case .secretChanged: "secret_changed"
    case .deleted: "deleted"
    case .slotAdded: "key_slot_added"
    case .slotRemoved: "key_slot_removed"
    case .rollbackAccepted: "rollback_accepted"
    case .restored: "restored"
    case .rotated: "keys_rotated"
    case .consentApproved: "consent_approved"
    case .consentDenied: "consent_denied"
    case .consentExpired: "consent_expired"
    case .consentGranted: "consent_granted"
    case .consentRevoked: "consent_revoked"
    case .credentialsGiven: "credentials_given"
    case .credentialsNotGiven: "credentials_not_given"
    case .routerRemoved: "router_removed"
    }
  }
}
