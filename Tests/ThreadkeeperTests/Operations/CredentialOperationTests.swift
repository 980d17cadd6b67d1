import Broker
import DaemonTestKit
import Home
import KeychainCore
import TestKit
import Testing
import ThreadDataset

@testable import Threadkeeper

@Suite("Operations that show what is stored") struct CredentialOperationTests {
  private static let agent = "a1b2c3d4e5f607180000000000000001"
  private static let other = "a1b2c3d4e5f607180000000000000002"
  private let store: TemporaryStore
  private let context: OperationContext
  private let dataset: OperationalDataset

  init() throws {
    store = try TemporaryStore()
    context = try OperationContext(store)
    dataset = try SampleNetwork.home.dataset(at: 7)
  }

  private func announce(_ agents: String...) throws {
    try context.receive("announce", agents.map { #"{"border_agent_id":"\#($0)","dataset":"\#(dataset.hex)"}"# })
  }

  private func show(secret: Bool = false) -> ShowCredential {
    ShowCredential(home: "home", borderAgentId: Self.agent, secret: secret)
  }

  @Test("Credentials are listed without their secrets, and shown with them for who asks for that") func credentials()
    throws
  {
    #expect(try context.failure(of: show()).status == .noInput)
    try announce(Self.agent, Self.other)
    let rows = try ListCredentials().list(context)
    #expect(rows.rows.map(\.borderAgentId) == [Self.agent, Self.other] && rows.unreadable == nil)
    #expect(rows.rows.allSatisfy { $0.dataset == nil && $0.team == "hub" })
    let shown = try show(secret: true).perform(context)
    #expect(shown.dataset == dataset.hex)
    #expect((shown.networkName, shown.extPanId) == ("home", "1111111122222222"))
    #expect((shown.channel, shown.panId, shown.activeTimestamp) == (15, 0x1234, 7))
    #expect(try show().perform(context).dataset == nil)
  }

  @Test("The preferred network is shown with its secrets for who asks for that") func preferred() throws {
    let none = try context.failure(of: ShowPreferred(home: "home", secret: false))
    #expect(none.status == .noInput && none.message == "no network is preferred yet")
    try announce(Self.agent)
    let shown = try ShowPreferred(home: "home", secret: true).perform(context)
    #expect(shown.credentials && shown.dataset == dataset.hex && shown.reportedBy.isEmpty)
    #expect((shown.channel, shown.panId, shown.activeTimestamp) == (15, 0x1234, 7))
    #expect(try ShowPreferred(home: "home", secret: false).perform(context).dataset == nil)
  }

  @Test("What is shared of the preferred network is accepted, once; else there is a reason") func accept() throws {
    let accept = AcceptCredentials(home: "home")
    #expect(try context.failure(of: accept).message == "there is no preferred network")
    let network = try #require(dataset.extendedPANID)
    var seen = try #require(Advertisement([try BorderAgentID(parameter: Self.agent)]))
    seen.network = network
    try context.bridge.loop.see(Sightings([seen]))
    var administrator = RequestContext(Requester(.systemUser(0), team: "root"), reply: .caller, actor: "uid 0")
    administrator.isAdministrator = true
    try context.bridge.loop.perform(.request(.setPreferred(.network(network, router: nil)), administrator), in: "home")
    let nothing = try context.failure(of: accept)
    #expect(nothing.status == .noInput && nothing.remedy?.contains("`threadkeeper networks`") == true)

    try context.receive("credentials", from: "ha", [#"{"dataset":"\#(dataset.hex)"}"#])
    let shown = try ShowPreferred(home: "home", secret: false).perform(context)
    #expect(!shown.credentials && shown.sharedBy == ["ha"])
    #expect(
      shown.text(homeOption: " --home h").contains(
        "ha shares one; if it is right, run `threadkeeper networks accept-credentials --home h`"))
    #expect(try ListNetworks().list(context).rows.map { $0["shared_by"] } == [.array([.text("ha")])])
    let listed = try ListCredentials().list(context).rows
    #expect(listed.map(\.sharedBy) == ["ha"] && listed.map(\.borderAgentId) == [nil])
    #expect(listed.map(\.networkName) == ["home"] && listed.map(\.team) == ["ha"])
    func ofRouter() throws -> [CredentialState] {
      try ListRouters().list(context).rows.compactMap { $0["credentials"]?.text.flatMap(CredentialState.init(word:)) }
    }
    #expect(try ofRouter() == [.missing])
    let other = try context.failure(of: AcceptCredentials(home: "home", extPanId: "3333333344444444"))
    #expect(other.status == .usage && other.message.contains("is not the preferred one"))
    #expect(
      try context.failure(of: AcceptCredentials(home: "home", extPanId: "xyz")).message
        == "an Extended PAN ID has 16 hex digits")

    var caller = context
    caller.caller = .commandLine(user: 4_711)
    let reply = try AcceptCredentials(home: "home", extPanId: network.description).perform(caller)
    #expect(reply.changed && reply.extPanId == "1111111122222222" && reply.networkName == "home")
    #expect(try ShowPreferred(home: "home", secret: true).perform(context).dataset == dataset.hex)
    #expect(try !accept.perform(context).changed)
    #expect(try ofRouter() == [.shared])
    let history = try ListDecisions().perform(context).history
    #expect(history.map(\.outcome) == ["approved"])
    #expect(history.map(\.decidedBy) == ["uid 4711 (command line)"])
  }

  @Test("A home that the settings do not name is refused with 64") func otherHome() throws {
    let failures = [
      try context.failure(of: ShowPreferred(home: "cabin", secret: false)),
      try context.failure(of: ForgetDamaged(home: "cabin")),
      try context.failure(of: RevokeClient(home: "cabin", user: "hub", forgets: false)),
    ]
    #expect(failures.allSatisfy { $0.status == .usage })
  }

  @Test("Why no router is listed is said as far as it is known") func noRouter() throws {
    let nobody = try ListRouters().list(context)
    #expect(nobody.note?.hasPrefix("No border router is listed.") == true)
    try announce(Self.agent)
    #expect(try ListRouters().list(context).note == nil)
    try context.receive("leave", [#"{"border_agent_id":"\#(Self.agent)"}"#])
    let left = try ListRouters().list(context)
    #expect(left.note?.contains("all that announced themselves have left") == true)
  }

  @Test("What cannot be read is counted, until a person gives it up") func damaged() throws {
    try announce(Self.agent)
    // The router's and the preferred network's.
    #expect(try store.keychain.damageSecretRecords() == 2)
    let context = try OperationContext(store)
    let counts = ["home": 2]
    #expect(try ListCredentials().list(context).unreadable == counts)
    #expect(try ListClients().perform(context).unreadable == counts)
    #expect(try ListGrants().perform(context).unreadable == counts)
    let preferred = ShowPreferred(home: "home", secret: false)
    let failure = try context.failure(of: preferred)
    #expect(failure.status == .badInput && failure.message.contains("damaged"), "\(failure)")
    for secret in [false, true] { #expect(try context.failure(of: show(secret: secret)).status == .badInput) }
    let refused = #expect(throws: KeychainError.self) { try store.keychain.rotateKeys([store.keyFile]) }
    #expect(refused?.message.contains("`threadkeeper store forget-damaged`") == true)
    let forgotten = try ForgetDamaged(home: "home").perform(context)
    #expect(forgotten.forgotten.map(\.home) == ["home", "home"] && forgotten.remaining == 0)
    #expect(try ForgetDamaged().perform(context).forgotten.isEmpty)
    #expect(!ForgetDamaged.isRepeatable)
    #expect(try ListCredentials().list(context).unreadable == nil)
    #expect(try context.failure(of: preferred).status == .noInput)
    let verified = try VerifyStore().perform(context)
    #expect(verified.isWell, "\(verified)")
    #expect(try store.keychain.rotateKeys([store.keyFile]).records == verified.records)
  }

  @Test(
    "Whatever refuses a rotation is given up: also of homes that are not in the settings",
    arguments: ["state", "secret", "name"], [["home"], ["cabin"], ["cabin", "attic"]]) func rotation(
      _ part: String, _ homes: [String]
    ) throws
  {
    let place = try MovedStore()
    try place.fill()
    let agent = BorderAgentID(high: 7, low: 0)
    try place.storeCredentials(of: agent)
    let number = part == "name" ? try place.damageName() : try place.damageLastRecord(part)
    let context = try OperationContext(place.store, homes: homes)
    let isNamedAgain = part == "name" && homes.count == 1
    let name = part == "name" ? "lost-\(number)" : "home"
    let forgotten = try ForgetDamaged().perform(context)
    let damage = VerificationOutcome.Damage(
      number: number, home: name, borderAgentId: part == "secret" ? agent.description : nil)
    #expect(forgotten.forgotten == (isNamedAgain ? [] : [damage]) && forgotten.remaining == 0)
    #expect(try VerifyStore().perform(context).isWell)
    let records = try place.keychain.rotateKeys([place.store.keyFile]).records
    #expect(try VerifyStore().perform(context).records == records)
    let again = try OperationContext(place.store, homes: homes)
    #expect(again.unreadable == nil)
    #expect(again.homes.allSatisfy { !$0.home.hasDamage })
  }
}
