// SPDX-License-Identifier: Apache-2.0

import Bridge
import DaemonTestKit
import Home
import HomeStore
import LocalAPI
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import ThreadkeeperDaemon

@Suite("Decisions about consent")
struct ConsentOperationTests {
  private let store: TemporaryStore
  private let context: OperationContext
  private static let agent = "a1b2c3d4e5f60718"

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
    // What is asked for.
    var request = ThreadRequest(.setPreferred)
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    var local = LocalRequest(request, user: 0, team: "root")
    local.isAdministrator = true
    let outcome = context.bridge.requests.answer(
      local, by: context.bridge.loop, isOwnUser: true, at: SystemClock().now())
    guard case .answer(let answer) = outcome else { throw CancellationError() }
    _ = try answer.result()
  }

  /// The id of a question that waits.
  private func ask(for user: ExactName) throws -> String {
    let request = RequestContext(
      Requester(.login(user), team: user), reply: .caller, actor: "a test")
    let answer = try context.bridge.loop.perform(
      .request(.getPreferred, request), in: "home"
    ).answer
    guard case .waiting(let id) = answer else { throw CancellationError() }
    return id.questionText
  }

  private func failure(
    of operation: some ThreadkeeperDaemon.Operation
  ) throws -> CommandFailure {
    try #require(
      #expect(throws: CommandFailure.self) { _ = try operation.perform(context) })
  }

  /// A command would end with 66 for what is done, had the daemon ended before it answered.
  private func onlyOnce<Performed: ThreadkeeperDaemon.Operation>(_ decision: Performed) throws {
    _ = try decision.perform(context)
    #expect(try failure(of: decision).status == .noInput)
    #expect(!Performed.isRepeatable)
  }

  @Test("The second one is refused, so no command sends it by itself")
  func twice() throws {
    try onlyOnce(DenyConsent(id: ask(for: "phone")))
    try onlyOnce(ApproveConsent(id: ask(for: "tablet"), scope: .always))
    let grant = try #require(try ListGrants().perform(context).grants.first)
    try onlyOnce(RevokeGrant(id: grant.id))
  }

  @Test("A decision is reported as it is listed, with what came of it")
  func reported() throws {
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

  @Test("A grant for the keys of before says that it covers nothing any more")
  func asksAgain() throws {
    _ = try ApproveConsent(id: try ask(for: "tablet"), scope: .always).perform(context)
    var request = ThreadRequest(.setPreferred)
    var network = SampleNetwork.home
    network.networkKey = SampleNetwork.guest.networkKey
    request.dataset = try network.dataset(at: 2)
    var local = LocalRequest(request, user: 0, team: "root")
    local.isAdministrator = true
    _ = context.bridge.requests.answer(
      local, by: context.bridge.loop, isOwnUser: true, at: SystemClock().now())
    #expect(try ListGrants().perform(context).grants.map(\.asksAgain) == [true])
  }

  @Test("What is in a home that the settings do not name is listed, and revoked when it is back")
  func formerHome() throws {
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
    for failure in [
      #expect(throws: CommandFailure.self) { _ = try revokeGrant.perform(context) },
      #expect(throws: CommandFailure.self) { _ = try revokeClient.perform(context) },
    ] {
      #expect(failure?.status == .usage)
      #expect(failure?.message == "the home home is not in the settings, so nothing of it holds")
      #expect(failure?.remedy?.contains("put it back") == true)
    }
    context = try OperationContext(place.store, homes: ["cabin", "home"])
    _ = try revokeGrant.perform(context)
    _ = try revokeClient.perform(context)
    let left = try ListGrants().perform(context)
    #expect(left.grants.isEmpty && left.formerHomes == nil)
    #expect(try ListClients().perform(context).clients.map(\.user) == ["router"])
  }

  @Test("Why nothing can be decided has a code, an exit status and a remedy")
  func refused() throws {
    let denied = try ask(for: "phone")
    _ = try DenyConsent(id: denied).perform(context)
    let table: [(CommandFailure, String, String)] = [
      (
        try failure(of: ApproveConsent(id: "c-1", scope: .once)), "stale_id",
        "no request has such an id: expected c- and 16 hexadecimal digits"
      ),
      (
        try failure(of: DenyConsent(id: "c-0123456789abcdef")), "stale_id",
        "no request c-0123456789abcdef waits for consent"
      ),
      (
        try failure(of: ApproveConsent(id: denied, scope: .once)), "stale_id",
        "the request \(denied) is denied already"
      ),
      (
        try failure(of: RevokeGrant(id: "g-1")), "not_found", "there is no such grant"
      ),
      (
        try failure(of: RevokeGrant(id: "g-0123456789abcdef")), "not_found",
        "there is no such grant"
      ),
      (
        try failure(of: AskConsent(home: "home", borderAgentId: Self.agent)), "not_found",
        "no border router \(Self.agent) is listed"
      ),
    ]
    for (failure, code, message) in table {
      #expect(VarlinkError(failing: failure).code == code, "\(failure)")
      #expect(failure.status == .noInput, "\(failure)")
      #expect(failure.message == message)
      #expect(failure.remedy?.hasPrefix("`threadkeeper ") == true, "\(failure)")
    }
  }

  @Test("Asking again about a router of which there is nothing to ask ends with 64")
  func nothingToAsk() throws {
    let agent = try #require(BorderAgentID(hex: Self.agent))
    try context.bridge.loop.perform(
      .message(RouterMessage(.announce, .router(agent)), from: "hub"), in: "home")
    let failure = try failure(of: AskConsent(home: "home", borderAgentId: Self.agent))
    #expect(failure.status == .usage && failure.code == "conflict", "\(failure)")
    #expect(failure.message == "there is nothing to ask about \(Self.agent)")
  }
}
