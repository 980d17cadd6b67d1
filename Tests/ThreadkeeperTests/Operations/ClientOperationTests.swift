import Bridge
import Broker
import Home
import KeychainCore
import LocalAPI
import MeshCoP
import Settings
import TestKit
import Testing
import ThreadDataset

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
    let removed = try remove.perform(context)
    #expect(removed.previousTeam == "hub" && removed.credentials)
    #expect(try context.failure(of: remove).status == .noInput)
    #expect(!RemoveRouter.isRepeatable)
  }

  @Test("A router has the name that a person gives it; one that no router may have is refused") func naming() throws {
    func rename(_ name: String) -> RenameRouter { RenameRouter(home: "home", borderAgentId: Self.agent, name: name) }
    #expect(try context.failure(of: rename("Attic")).status == .noInput)
    try announce(.home)
    for name in [" ", "\u{200B}", "a\u{1B}[2Jb", "a\nb", String(repeating: "x", count: 129)] {
      #expect(try context.failure(of: rename(name)).status == .usage, "\(name)")
    }
    for (name, shown, isChange) in [("Attic", "Attic", true), (" Attic\n", "Attic", false), ("", nil, true)]
      as [(String, String?, Bool)]
    {
      let reply = try rename(name).perform(context)
      #expect(reply.name == shown && reply.changed == isChange, "\(reply)")
    }
  }

  @Test("What a router is called is said, also where it has no name") func namingSentence() {
    for (name, changed, words) in [
      ("Hall", true, #"is called "Hall" now."#), ("Hall", false, #"is called "Hall" already."#),
      (nil, true, "has no name any more, and is shown by its id."),
      (nil, false, "has no name, and is shown by its id."),
    ] as [(String?, Bool, String)] {
      let reply = RenameRouter.Reply(home: "home", borderAgentId: Self.agent, name: name, changed: changed)
      #expect(reply.sentence == "\(Self.agent) \(words)")
    }
  }

  @Test("A router is shown with its own alerts and its last 30 days") func shown() throws {
    let show = ShowRouter(home: "home", borderAgentId: Self.agent)
    #expect(try context.failure(of: show).status == .noInput)
    let records = try TemporaryStore()
    let context = try other(records) { $0.eachHome.alertsHold = 0 }
    for (agent, network, user) in [("a1b2c3d4e5f60719", SampleNetwork.home, "hub"), (Self.agent, .guest, "other")] {
      let dataset = try network.dataset(at: 1).hex
      try context.receive("announce", from: user, [#"{"border_agent_id":"\#(agent)","dataset":"\#(dataset)"}"#])
    }
    try context.receive("announce", [#"{"border_agent_id":"a1b2c3d4e5f6071a"}"#])
    _ = try RenameRouter(home: "home", borderAgentId: Self.agent, name: "Attic").perform(context)
    let reply = try show.perform(context)
    #expect(reply.router.text("name") == "Attic" && reply.router.text("border_agent_id") == Self.agent)
    #expect(reply.past.map(\.hours).reduce(0, +) == 720 && reply.past.last?.state == "other_network")
    #expect(!reply.alerts.isEmpty && reply.alerts.allSatisfy { $0.text("router") == Self.agent })
  }

  @Test(
    "The last 30 days are said in days and hours",
    arguments: [
      ([.online], "online 1 hour"), ([], ""), (Array(repeating: .unknown, count: 47), "unknown 47 hours"),
      (Array(repeating: .away, count: 20) + Array(repeating: .online, count: 700), "online 29 days, away 20 hours"),
      ([.otherNetwork] + Array(repeating: .online, count: 50), "online 2 days, on another network 1 hour"),
    ] as [([RouterPast.Standing], String)]) func past(_ hourly: [RouterPast.Standing], _ words: String)
  { #expect(RouterSpan.all(hourly).words == words) }

  @Test("No code is shown without a network, for too long, or by what is no router; then it is said what helps")
  func sharing() throws {
    #expect(try context.failure(of: ShareNetwork()).status == .noInput)
    try announce(.home)
    let port = try UnusedPort.next()
    for (share, status, words) in [
      (ShareNetwork(extPanId: "x"), .usage, "16 hex digits"), (ShareNetwork(minutes: 0), .usage, "not 0"),
      (ShareNetwork(minutes: 11), .usage, "not 11"), (ShareNetwork(url: "https://a"), .usage, "http://HOST:PORT"),
      (ShareNetwork(url: "http://127.0.0.1:\(port)"), .unavailable, "nothing accepts the connection"),
    ] as [(ShareNetwork, Threadkeeper.ExitStatus, String)] {
      let failure = try context.failure(of: share)
      #expect(failure.status == status && failure.message.contains(words), "\(failure)")
    }
    let failure = try context.failure(of: ShareNetwork(url: "http://127.0.0.1:\(port)"))
    #expect(failure.code == .unsupported && failure.remedy?.contains("in the app of another") == true)
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

  @Test("A code is tried only where it is one, and where border routers are found") func joining() throws {
    for (code, agent) in [("91637136", nil), ("123456789", nil), ("916371366", "x")] as [(String, String?)] {
      let failure = try context.failure(of: JoinNetwork(code: code, borderAgentId: agent))
      #expect(failure.status == .usage && !"\(failure)".contains(code), "\(failure)")
    }
    let join = JoinNetwork(code: "123456789", anyway: true)
    for (url, word) in [(nil, "discovery.mdns: auto"), ("postgresql://a", "fleet")] as [(String?, String)] {
      let records = try TemporaryStore()
      let other = try other(records) { ($0.discovery, $0.store.url) = (.off, url.map { SecretText($0) }) }
      let failure = try other.failure(of: join)
      #expect(failure.status == .unavailable && "\(failure)".contains(word), "\(failure)")
    }
  }

  private func other(_ store: TemporaryStore, _ change: (inout Settings) -> Void) throws -> OperationContext {
    var settings = context.settings
    change(&settings)
    let bridge = try Bridge(
      BridgeConfiguration(settings, version: ""), connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "a"),
      clientID: "a", store: SealedRecords(store.keychain), logger: context.logger)
    return OperationContext(settings, bridge: bridge, logger: context.logger)
  }

  @Test("No code is used up for what cannot be stored") func readOnly() throws {
    let records = try TemporaryStore()
    let other = try other(records) { $0.discovery = .auto }
    other.store.noteFailure(KeychainError(.decode, "", isFileDamaged: true))
    #expect(throws: KeychainError.self) { try JoinNetwork(code: "916371366").perform(other) }
  }

  @Test("A home knows of the recovery code as soon as it opens the store") func recoveryCode() throws {
    #expect(context.homes.map(\.home.hasRecoveryCode) == [false])
    let code = StoreSecret(kind: .recoveryCode, value: RecoveryCode().revealed())
    _ = try AddKeySlot(secret: code).perform(context)
    #expect(context.homes.map(\.home.hasRecoveryCode) == [true])
  }

  @Test("Each reason for which no network came by a code has its own sentence") func obstacles() throws {
    try context.receive("announce", [#"{"border_agent_id":"\#(Self.agent)","name":"Hub"}"#])
    let agent = try #require(BorderAgentID(hex: Self.agent))
    let rows: [(CodeReader.Obstacle, Threadkeeper.ExitStatus, String)] = [
      (.noWindow, .noInput, "ot-ctl ba ephemeralkey start"), (.noWindow, .noInput, "Google TV Streamer"),
      (.notOpen, .noInput, "that border router shows no code"), (.noRouter(host: "a.local"), .noInput, "a.local shows"),
      (.several([agent, BorderAgentID(high: 8, low: 8)]), .usage, "2 border routers show a code: Hub (\(agent)), 0"),
      (.busy, .temporary, "another code is tried"), (.tooOften, .temporary, "too many codes"),
      (.wrongCode(left: 0), .notPermitted, "for the tenth time"), (.wrongCode(left: 1), .notPermitted, "1 more try at"),
      (.wrongCode(left: 9), .notPermitted, "9 more tries at most"),
      (.windowClosed, .temporary, "takes no code any more"),
      (.failed(.noAnswer(.hello)), .unavailable, "does not answer"), (.failed(.stopped), .unavailable, "was stopped"),
      (.incomplete, .unavailable, "no complete dataset"),
    ]
    for (obstacle, status, word) in rows {
      let failure = CommandFailure(obstacle, in: context.homes.first?.home)
      #expect(failure.status == status && "\(failure)".contains(word), "\(failure)")
    }
  }

  @Test("While a test alert fires another one is news, too") func testAlert() throws {
    for number in 1...2 {
      _ = try TestAlert(home: "home").perform(context)
      let tests = context.bridge.loop.homes.recent.newest.filter { $0.text.contains("an alert of threadkeeper has") }
      #expect(tests.count { $0.since == nil } == number)
    }
  }

  @Test("Without credentials of a router's network a code is named first") func noCredentials() throws {
    let agent = try #require(BorderAgentID(hex: Self.agent))
    let remedy = try #require(CommandFailure(RouterReader.Obstacle.noCredentials(nil), agent).remedy)
    let (code, dataset) = (remedy.firstRange(of: "networks join CODE"), remedy.firstRange(of: "preferred set"))
    #expect(try #require(code).upperBound < #require(dataset).lowerBound)
  }

  @Test("What came is said with what it means, and how to prefer it") func joined() {
    var reply = JoinNetwork.Reply(
      home: "cabin", borderAgentId: Self.agent, name: "Hub", extPanId: "1111111122222222", networkName: "MyHome",
      channel: 15, borderRouters: 3, result: .preferred)
    #expect(reply.came == "MyHome (1111111122222222): channel 15, 3 border routers here.")
    for (result, word) in [
      (.preferred, "these credentials are known"), (.completed, "has its credentials now"),
      (.disputed, "other keys here (network_key)"), (.disputed, "`threadkeeper preferred set p-current --home cabin`"),
      (.undecided, "`threadkeeper preferred set 1111111122222222 --router \(Self.agent) --home cabin`"),
      (.other, "Another network is preferred"),
    ] as [(JoinNetwork.Result, String)] {
      reply.result = result
      reply.differs = ["network_key"]
      #expect(reply.meaning(isOnlyHome: false).contains(word), "\(result)")
      #expect(!reply.meaning(isOnlyHome: true).contains("--home"))
    }
    reply.borderRouters = 1
    #expect(reply.came.hasSuffix(", 1 border router here."))
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
