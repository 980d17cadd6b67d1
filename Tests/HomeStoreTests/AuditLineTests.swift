import KeychainCore
import Testing
import ThreadDataset

@testable import Home
@testable import HomeStore

/// What a home notes, as lines of the audit.
@Suite struct AuditLineTests {
  private static let now = WireTime(milliseconds: 1_790_000_000_000)
  private static let agent = BorderAgentID(high: 0xA1, low: 0)
  private static let network = ExtendedPANID(hex: "1111111122222222")

  private static var phone: Requester { Requester(.login("phone"), team: "phones") }

  private static func subject(_ command: ConsentSubject.Command = .preferred) -> ConsentSubject {
    ConsentSubject(
      command, network.map { [ConsentNetwork(id: $0, name: "net", team: nil, key: nil)] } ?? [],
      router: command == .adopt
        ? .init(agent: agent, name: "Hall", network: .init(ExtendedPANID(number: 9), "old")) : nil)
  }

  private static func record(_ outcome: ConsentRecord.Outcome, _ scope: ConsentScope? = nil) -> ConsentRecord {
    ConsentRecord(
      id: ConsentID(1), outcome: outcome, requester: phone, subject: subject(), createdAt: now, decidedAt: now,
      by: .commandLine(user: 0), scope: scope, grant: nil)
  }

  private static var grant: ConsentGrant {
    ConsentGrant(id: ConsentID(2), requester: phone, subject: subject(), createdAt: now, by: .statusPage)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let note: AuditNote
    let action: AuditAction
    let subject: String

    init(_ note: AuditNote, _ action: AuditAction, _ subject: String) {
      (self.note, self.action, self.subject) = (note, action, subject)
    }

    var testDescription: String { "\(action) \(subject)" }
  }

  private static let what = #"preferred/get "net" (1111111122222222), home home"#
  private static let who = "to login phone (team phones)"
  private static let adoption = #"dataset/set "net" (1111111122222222), home home, for 00000000000000a1 "Hall""#
  private static let question = "c-0000000000000001"
  private static let granted = "g-0000000000000002"
  private static let client = "genp client-enrolment/home phone (threadkeeper.internal)"
  private static let stored = "genp thread-network/home 00000000000000a1 (threadkeeper.internal)"

  private static let rows: [Row] = [
    Row(.credentialsStored(agent, .store), .added, stored),
    Row(.credentialsStored(agent, .update([])), .secretChanged, stored),
    Row(.credentialsDeleted(agent), .deleted, stored),
    Row(
      .preferredChanged(from: nil, to: network), .added,
      "genp thread-preferred/home 1111111122222222 (threadkeeper.internal)"),
    Row(
      .preferredChanged(from: network, to: network), .secretChanged,
      "genp thread-preferred/home 1111111122222222 (threadkeeper.internal)"),
    Row(
      .preferredChanged(from: network, to: nil), .deleted,
      "genp thread-preferred/home 1111111122222222 (threadkeeper.internal)"),
    Row(.preferredConfirmed, .changed, "genp thread-preferred-confirmed/home (threadkeeper.internal)"),
    Row(
      .joined(ExtendedPANID(number: 0x1111_1111_2222_2222), by: agent), .added,
      "genp thread-by-code/home 1111111122222222 (threadkeeper.internal) by 00000000000000a1"),
    Row(
      .routerRemoved(agent, team: "hub", .leftLongAgo), .routerRemoved,
      "00000000000000a1 home home from hub: left 30 days ago"),
    Row(.consent(record(.approved, .once)), .consentApproved, "\(question) \(what) \(who) (once)"),
    Row(.consent(record(.denied)), .consentDenied, "\(question) \(what) \(who)"),
    Row(.consent(record(.expired)), .consentExpired, "\(question) \(what) \(who)"),
    // Under the id that it was granted with.
    Row(.granted(grant), .consentGranted, "\(granted) \(what) \(who)"),
    Row(
      .consent(
        ConsentRecord(
          id: grant.id, outcome: .revoked, requester: phone, subject: subject(), createdAt: now, decidedAt: now,
          by: .statusPage, scope: .always, grant: grant.id)), .consentRevoked, "\(granted) \(what) \(who) (always)"),
    Row(.given(subject(), to: phone, by: ConsentID(1)), .credentialsGiven, "\(what) \(who) by \(question)"),
    Row(.given(subject(.adopt), to: phone, by: ConsentID(2)), .credentialsGiven, "\(adoption) \(who) by \(granted)"),
    Row(
      .notGiven(subject(), to: phone, by: ConsentID(1), .hungUp), .credentialsNotGiven,
      "\(what) \(who) by \(question): who asked has hung up"),
    Row(
      .notGiven(subject(), to: phone, by: ConsentID(2), .damaged), .credentialsNotGiven,
      "\(what) \(who) by \(granted): what is stored is damaged"), Row(.enrolled("phone"), .added, client),
    Row(.enrolledAgain("phone", hasNewKeys: true), .secretChanged, client),
    Row(.enrolledAgain("phone", hasNewKeys: false), .changed, client),
    Row(.revoked("phone", isKept: true), .changed, client), Row(.revoked("phone", isKept: false), .deleted, client),
  ]

  @Test("Each note is a line of the audit", arguments: rows) func line(_ row: Row) {
    var home = Home(rules: HomeRules { 0 })
    home.grants = [Self.grant]
    let line = row.note.line(by: "uid 7", in: "home", home)
    #expect((line.actor, line.action, line.subject) == ("uid 7", row.action, row.subject))
  }
}
