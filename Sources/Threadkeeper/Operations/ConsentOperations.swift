import Bridge
import Home
import HomeStore
import LocalAPI
import Logging
import ThreadDataset
import ThreadRequests

import enum ThreadRequests.ConsentScope

/// What waits for consent.
struct ListConsents: ReadOperation {
  func perform(_ context: OperationContext) throws -> ConsentReport.List {
    ConsentReport.List(context.bridge.loop.homes.snapshot, namingHome: context.bridge.homes.count > 1)
  }
}

/// The same now, and whenever it has changed.
struct WatchConsents: StreamOperation, ReadOperation {
  typealias Reply = ConsentReport.List

  /// From one look to the next.
  private static let interval = Duration.milliseconds(300)

  func perform(_ context: OperationContext, _ replies: VarlinkReplies<Reply>) throws -> Reply {
    try sendChanges(every: Self.interval, to: replies) { try context.read { try ListConsents().perform(context) } }
  }
}

/// Gives a program the credentials that it asks for. A second decision finds nothing that waits.
struct ApproveConsent: OneTimeOperation {
  var id: String
  var scope: ConsentScope

  func perform(_ context: OperationContext) throws -> ConsentReport.Decision {
    try context.decide(id) { .approve($0, scope == .always ? .always : .once) }
  }
}

/// Refuses a program the credentials that it asks for.
struct DenyConsent: OneTimeOperation {
  var id: String

  func perform(_ context: OperationContext) throws -> ConsentReport.Decision { try context.decide(id) { .deny($0) } }
}

/// Has a person asked again whether a border router gets the preferred credentials.
struct AskConsent: Operation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  struct Reply: Codable {
    var home: String
    var borderAgentId: String
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let home = try context.settings.home(named: home)
    _ = try context.decide(.askAgain(agent), in: home, remedy: "`threadkeeper routers` shows the ids")
    context.logger.notice(
      "consent is to be asked for again",
      metadata: ["border_agent_id": "\(agent)", "home": "\(home)", "by": "\(context.caller.shown)"])
    return Reply(home: home, borderAgentId: agent.description)
  }
}

/// Who is given credentials without a question.
struct ListGrants: ReadOperation {
  struct Reply: Codable {
    var grants: [ConsentReport.Grant]
    /// Homes of them that the settings do not name: nothing of these holds, or can be revoked.
    var formerHomes: [String]?
    /// By home, how many records cannot be read: each may be of one more.
    var unreadable: [String: Int]?
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let snapshot = context.everyHome
    let grants = snapshot.grants
    return Reply(
      grants: grants.map { ConsentReport.Grant($0, preferred: snapshot.homes[$0.home]?.preferred?.dataset) },
      formerHomes: context.former(of: grants.map(\.home)), unreadable: context.unreadable)
  }
}

/// Takes an "always" back. A second revocation finds nothing.
struct RevokeGrant: OneTimeOperation {
  var id: String

  func perform(_ context: OperationContext) throws -> ConsentReport.Grant {
    let remedy = "`threadkeeper consent list --grants` shows what there is"
    let known = ConsentID(grant: id)
    try context.checkIsServed { $1.grants.contains { $0.id == known } }
    guard let id = known, let home = context.home(where: { $0.grants.contains { $0.id == id } }),
      case .revoked(let grant) = try context.decide(.revoke(grant: id), in: home, remedy: remedy)
    else { throw CommandFailure(.noInput, "there is no such grant", remedy: remedy) }
    context.logger.notice(
      "consent revoked",
      metadata: [
        "id": "\(grant.id.grantText)", "requester": "\(grant.requester.shown)",
        "network": "\(grant.subject.networkNames)",
      ])
    return ConsentReport.Grant(OfHome(home: home, value: grant))
  }
}

/// What was decided, the newest first.
struct ListDecisions: ReadOperation {
  /// The most decisions; nil is all that are kept.
  var limit: Int?

  struct Reply: Codable { var history: [ConsentReport.Decision] }

  func perform(_ context: OperationContext) throws -> Reply {
    let past = context.bridge.loop.homes.snapshot.decisions(limit: max(0, limit ?? .max))
    return Reply(history: past.map(ConsentReport.Decision.init))
  }
}

extension OperationContext {
  /// The name of the first one that this holds for.
  fileprivate func home(where holds: (Home) -> Bool) -> String? {
    bridge.homes.first { bridge.loop.homes.home($0.name).map(holds) ?? false }?.name
  }

  /// Decides about a question, in the home that has asked it.
  ///
  /// - Parameter id: as a person names it.
  fileprivate func decide(_ id: String, _ what: (ConsentID) -> ConsentDecision.What) throws -> ConsentReport.Decision {
    let remedy = "`threadkeeper consent list` shows what waits"
    guard let question = ConsentID(question: id) else {
      throw CommandFailure(
        .noInput, "no request has such an id: expected c- and 16 hexadecimal digits", remedy: remedy, code: .staleID)
    }
    // Where none has asked it, the first one says so.
    let home = home(where: { $0.knows(question) }) ?? bridge.homes.first?.name ?? ""
    guard case .decided(let record) = try decide(what(question), in: home, about: id, remedy: remedy) else {
      throw CommandFailure(.software, "the home has decided nothing")
    }
    return ConsentReport.Decision(OfHome(home: home, value: record))
  }

  /// - Parameters:
  ///   - id: of the question.
  ///   - remedy: where there is nothing to decide.
  fileprivate func decide(_ what: ConsentDecision.What, in home: String, about id: String? = nil, remedy: String) throws
    -> HomeAnswer?
  {
    let answer = try bridge.loop.perform(.decision(ConsentDecision(what, by: caller)), in: home, actor: caller.shown)
      .answer
    guard case .refused(let refusal) = answer else { return answer }
    var request = ThreadRequest(.approveConsent)
    request.id = id
    let state = bridge.loop.homes.home(home)
    let failure = AnswerFailure(refusal, to: request, naming: { state?.shownName($0) ?? $0.description })
    throw CommandFailure(deciding: failure, remedy: remedy)
  }
}

extension CommandFailure {
  /// Why a person cannot decide so.
  fileprivate init(deciding failure: AnswerFailure, remedy: String) {
    let status = failure.commandFailure.status
    // Nothing that waiting could change.
    self.init(
      failure.known == .conflict ? .usage : status, failure.message, remedy: status == .noInput ? remedy : failure.help,
      code: failure.known)
  }
}
