// SPDX-License-Identifier: Apache-2.0

/// What a transaction will say of itself, in the order of what was done.
struct AuditDraft {
  /// For whom the changes from here on are made; nil: the keychain's own auditor.
  var actor: String?
  private(set) var lines: [(actor: String?, line: AuditRecord.Line)] = []

  var isEmpty: Bool { lines.isEmpty }

  mutating func add(_ action: AuditAction, _ subject: String) {
    lines.append((actor, AuditRecord.Line(action: action, subject: subject)))
  }

  /// Where a savepoint comes back to. The lines are not copied: a batch has a savepoint a message.
  struct Mark {
    let actor: String?
    let count: Int
  }

  var mark: Mark { Mark(actor: actor, count: lines.count) }

  mutating func rewind(to mark: Mark) {
    actor = mark.actor
    lines.removeLast(lines.count - mark.count)
  }

  /// By who did it, in the order of who came first.
  func byActor(_ own: String) -> [(actor: String, lines: [AuditRecord.Line])] {
    var order: [String] = []
    var found: [String: [AuditRecord.Line]] = [:]
    for (actor, line) in lines {
      let actor = actor ?? own
      if found[actor] == nil { order.append(actor) }
      found[actor, default: []].append(line)
    }
    return order.map { ($0, found[$0] ?? []) }
  }
}
