import FoundationEssentials

/// A question that waits for a person, as its own requester is told of it.
package struct WaitingQuestion: Codable, Hashable, Sendable {
  package var id: String
  /// What was asked for: `preferred/get`.
  package var command: String
  /// Of `network/get`, whose requester has named it.
  package var extendedPANID: String?
  /// RFC 3339.
  package var expiresAt: String
  /// Of the requests that wait for it, which tell them apart: several may have asked the same.
  package var transactions: [String]?
  /// Who would get what, and why it matters. Only who may decide is told: it names networks.
  package var reason: String?

  enum CodingKeys: String, CodingKey {
    case id, command, reason, transactions
    case extendedPANID = "ext_pan_id"
    case expiresAt = "expires_at"
  }

  package init(
    id: String, command: String, extendedPANID: String?, expiresAt: String, transactions: [String]?, reason: String?
  ) {
    self.id = id
    self.command = command
    self.extendedPANID = extendedPANID
    self.expiresAt = expiresAt
    self.transactions = transactions
    self.reason = reason
  }

  /// Whether a request waits for it. A transaction is told by its bytes.
  package func isAwaited(by transaction: String) -> Bool {
    transactions?.contains { $0.utf8.elementsEqual(transaction.utf8) } == true
  }
}

extension WaitingQuestion {
  /// For the terminal of who asked and may not decide: who does, and how. It holds what the daemon has
  /// sent, so it is to be made harmless before it is shown.
  package func words(now: Date = Date()) -> String {
    let seconds = (try? Date(expiresAt, strategy: .iso8601)).map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) }
    let limit = seconds.map { ", up to \($0) s" } ?? ""
    return "Waiting for consent\(limit): `threadkeeper consent approve \(id)`, "
      + "by the daemon's user on its machine."
  }
}

/// For how long an approval holds.
package enum ConsentScope: String, Sendable, Codable, CaseIterable { case once, always }
