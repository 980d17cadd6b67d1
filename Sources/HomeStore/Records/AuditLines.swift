import Home
import KeychainCore
import ThreadDataset
import ThreadkeeperSupport

extension AuditNote {
  /// As a line of the audit.
  ///
  /// - Parameter state: of the home, after what it notes.
  package func line(by actor: String?, in home: String, _ state: Home) -> RecordChanges.AuditLine {
    func line(_ action: AuditAction, _ subject: String) -> RecordChanges.AuditLine {
      .init(actor: actor, action, subject)
    }
    /// Of the credentials of a router or network, which most lines are about.
    func line(_ action: AuditAction, _ service: String, _ id: [UInt8], _ group: String?) -> RecordChanges.AuditLine {
      .init(actor: actor, action, .item(service: service, home: home, id: id, group: group ?? Self.ownGroup))
    }
    func item(_ service: String, _ account: String? = nil) -> String {
      "genp \(service)/\(home)\(account.map { " \($0)" } ?? "") (\(Self.ownGroup))"
    }
    func subject(_ subject: ConsentSubject) -> String {
      "\(subject.command.wireName) \(subject.networkNames), home \(ShownName.account(home))"
        + (subject.router.map { ", for \($0.shown)" } ?? "")
    }
    func credentials(_ action: AuditAction, of agent: BorderAgentID) -> RecordChanges.AuditLine {
      let owner = state.routers.lend(agent) { router, _ in router.owner }
      return line(action, "thread-network", agent.bytes, owner??.text)
    }
    switch self {
    case .credentialsStored(let agent, let decision):
      return credentials(decision == .store ? .added : .secretChanged, of: agent)
    case .credentialsDeleted(let agent): return credentials(.deleted, of: agent)
    case .sharedStored(let user, let network, let isNew):
      return line(isNew ? .added : .secretChanged, "thread-shared", network.bytes, user.text)
    case .sharedDeleted(let user, let network): return line(.deleted, "thread-shared", network.bytes, user.text)
    case .preferredChanged(let before, let network):
      return line(
        network == nil ? .deleted : before == nil ? .added : .secretChanged,
        item("thread-preferred", (network ?? before)?.description))
    case .preferredConfirmed:
      return line(.changed, item("thread-preferred-confirmed", state.preferred?.dataset.network.description))
    case .joined(let network, let agent):
      return line(.added, "\(item("thread-by-code", network.description)) by \(agent)")
    case .formerDeleted(let network): return line(.deleted, item("thread-preferred-history", network.description))
    case .routerRemoved(let agent, let team, let reason):
      let why =
        switch reason {
        case .byPerson: ""
        case .leftLongAgo: ": left 30 days ago"
        case .forRoom: ": for another id of its team"
        case .forHome: ": for another id of the home"
        }
      return line(.routerRemoved, "\(agent) home \(home) from \(team?.text ?? "nobody")\(why)")
    case .consent(let record):
      let scope = record.scope.map { $0 == .always ? " (always)" : " (once)" } ?? ""
      return line(
        record.outcome.auditAction, "\(record.idText) \(subject(record.subject)) to \(record.requester.shown)\(scope)")
    case .granted(let grant):
      return line(.consentGranted, "\(grant.id.grantText) \(subject(grant.subject)) to \(grant.requester.shown)")
    case .given(let what, let requester, let id):
      return line(.credentialsGiven, "\(subject(what)) to \(requester.shown) by \(state.text(of: id))")
    case .notGiven(let what, let requester, let id, let obstacle):
      return line(
        .credentialsNotGiven, "\(subject(what)) to \(requester.shown) by \(state.text(of: id)): \(obstacle.message)")
    case .enrolled(let user): return line(.added, item("client-enrolment", user.text))
    case .enrolledAgain(let user, let hasNewKeys):
      return line(hasNewKeys ? .secretChanged : .changed, item("client-enrolment", user.text))
    case .revoked(let user, let isKept): return line(isKept ? .changed : .deleted, item("client-enrolment", user.text))
    }
  }

  /// The group of what belongs to no team.
  private static let ownGroup = "threadkeeper.internal"
}

extension Home {
  /// Of a grant, or of the question that was decided.
  fileprivate func text(of id: ConsentID) -> String { grants.contains { $0.id == id } ? id.grantText : id.questionText }
}

extension ConsentRecord.Outcome {
  fileprivate var auditAction: AuditAction {
    switch self {
    case .approved: .consentApproved
    case .denied: .consentDenied
    case .expired: .consentExpired
    case .revoked: .consentRevoked
    }
  }
}
