import Bridge
import Broker
import KeychainCore
import TestKit
import Testing

@testable import Threadkeeper

@Suite("Operations about clients and routers") struct ClientOperationTests {
  private static let agent = "a1b2c3d4e5f60718"
  private let store: TemporaryStore
  private let context: OperationContext

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
  }

  private func enroll(_ user: String, _ line: String? = nil, _ trust: ClientTrust? = nil) throws -> EnrollClient {
    EnrollClient(home: "home", user: user, line: try line ?? Identity().keys.line, trust: trust, label: "x")
  }

  @Test("A client is enrolled, updated, and listed with the keys that it has now") func enroll() throws {
    let lines = [try Identity().keys.line, try Identity().keys.line]
    let first = try enroll("hub", lines[0]).perform(context)
    #expect((first.change, first.client.trust, first.client.line) == ("enrolled", "broker", lines[0]))
    let second = try enroll("hub", lines[1], .signed).perform(context)
    #expect((second.change, second.client.trust) == ("updated", "signed"))
    _ = try enroll("attic").perform(context)
    let list = try ListClients().perform(context)
    #expect(list.clients.map(\.user) == ["attic", "hub"] && list.revoked == nil)
    #expect(list.clients.last?.line == lines[1] && list.clients.last?.label == "x")
    #expect(list.daemon?.line == first.daemon.line && first.daemon.line == second.daemon.line)
    #expect(try ListClients(home: "home").perform(context).clients.count == 2)
    #expect(try context.failure(of: ListClients(home: "cabin")).status == .usage)
  }

  @Test("The daemon's own line is no client's") func ownLine() throws {
    #expect(try ListClients().perform(context).daemon == nil)
    let own = try context.bridge.identity.findOrMake(actor: "uid 7").keys.line
    #expect(try context.failure(of: enroll("hub", own)).status == .usage)
    #expect(try context.failure(of: enroll("hub", "tk1:")).status == .usage)
    #expect(try ListClients().perform(context).clients.isEmpty)
  }

  @Test("A revoked client of which plaintext counts for nothing is still named, until it is forgotten") func revoke()
    throws
  {
    for user in ["hub", "attic"] {
      _ = try enroll(user, nil, user == "hub" ? .signed : .broker).perform(context)
      let revoke = RevokeClient(home: "home", user: user, forgets: false)
      #expect(try revoke.perform(context).revoked == user)
      #expect(try context.failure(of: revoke).status == .noInput)
    }
    var list = try ListClients().perform(context)
    #expect(list.clients.isEmpty && list.revoked == ["hub"])
    _ = try RevokeClient(home: "home", user: "hub", forgets: true).perform(context)
    list = try ListClients().perform(context)
    #expect(list.clients.isEmpty && list.revoked == nil)
  }

  private func announce(_ network: SampleNetwork) throws {
    let dataset = try network.dataset(at: 1).hex
    try context.receive("announce", [#"{"border_agent_id":"\#(Self.agent)","dataset":"\#(dataset)"}"#])
  }

  @Test("A router is accepted and removed once, and one that nobody knows is no input") func routers() throws {
    let accept = AcceptRouter(home: "home", borderAgentId: Self.agent)
    let remove = RemoveRouter(home: "home", borderAgentId: Self.agent)
    for failure in [try context.failure(of: accept), try context.failure(of: remove)] {
      #expect(failure.status == .noInput && failure.message.contains(Self.agent), "\(failure)")
    }
    try announce(.home)
    #expect(try !accept.perform(context).changed)
    #expect(try ExpectCredentialSharing(borderAgentId: Self.agent).perform(context).known)
    let removed = try remove.perform(context)
    #expect(removed.previousTeam == "hub" && removed.credentials)
    #expect(try context.failure(of: remove).status == .noInput)
    #expect(!RemoveRouter.isRepeatable)
  }

  @Test("A router that is not on the local network, or where none is read, is not read") func reading() throws {
    let read = ReadRouter(borderAgentId: Self.agent)
    #expect(try context.failure(of: read).status == .noInput)
    #expect(try context.failure(of: ReadRouter(borderAgentId: "x")).status == .usage)
    var settings = context.settings
    settings.reading = .off
    let records = try TemporaryStore()
    let bridge = try Bridge(
      BridgeConfiguration(settings, version: ""), connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "a"),
      clientID: "a", store: SealedRecords(records.keychain), logger: context.logger)
    let other = OperationContext(settings, bridge: bridge, logger: context.logger)
    let failure = try other.failure(of: read)
    #expect(failure.status == .unavailable && failure.remedy?.contains("discovery.read: auto") == true)
  }

  @Test("A network is accepted before and after a router is on it, and no more") func networks() throws {
    func accept(_ accepted: Bool) throws -> AcceptNetwork.Reply {
      try AcceptNetwork(home: "home", extPanId: "3333333344444444", accepted: accepted).perform(context)
    }
    var reply = try accept(true)
    #expect(reply.changed && !reply.known)
    reply = try accept(true)
    #expect(!reply.changed)
    try announce(.guest)
    reply = try accept(false)
    #expect(reply.changed && reply.known && reply.extPanId == "3333333344444444")
  }
}
