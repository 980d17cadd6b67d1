import Bridge
import DaemonTestKit
import Foundation
import Home
import TestKit
import Testing
import ThreadDataset

@testable import LocalAPI
@testable import Threadkeeper

@Suite("Decisions about consent") struct ConsentOperationTests {
  private let store: TemporaryStore
  private let context: OperationContext
  private static let agent = "a1b2c3d4e5f60718"

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
    // What is asked for.
    try context.prefer(.home, at: 1)
  }

  /// The id of a question that waits.
  private func ask(for user: ExactName) throws -> String {
    let request = RequestContext(Requester(.login(user), team: user), reply: .caller, actor: "a test")
    let answer = try context.bridge.loop.perform(.request(.getPreferred, request), in: "home").answer
    guard case .waiting(let id) = answer else { throw CancellationError() }
    return id.questionText
  }

  /// A command would end with 66 for what is done, had the daemon ended before it answered.
  private func onlyOnce<Performed: Threadkeeper.Operation>(_ decision: Performed) throws {
    _ = try decision.perform(context)
    #expect(try context.failure(of: decision).status == .noInput)
    #expect(!Performed.isRepeatable)
  }

  @Test("The second one is refused, so no command sends it by itself") func twice() throws {
    try onlyOnce(DenyConsent(id: ask(for: "phone")))
    try onlyOnce(ApproveConsent(id: ask(for: "tablet"), scope: .always))
    let grant = try #require(try ListGrants().perform(context).grants.first)
    try onlyOnce(RevokeGrant(id: grant.id))
  }

  @Test("A decision is reported as it is listed, with what came of it") func reported() throws {
    let id = try ask(for: "tablet")
    let waiting = try #require(try ListConsents().perform(context).pending.first)
    #expect((waiting.id, waiting.requester) == (id, "login tablet (team tablet)"))
    #expect(waiting.networks.map(\.description) == [#""home" (1111111122222222)"#])
    let approved = try ApproveConsent(id: id, scope: .always).perform(context)
    #expect((approved.id, approved.outcome, approved.scope) == (id, "approved", "always"))
    #expect(approved.decidedBy == "the status page")
    // Nothing can be sealed for the login.
    #expect(approved.given == false && approved.notGiven?.code == "not_enrolled")
    #expect(try ListConsents().perform(context).pending.isEmpty)
    let listed = try #require(try ListDecisions(limit: 1).perform(context).history.first)
    #expect(listed.request.id == id && listed.more.notGiven == approved.notGiven)

    let grant = try #require(try ListGrants().perform(context).grants.first)
    #expect(grant.id == approved.grant && grant.asksAgain == nil)
    let revoked = try RevokeGrant(id: grant.id).perform(context)
    #expect((revoked.id, revoked.grantedBy) == (grant.id, "the status page"))
    #expect(try ListDecisions().perform(context).history.map(\.outcome) == ["revoked", "approved"])
    #expect(try ListDecisions().perform(context).history.first?.id == grant.id)
  }

  @Test("A grant for the keys of before says that it covers nothing any more") func asksAgain() throws {
    _ = try ApproveConsent(id: try ask(for: "tablet"), scope: .always).perform(context)
    try context.prefer(SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey }, at: 2)
    #expect(try ListGrants().perform(context).grants.map(\.asksAgain) == [true])
  }

  @Test("What is in a home that the settings do not name is listed, and revoked when it is back") func formerHome()
    throws
  {
    let place = try MovedStore()
    try place.fill()
    var context = try OperationContext(place.store, homes: ["cabin"])
    let grants = try ListGrants().perform(context)
    #expect(grants.grants.map(\.home) == ["home"] && grants.formerHomes == ["home"])
    let clients = try ListClients().perform(context)
    #expect(clients.clients.map(\.user) == ["hub", "router"] && clients.formerHomes == ["home"])
    #expect(try ListClients(home: "home").perform(context).clients.count == 2)
    #expect(try ListClients(home: "cabin").perform(context).formerHomes == nil)
    let revokeGrant = RevokeGrant(id: try #require(grants.grants.first).id)
    let revokeClient = RevokeClient(home: "home", user: "hub", forgets: false)
    for failure in [try context.failure(of: revokeGrant), try context.failure(of: revokeClient)] {
      #expect(failure.status == .usage)
      #expect(failure.message == "the home home is not in the settings, so nothing of it holds")
      #expect(failure.remedy?.contains("put it back") == true)
    }
    context = try OperationContext(place.store, homes: ["cabin", "home"])
    _ = try revokeGrant.perform(context)
    _ = try revokeClient.perform(context)
    let left = try ListGrants().perform(context)
    #expect(left.grants.isEmpty && left.formerHomes == nil)
    #expect(try ListClients().perform(context).clients.map(\.user) == ["router"])
  }

  @Test("Why nothing can be decided has a code, an exit status and a remedy") func refused() throws {
    let denied = try ask(for: "phone")
    _ = try DenyConsent(id: denied).perform(context)
    let unknown = "0123456789abcdef"
    let table: [(any Threadkeeper.Operation, String, String)] = [
      (
        ApproveConsent(id: "c-1", scope: .once), "stale_id",
        "no request has such an id: expected c- and 16 hexadecimal digits"
      ), (DenyConsent(id: "c-\(unknown)"), "stale_id", "no request c-\(unknown) waits for consent"),
      (ApproveConsent(id: denied, scope: .once), "stale_id", "the request \(denied) is denied already"),
      (RevokeGrant(id: "g-1"), "not_found", "there is no such grant"),
      (RevokeGrant(id: "g-\(unknown)"), "not_found", "there is no such grant"),
      (AskConsent(home: "home", borderAgentId: Self.agent), "not_found", "no border router \(Self.agent) is listed"),
    ]
    for (operation, code, message) in table {
      let failure = try context.failure(of: operation)
      #expect(VarlinkError(failing: failure).code == code, "\(failure)")
      #expect(failure.status == .noInput, "\(failure)")
      #expect(failure.message == message)
      #expect(failure.remedy?.hasPrefix("`threadkeeper ") == true, "\(failure)")
    }
  }

  @Test("Asking again about a router of which there is nothing to ask ends with 64") func nothingToAsk() throws {
    let agent = try #require(BorderAgentID(hex: Self.agent))
    try context.bridge.loop.perform(.message(RouterMessage(.announce, .router(agent)), from: "hub"), in: "home")
    let failure = try context.failure(of: AskConsent(home: "home", borderAgentId: Self.agent))
    #expect(failure.status == .usage && failure.code == .conflict, "\(failure)")
    #expect(failure.message == "there is nothing to ask about \(Self.agent)")
  }
}

@Suite("Reports about consent") struct ConsentReportTests {
  private func decision() -> ConsentReport.Decision {
    let request = ConsentReport.Request(
      id: "c-1", requester: "uid 1000", team: "a", home: "home", command: "preferred/get",
      networks: [.init(id: "1111111122222222", name: "home-thread", team: nil)], createdAt: "2026-01-02T03:04:05Z")
    return ConsentReport.Decision(request: request, more: .init(outcome: "approved", decidedAt: "then", given: false))
  }

  @Test("An entry is one JSON object, with the fields of both parts") func entry() throws {
    let text = try JSONText.line(decision())
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
    #expect(
      object == [
        "id": "c-1", "requester": "uid 1000", "team": "a", "home": "home", "command": "preferred/get",
        "networks": [["ext_pan_id": "1111111122222222", "network_name": "home-thread"]],
        "created_at": "2026-01-02T03:04:05Z", "outcome": "approved", "decided_at": "then", "given": false,
      ])
  }

  @Test("A reply of the local API is read as it was sent, with the names of its fields") func reply() throws {
    let sent = try VarlinkReply(parameters: ListDecisions.Reply(history: [decision()]), continues: false).encoded()
    let text = String(decoding: sent, as: UTF8.self)
    #expect(text.contains("\"ext_pan_id\":\"1111111122222222\""))
    #expect(text.contains("\"decided_at\":\"then\""))
    let read = try #require(VarlinkReply<ListDecisions.Reply>(reading: sent).parameters.history.first)
    #expect(read.requester == "uid 1000" && read.given == false)
    #expect(read.networks == decision().networks)
  }
}
