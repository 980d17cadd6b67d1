import FoundationEssentials
import Wire

/// A question that waits for a person, as its own requester is told of it.
package struct WaitingQuestion: WirePart, WireMessage, WireReadable, Hashable, Sendable {
  /// Of the type in the interfaces of the local API.
  package static var varlink: String { "Question" }

  package var id = ""
  /// What was asked for: `preferred/get`.
  package var command = ""
  /// Of `network/get`, whose requester has named it.
  package var extendedPANID: String?
  /// RFC 3339.
  package var expiresAt = ""
  /// Of the requests that wait for it, which tell them apart: several may have asked the same.
  package var transactions: [String]?
  /// Who would get what, and why it matters. Only who may decide is told: it names networks.
  package var reason: String?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("command", &command, "What was asked for.")
    c.needed("expires_at", &expiresAt, "When it is refused: RFC 3339 in UTC.")
    c.field("ext_pan_id", &extendedPANID, "Of `network/get`: the network that the requester has named.")
    c.needed("id", &id, "Of the consent.")
    c.field("reason", &reason, "For who may decide: who would get what.")
    c.field("transactions", &transactions, "Of the requests that wait for it.")
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
package enum ConsentScope: String, WireName, Codable, Sendable { case once, always }
