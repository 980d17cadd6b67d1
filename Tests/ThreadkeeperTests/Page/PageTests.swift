import Broker
import DaemonTestKit
import Foundation
import Home
import HomeStore
import KeychainCore
import Logging
import Settings
import SodiumCrypto
import StatusPage
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import ServiceDiscovery
@testable import Threadkeeper

@Suite("What the status page is given, and whether there is one") struct PageFactsTests {
  private let store: TemporaryStore
  private let clock = ManualClock(microseconds: 1_000_000_000)
  private let bridge: Bridge
  private var settings: Settings

  init() throws {
    store = try TemporaryStore { $0.auditor = "a test" }
    settings = MovedStore.settings(store)
    bridge = try Bridge(
      BridgeConfiguration(settings, version: threadkeeperVersion),
      connection: MosquittoConfiguration(host: "127.0.0.1", clientID: "test"), clientID: "test",
      store: SealedRecords(store.keychain), clock: clock, logger: Logger(label: "test"))
  }

  private func context(_ settings: Settings, _ logger: Logger = Logger(label: "test")) -> OperationContext {
    OperationContext(settings, bridge: bridge, logger: logger)
  }

  private struct Shown: Decodable {
    struct Part: Decodable {
      var name: String
      var state: String
      var text: String
    }

    var health: [Part]
  }

  @Test("While the store fails the page's health says why, and its lists are as they were") func failingStore()
    async throws
  {
    let facts = PageFacts(context(settings))
    let agent = try #require(BorderAgentID(hex: String(repeating: "a", count: 32)))
    try bridge.loop.see(Sightings([try #require(Advertisement([agent]))]))
    func lists(_ state: [UInt8]) throws -> NSDictionary {
      let all = try #require(try JSONSerialization.jsonObject(with: Data(state)) as? [String: Any])
      return all.filter { ["homes", "alerts", "consents"].contains($0.key) } as NSDictionary
    }
    let first = try #require(await facts.state())
    let before = try lists(first)
    #expect(before.count == 3 && "\(before)".contains("aaaaaaaa"))
    bridge.monitor.storeFailed("the disk is full", at: clock.now(), inBatch: false)
    let state = try #require(await facts.state())
    let text = String(decoding: state, as: UTF8.self)
    #expect(try lists(state) == before)
    let stores = try JSONDecoder().decode(Shown.self, from: Data(state)).health.filter { $0.name == "store" }
    #expect(stores.map(\.state) == ["bad"] && stores.first?.text == "the disk is full", "\(text)")
    #expect(MetricsText.encode(await facts.metrics()).contains("threadkeeper_store_writable 0\n"))
  }

  @Test(
    "Where other machines reach it and no token can be read there is no page, and status says why",
    arguments: ["0.0.0.0", "::", "192.0.2.1"]) func noToken(address: String)
  {
    var settings = settings
    settings.http.address = address
    let log = RecordingLog()
    func server(_ settings: Settings) -> PageServer? { PageServer(context(settings, log.logger)) }
    #expect(server(settings) == nil)
    #expect(log.lines.contains { $0.contains("its token cannot be read") })
    let page = DaemonStatus.Page(settings.http, besideStore: "/store", nil)
    #expect(page.state == .unavailable && page.remedy?.contains("/store.http-token") == true)
    settings.http.token = SecretText("0123456789abcdef")
    #expect(server(settings) != nil)
    settings.http.isEnabled = false
    #expect(DaemonStatus.Page(settings.http, besideStore: "/store", nil).state == .off)
  }

  @Test("On loopback there is no page either where there is a token that cannot be read") func unreadableToken() {
    var settings = settings
    settings.http.isTokenUnreadable = true
    let log = RecordingLog()
    #expect(PageServer(context(settings, log.logger)) == nil)
    #expect(log.lines.contains { $0.contains("its token cannot be read") })
    #expect(DaemonStatus.Page(settings.http, besideStore: "/store", nil).state == .unavailable)
  }

  @Test(
    "An advertised router is seen now while the daemon looks for routers; else its time counts",
    arguments: [DiscoveryState.off, .starting, .unavailable(message: "no mDNS", remedy: "Start it.")]) func seen(
      state: DiscoveryState
    ) async throws
  {
    let agent = try #require(BorderAgentID(hex: String(repeating: "a", count: 32)))
    let seen = try #require(Advertisement([agent]))
    try bridge.loop.see(Sightings([seen]))
    clock.advance(seconds: 1)
    var facts = PageFacts(context(settings))
    let shown = #""seen":"1970-01-01T00:16:00Z""#
    let sample = #"border_agent_id="\#(agent)"} 1000"# + "\n"
    for (discovery, isNow) in [(.running(routers: 1, unlisted: []), true), (state, false)] {
      facts.discovery = discovery
      let text = String(decoding: try #require(await facts.state()), as: UTF8.self)
      #expect(text.contains("\(agent)") && text.contains(shown) == !isNow, "\(text)")
      let metrics = MetricsText.encode(await facts.metrics())
      #expect(metrics.contains("\(agent)") && metrics.contains(sample) == !isNow, "\(metrics)")
    }
  }

  @Test("Records that are not listed are named in the health of the daemon, the first ones with the reason")
  func unlisted() {
    let records = (1...12).map { UnlistedRecord(name: "R\($0)\u{1B}", reason: "`id` is missing") }
    let part = PageState.Part(.running(routers: 1, unlisted: records))
    #expect(part.text.hasPrefix(#"1 border router can be seen; "R1\u{1b}" is not listed: `id` is missing; "R2"#))
    #expect(part.text.hasSuffix("; 2 more are not listed") && part.state == "ok")
  }

  @Test("Who is in the daemon's group gets the link, and its token counts at once") func open() throws {
    var context = context(settings)
    #expect(OpenPage(replacing: false).access == .reader)
    #expect(throws: CommandFailure.self) { try OpenPage(replacing: false).perform(context) }
    let page = try #require(PageServer(context))
    context.page = page
    #expect(page.token == nil)
    let made = try OpenPage(replacing: false).perform(context)
    let token = try #require(page.token)
    #expect(made.made && made.link == "http://127.0.0.1:8423/?token=\(token)")
    #expect(try String(contentsOfFile: made.file, encoding: .utf8) == "\(token)\n")
    let again = try OpenPage(replacing: false).perform(context)
    #expect(!again.made && again.link == made.link)
    let code = try MakePageCode().perform(context)
    #expect(MakePageCode().access == .reader && code.minutes == 10 && code.address == "http://127.0.0.1:8423/")
    #expect(code.code.utf8.count == 8 && code.shownCode == "\(code.code.prefix(4)) \(code.code.suffix(4))")
    #expect(page.token.map { made.link.hasSuffix($0) } == true)
    let other = try OpenPage(replacing: true).perform(context)
    #expect(other.made && other.link != made.link && other.link.hasSuffix(page.token ?? "-"))
  }

  @Test("A code needs a page, makes the token where there is none, and is in no log") func code() throws {
    let log = RecordingLog()
    var context = context(settings, log.logger)
    #expect(throws: CommandFailure.self) { try MakePageCode().perform(context) }
    let page = try #require(PageServer(context))
    context.page = page
    let codes = try (1...3).map { _ in try MakePageCode().perform(context).code }
    #expect(Set(codes).count > 1 && page.token != nil)
    #expect(log.lines.contains { $0.contains("can be opened by a code") })
    for code in codes { #expect(!log.lines.contains { $0.contains(code) }) }
  }

  @Test("A link names the address on loopback, also where a proxy has a name, and else the name") func links() {
    var http = settings.http
    http.names = ["keeper.home.arpa"]
    for (address, host) in [
      ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("0.0.0.0", "keeper.home.arpa"), ("192.0.2.1", "keeper.home.arpa"),
    ] {
      http.address = address
      #expect(PageToken.link(http, token: "t") == "http://\(host):8423/?token=t")
    }
    http.names = []
    for (address, own, host) in [
      ("0.0.0.0", "192.168.1.5", "192.168.1.5"), ("::", "2001:db8::5", "[2001:db8::5]"), ("0.0.0.0", nil, "127.0.0.1"),
      ("192.0.2.1", "192.168.1.5", "192.0.2.1"),
    ] {
      http.address = address
      #expect(PageToken.address(http, own: { own }) == "http://\(host):8423/")
    }
  }

  @Test("Devices of Home Assistant link to the page where other machines open it themselves") func linkOfDevices() {
    var http = settings.http
    (http.isEnabled, http.names) = (true, [])
    for (address, own, link) in [
      ("127.0.0.1", "192.168.1.5", nil), ("0.0.0.0", nil, nil), ("0.0.0.0", "192.168.1.5", "http://192.168.1.5:8423/"),
    ] {
      http.address = address
      #expect(PageToken.addressInHome(http, own: { own }) == link)
    }
    http.names = ["keeper.home.arpa"]
    #expect(PageToken.addressInHome(http) == "http://keeper.home.arpa:8423/")
    http.trustedProxy = "192.168.1.9"
    #expect(PageToken.addressInHome(http) == nil)
    http.trustedProxy = nil
    http.isEnabled = false
    #expect(PageToken.addressInHome(http) == nil)
  }

  @Test("Who prefers a network is answered whether its credentials are here") func prefers() throws {
    let context = context(settings)
    let (home, guest) = (SampleNetwork.home, SampleNetwork.guest.extendedPANID)
    let dataset = try home.dataset(at: 1).hex
    try context.receive("announce", [#"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"\#(dataset)"}"#])
    var seen = try #require(Advertisement([BorderAgentID(high: 9, low: 0)]))
    seen.network = ExtendedPANID(hex: guest)
    try bridge.loop.see(Sightings([seen]))
    let chosen = "The network is the preferred one now."
    for (network, answer) in [
      (guest, "\(chosen) Its credentials are not here."),
      (home.extendedPANID, "\(chosen) Its keys are those of a1b2c3d4e5f60718."),
      (home.extendedPANID, "That is the preferred network already."),
    ] {
      let change = PageChange.prefer(home: "home", network: network)
      #expect(try PageChanges(context: context).make(change).message == answer)
    }
  }

  @Test("A code that looks mistyped is tried only after a question, and never repeated") func joins() throws {
    var ofFleet = settings
    ofFleet.store.url = SecretText("postgresql://a")
    let page = PageChanges(context: context(ofFleet))
    func refusal(_ code: String, anyway: Bool) throws -> PageRefusal {
      try #require(#expect(throws: PageRefusal.self) { try page.make(.join(code: code, router: nil, anyway: anyway)) })
    }
    let mistyped = try refusal("123 456 789", anyway: false)
    #expect(mistyped.choices == [.init("Try it all the same", anyway: true)])
    #expect(try refusal("123 456 789", anyway: true).message.hasPrefix("the daemon of a fleet"))
    #expect(try refusal("12345678", anyway: false).message == JoinNetwork.noCode.message)
    #expect(!"\(mistyped)".contains("456"))
  }

  @Test("A recovery code opens nothing until its third group was typed, and then everything") func recoveryCode()
    async throws
  {
    let log = RecordingLog()
    let facts = PageFacts(context(settings, log.logger))
    func kinds() throws -> [KeySlot.Kind] { try store.keychain.slots().map(\.kind) }
    func code() async throws -> String {
      let made = try await facts.make(.makeRecoveryCode)
      #expect(made.confirmation == .recoveryCode && !made.message.contains(made.code ?? ""))
      return try #require(made.code)
    }
    func group(_ code: String) -> Substring { code.split(separator: "-")[2] }
    func confirm(_ group: some StringProtocol) async throws -> PageOutcome {
      try await facts.make(.confirmRecoveryCode(group: String(group)))
    }
    await #expect(throws: PageRefusal.self, "none was shown") { try await confirm("AAAAA") }
    let former = try await code()
    let shown = try await code()
    let state = try #require(await facts.state())
    for wrong in ["", "AAAA", String(group(former)), String(shown.prefix(5)), shown] {
      await #expect(throws: PageRefusal.self) { try await confirm(wrong) }
    }
    #expect(try kinds() == [.keyFile])
    #expect(try await confirm(" \(group(shown).lowercased())") == "The recovery code opens the store now.")
    await #expect(throws: PageRefusal.self, "once") { try await confirm(group(shown)) }
    #expect(try kinds() == [.keyFile, .recoveryCode])
    #expect(try store.keychain.slotsOpened(by: .recoveryCode(RecoveryCode(typed: shown.utf8))).count == 1)
    #expect(bridge.loop.homes.home("home")?.hasRecoveryCode == true)
    var audit = ""
    try SealedRecords(store.keychain).forEachAuditRecord(after: 0, limit: 100) { audit += "\($0)\n" }
    #expect(audit.contains("the status page"))
    for text in [String(decoding: state, as: UTF8.self), log.lines.joined(), audit] {
      #expect(!text.contains(shown) && !text.contains(group(shown)))
    }
  }

  @Test("A recovery code that nobody confirms is dropped after its time") func forgottenCode() async throws {
    let page = PageChanges(context: context(settings), codeTime: 0.01)
    let code = try #require(try page.make(.makeRecoveryCode).code)
    func refusal(_ group: String) -> String? {
      #expect(throws: PageRefusal.self) { try page.make(.confirmRecoveryCode(group: group)) }?.message
    }
    try await eventually("it is dropped") { refusal("")?.hasPrefix("No recovery code waits") == true }
    #expect(refusal(String(code.split(separator: "-")[2]))?.hasPrefix("No recovery code waits") == true)
    #expect(try store.keychain.slots().map(\.kind) == [.keyFile])
  }

  @Test("Where parts of the store are locked no recovery code is shown, and the command is named") func lockedStore()
    throws
  {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let store = try TemporaryStore(
      options: options, slots: [.passphrase(SecretBytes(copying: Array("correct horse battery".utf8)))])
    try store.reopen()
    let page = PageChanges(context: try OperationContext(store))
    let refusal = #expect(throws: PageRefusal.self) { try page.make(.makeRecoveryCode) }
    #expect(refusal?.remedy?.contains("`threadkeeper keys add --recovery-code`") == true)
  }

  @Test("Between different keys nothing is chosen; in a dispute the current ones can be kept") func keepsKeys() throws {
    let context = context(settings)
    let page = PageChanges(context: context)
    let home = SampleNetwork.home
    func announce(_ agent: String, _ dataset: OperationalDataset) throws {
      try context.receive("announce", [#"{"border_agent_id":"\#(agent)","dataset":"\#(dataset.hex)"}"#])
    }
    func keep() throws -> PageOutcome {
      let since = try context.home(named: "home").home.preferred?.changedAt.description ?? ""
      return try page.make(.keepKeys(home: "home", since: since))
    }
    for agent in ["a1b2c3d4e5f60717", "a1b2c3d4e5f60718"] { try announce(agent, try home.dataset(at: 1)) }
    #expect(throws: PageRefusal.self) { try keep() }
    let key = try #require(NetworkKey(bytes: [UInt8](repeating: 7, count: 16)))
    try announce("a1b2c3d4e5f60718", try home.dataset(at: 2).replacing(.networkKey(key)))
    clock.advance(seconds: 31)
    try bridge.loop.tick(Link())
    #expect(throws: PageRefusal.self) { try page.make(.prefer(home: "home", network: home.extendedPANID)) }
    #expect(throws: PageRefusal.self, "others than the person has seen") {
      try page.make(.keepKeys(home: "home", since: "2026-01-01T00:00:00Z"))
    }
    #expect(try keep() == "The preferred network keeps its keys.")
    #expect(throws: PageRefusal.self) { try keep() }
  }
}

@Suite("A home on the status page") struct PageStateTests {
  /// A router on each of three networks, of which `home` is preferred and `guest-thread` was only seen, and one
  /// without.
  private func sample() throws -> SampleHome {
    var sample = SampleHome()
    try sample.publish(.announce, 2, on: .home) { $0.vendor = "Acme" }
    try sample.publish(.announce, 1, on: SampleNetwork.home.with(other))
    try sample.publish(.announce, 4, on: .home)
    try sample.publish(.announce, 3)
    try sample.publish(.offline, 3) { $0.offlineReason = .frozen }
    try sample.publish(.leave, 4)
    try sample.see(9, on: .guest)
    sample.tick(after: 31)
    return sample
  }

  private func other(_ network: inout SampleNetwork) {
    (network.extendedPANID, network.name) = ("5555555566666666", "other")
  }

  private func state(
    _ sample: SampleHome, _ discovery: DiscoveryState = .running(routers: 0, unlisted: []),
    on machine: MachineNetwork? = nil, recent: RecentEvents = RecentEvents()
  ) throws -> PageState {
    try PageState(
      HomeSnapshot(homes: ["home": sample.home]), Settings(stateDirectory: "/dev/null"), health: [], recent: recent,
      discovery: discovery, machine: machine, at: sample.now)
  }

  private static let unavailable = DiscoveryState.unavailable(message: "No mDNS.", remedy: "Start it.")

  private func shown(_ sample: SampleHome) throws -> PageState.Home { try #require(try state(sample).homes.first) }

  private func remedy(_ name: String, of state: PageState) throws -> String {
    let home = try #require(state.homes.first)
    return try #require(home.steps.first { $0.name == name }?.remedy)
  }

  @Test(
    "The step to the key names a code, unless no border router is looked for, and never a command",
    arguments: [DiscoveryState.off, .starting, .running(routers: 0, unlisted: []), unavailable]) func key(
      discovery: DiscoveryState
    ) throws
  {
    let remedy = try remedy("key", of: state(SampleHome(), discovery))
    let isOff = discovery.state == .off
    #expect(remedy.contains("code") != isOff && remedy.contains("phone") == isOff && !remedy.contains("`"))
  }

  @Test("While no border router is found its step says what is wrong with the search, by name") func noneFound() throws
  {
    func interface(_ name: String, _ address: [UInt8]?, filters: Bool = false) -> MachineNetwork.Interface {
      .init(name: name, addresses: address.map { [.init(bytes: $0, length: 24)] } ?? [], filtersMulticast: filters)
    }
    func machine(_ interfaces: MachineNetwork.Interface...) -> MachineNetwork {
      var machine = MachineNetwork()
      machine.interfaces = interfaces
      return machine
    }
    let (link, six) = (interface("eth0", [192, 0, 2, 5]), interface("wlan0", [UInt8](repeating: 0xFE, count: 16)))
    let none = DiscoveryState.running(routers: 0, unlisted: [])
    var reported = none
    reported.reporter = "ha"
    for (discovery, machine, cause) in [
      (.off, nil, "`discovery.mdns` is `off`"), (.starting, nil, "only begun"),
      (Self.unavailable, machine(link), "No mDNS. Start it."),
      (.running(routers: 0, unlisted: [UnlistedRecord(name: "R", reason: "`id` is missing")]), machine(link), "`id`"),
      (reported, machine(link), "agent of ha"), (none, nil, "on this machine's network."),
      (none, machine(interface("eth0", nil)), "none of its interfaces has an address"),
      (none, machine(link, six), "on eth0 (192.0.2.5), wlan0."),
      (none, machine(interface("br0", [192, 0, 2, 5], filters: true)), "The bridge br0"),
    ] as [(DiscoveryState, MachineNetwork?, String)] {
      let remedy = try remedy("routers", of: state(SampleHome(), discovery, on: machine))
      #expect(remedy.contains(cause), "\(remedy)")
    }
  }

  @Test("Only the first home shows what is wrong with the search") func otherHome() throws {
    var settings = Settings(stateDirectory: "/dev/null")
    settings.homes = ["first", "second"].map { .init(name: $0, base: $0) }
    let sample = SampleHome()
    let state = try PageState(
      HomeSnapshot(homes: ["first": sample.home, "second": sample.home]), settings, health: [], recent: RecentEvents(),
      discovery: Self.unavailable, at: sample.now)
    let remedies = state.homes.map { $0.steps.first?.remedy ?? "" }
    #expect(remedies.map { $0.contains("No mDNS.") } == [true, false] && remedies[1].contains("first home"))
  }

  @Test("A step that is done has one fact, and the next one asks for what is there") func facts() throws {
    var sample = SampleHome()
    func facts() throws -> [String?] { try shown(sample).steps.map(\.fact) }
    #expect(try facts() == [nil, nil, nil, nil])
    #expect(try remedy("preferred", of: state(sample)).contains("No network is known yet"))
    try sample.see(9, on: .guest)
    #expect(try facts() == ["1 found", nil, nil, nil])
    #expect(try remedy("preferred", of: state(sample)) == "Is this your network?")
    try sample.share(.home)
    sample.request(.forgetPreferred)
    #expect(try remedy("preferred", of: state(sample)) == "Which of these is your network?")
    let guest = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
    sample.handle(.acceptNetwork(guest, isAccepted: true))
    #expect(try remedy("preferred", of: state(sample)) == "Is this your network?", "what is accepted is another's")
    sample.handle(.acceptNetwork(guest, isAccepted: false))
    sample.request(.setPreferred(.network(guest, router: nil)))
    sample.handle(.confirmAlerts(true))
    sample.handle(.recoveryCode(true))
    #expect(try facts() == ["1 found", "guest-thread", nil, "confirmed", "made"])
    #expect(try shown(sample).keyRead == nil, "its key is not here")
  }

  @Test("A home with a key says when it was read, how old the backup is, and what a Matter server has")
  func safeguards() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home)
    #expect(try shown(sample).keyRead == "2023-11-14T22:13:00Z" && shown(sample).matterServer == nil)
    #expect(try state(sample).backup == nil)
    let state = try PageState(
      HomeSnapshot(homes: ["home": sample.home]), Settings(stateDirectory: "/dev/null"), health: [],
      recent: RecentEvents(), discovery: .off, backup: WireTime(milliseconds: 1_700_000_000_000), at: sample.now)
    #expect(state.backup == "2023-11-14T22:13:00Z")
    let (lacks, away) = ("it lacks the home's network", "it cannot be reached")
    for (kind, trouble, text) in [
      (.offline, away, away), (.heartbeat, lacks, lacks), (.heartbeat, nil, "has the key"), (.offline, away, away),
    ] as [(RouterMessage.Kind, String?, String)] {
      sample.now = sample.now.adding(seconds: 1)
      var message = RouterMessage(kind, .agent("matter_server ws://127.0.0.1:5580"))
      message.trouble = trouble
      sample.handle(.message(message, from: "matter"))
      #expect(try shown(sample).matterServer == text)
    }
    sample.tick(after: 200)
    #expect(try shown(sample).matterServer == "its agent reports nothing any more", "what it reported last is old")
  }

  @Test("The preferred network comes first, and routers without a network last") func order() throws {
    let home = try shown(try sample())
    #expect(home.networks.map(\.name) == ["home", "guest-thread", "other", ""])
    #expect(home.networks.map(\.preferable) == [true, true, true, false])
    #expect(home.networks.map { $0.routers.map { $0.seen == nil } } == [[false], [true], [false], [false]])
    let guest = try #require(home.networks[1].routers.first)
    #expect(guest.onlySeen && guest.omr == "fd97:ff26:5534:1::/64" && guest.sharesByCode)
    #expect(guest.firstSeen == "2023-11-14T22:13:00Z" && guest.address == nil)
    #expect(!home.undecided && home.more == 0)
    #expect(home.networks.allSatisfy { $0.credentials })
  }

  @Test("A network that was accepted before it is preferred is shown as the preferred one only") func acceptedBefore()
    throws
  {
    var sample = try sample()
    let id = try #require(ExtendedPANID(hex: SampleNetwork.home.extendedPANID))
    sample.handle(.acceptNetwork(id, isAccepted: true))
    let network = try #require(try shown(sample).networks.first)
    #expect(network.preferred && !network.accepted)
  }

  @Test("Networks and routers that have a name of others are marked") func alike() throws {
    var sample = try sample()
    try sample.share(SampleNetwork.home.with { ($0.extendedPANID, $0.name) = ("7777777788888888", "other") })
    try sample.publish(.announce, 2, on: .home) { $0.name = "Attic" }
    try sample.publish(.announce, 3) { $0.name = "Attic" }
    let networks = try shown(sample).networks
    #expect(networks.filter(\.isAlike).map(\.name) == ["other", "other"])
    #expect(networks.flatMap(\.routers).filter(\.isAlike).map(\.name) == ["Attic", "Attic"])
  }

  @Test("A router has its last 30 days, of each six hours the worst") func past() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home)
    sample.tick(after: 24 * 3_600)
    try sample.publish(.offline, 1)
    sample.tick(after: 2 * 3_600)
    try sample.publish(.announce, 1, on: .home)
    let router = try #require(try shown(sample).networks[0].routers.first)
    #expect(router.past.map(\.hours).reduce(0, +) == 720)
    #expect(router.past.map(\.state).suffix(2) == ["online", "away"])
    #expect(router.pastTotals.map(\.text) == ["online 24 hours", "away 3 hours", "unknown 28 days"])
    #expect(router.pastTotals.map(\.state) == ["online", "away", "unknown"])
  }

  @Test("An alert that has ended says when it began, and which router it was about") func ended() throws {
    let (agent, sample) = (SampleHome.agent(9), SampleHome())
    var recent = RecentEvents()
    recent.add([
      .init(at: sample.now, severity: "info", text: "A", since: sample.now.adding(seconds: -60), router: agent)
    ])
    recent.add([.init(at: sample.now, severity: "info", text: "B", since: sample.now)])
    recent.add([.init(at: sample.now, severity: "info", text: "C")])
    let ended = try state(sample, recent: recent).ended
    #expect(ended.map(\.text) == ["B", "A"] && ended.map(\.router) == [nil, "\(agent)"])
    #expect(ended.last?.since == "2023-11-14T22:12:20Z")
  }

  @Test("A router that was seen has its address, without the port") func address() throws {
    var sample = SampleHome()
    var seen = try #require(Advertisement([SampleHome.agent(9)]))
    (seen.endpoint, seen.threadVersion) = ("fd00::9, 49152", "1.4.0")
    sample.handle(.sightings(Sightings([seen])))
    let router = try #require(try shown(sample).networks.last?.routers.first)
    #expect(router.address == "fd00::9" && router.version == "1.4.0")
  }

  @Test("A router that a person has named says what it calls itself") func named() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home) { $0.name = "hub" }
    func router() throws -> PageState.Router { try #require(try shown(sample).networks[0].routers.first) }
    #expect(try router().name == "hub" && router().ownName == nil)
    let agent = try #require(sample.home.routers.first { _ in true }?.agent)
    sample.handle(.renameRouter(agent, "Attic"))
    #expect(try router().name == "Attic" && router().ownName == "hub")
  }

  @Test("A router has its remarks and its worst alert; what an alert says is no remark") func remarks() throws {
    var held = SampleHome()
    try held.publish(.announce, 2, on: .home)
    try held.publish(.announce, 1, on: SampleNetwork.home.with(other))
    try held.publish(.announce, 3)
    try held.publish(.offline, 3) { $0.offlineReason = .frozen }
    #expect(try state(held).alerts.allSatisfy { $0.router == nil })
    #expect(
      try shown(held).networks.flatMap(\.routers).map(\.notes) == [
        [], ["not on the preferred network"], ["does not answer"],
      ])
    let home = try shown(try sample())
    #expect(home.networks[0].routers[0].notes == [] && home.networks[0].routers[0].fault == nil)
    #expect(home.networks[0].routers[0].make == "Acme")
    #expect(home.networks[2].routers[0].notes == [] && home.networks[2].routers[0].fault == "warning")
    #expect(home.networks[3].routers[0].notes == [])
    #expect(home.networks[3].routers[0].fault == "warning")
  }

  @Test("A router that was read says when, and what its network changes to, and can be read again while it is there")
  func read() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home)
    try sample.see(9, on: .home)
    func router() throws -> PageState.Router { try #require(try shown(sample).networks[0].routers.last) }
    #expect(try !router().isReadable && router().read == nil)
    try sample.read(9, on: .home, pending: SampleNetwork.home.with { $0.channel = 25 })
    #expect(try router().isReadable && router().read == "2023-11-14T22:13:00Z" && router().notes.isEmpty)
    #expect(try router().pending?.what == "to channel 25" && router().pending?.at == "2023-11-14T22:14:18Z")
    sample.handle(.sightings(Sightings([])))
    #expect(try !router().isReadable && router().read != nil)
  }

  @Test("A router is offered to be forgotten once it has an alert of its own, not in a power cut") func isGone() throws
  {
    var sample = SampleHome()
    for agent: UInt64 in 1...2 { try sample.publish(.announce, agent, on: .home) }
    func areGone() throws -> [Bool] { try shown(sample).networks[0].routers.map(\.isGone) }
    try sample.publish(.offline, 1)
    #expect(try areGone() == [false, false])
    sample.tick(after: 121)
    #expect(try areGone() == [true, false])
    try sample.publish(.offline, 2)
    sample.tick(after: 31)
    #expect(try state(sample).alerts.filter { $0.severity == "warning" }.map(\.name) == ["HomeOffline"])
    #expect(try areGone() == [false, false])
  }

  @Test("The headline's alert comes first: the worst, and of the same severity what is about several routers")
  func worst() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1)
    for agent: UInt64 in 2...3 { try sample.publish(.announce, agent, on: .home) }
    sample.tick(after: 31)
    for agent: UInt64 in 1...3 { try sample.publish(.offline, agent) }
    sample.tick(after: 31)
    #expect(try state(sample).alerts.map(\.name) == ["HomeOffline", "CredentialsMissing", "PlaintextCredentials"])
  }

  @Test("On the page a remedy names the app of the router's maker") func maker() throws {
    var sample = try sample()
    try sample.publish(.announce, 1, on: SampleNetwork.home.with(other)) { $0.vendor = "Google LLC" }
    let remedies = try state(sample).alerts.filter { $0.name == "PreferredNetworkMismatch" }.map(\.remedy)
    #expect(remedies.contains { $0.contains("in the Google Home app, if that offers it") }, "\(remedies)")
  }

  @Test("A home without a preferred network whose routers are on several is undecided") func undecided() throws {
    var sample = try sample()
    sample.request(.forgetPreferred)
    #expect(try shown(sample).undecided)
    // By its Extended PAN ID alone.
    let guest = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
    sample.request(.setPreferred(.network(guest, router: nil)))
    let home = try shown(sample)
    #expect(!home.undecided && home.networks[0].name == "guest-thread")
    #expect(home.networks[0].credentials == false)
  }

  @Test("A network that is only shared is shown as such, and can be preferred") func shared() throws {
    var sample = try sample()
    try sample.share(SampleNetwork.guest)
    try sample.share(SampleNetwork.home.with { ($0.extendedPANID, $0.name) = ("7777777788888888", "attic") })
    let home = try shown(sample)
    #expect(home.networks.map(\.name) == ["home", "attic", "guest-thread", "other", ""])
    #expect(home.networks.map { $0.sharedBy.map(\.name) } == [[], ["the login ha"], ["the login ha"], [], []])
    #expect(home.networks[1].sharedBy.allSatisfy { $0.read.hasSuffix(":00Z") }, "to the minute")
    #expect(home.networks[1].preferable && home.networks[1].routers.isEmpty)
    sample.request(.forgetPreferred)
    #expect(try shown(sample).undecided)
    var alone = SampleHome()
    try alone.publish(.announce, 2, on: .home)
    try alone.share(SampleNetwork.guest)
    alone.request(.forgetPreferred)
    #expect(try !shown(alone).undecided, "routers are on one network only")
  }

  @Test("A question about credentials that somebody offers is marked") func offers() throws {
    var sample = SampleHome()
    try sample.see(9, on: .guest)
    let guest = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
    sample.request(.setPreferred(.network(guest, router: nil)))
    try sample.share(SampleNetwork.guest)
    let state = try state(sample)
    #expect(state.consents.map(\.offers) == [true] && state.consents.map(\.change) == [nil])
    #expect(state.consents.first?.reason.contains("Use them?") == true)
    #expect(state.consents.first?.networks == ["guest-thread"])
    let network = try #require(state.homes.first?.networks.first)
    #expect(network.preferred && !network.credentials)
    #expect(network.sharedBy.map(\.name) == ["the login ha"])
  }

  @Test("A change of a store has a button of its own") func storeChange() {
    let network = ConsentNetwork(
      id: ExtendedPANID(number: 2), name: ExactName("attic"), team: ExactName("ha"), key: nil)
    for (command, label) in [(ConsentSubject.Command.deleteThere, "Delete it there"), (.agentThere, "Prefer it there")]
    {
      let question = ConsentQuestion(
        id: ConsentID(1), requester: Requester(.login(ExactName("ha")), team: ExactName("ha")),
        subject: ConsentSubject(command, [network]), createdAt: WireTime(milliseconds: 0),
        expiresAt: WireTime(milliseconds: 120_000), replies: [], keyHasChanged: false)
      let shown = PageState.Consent(question, home: nil) { _ in false }
      #expect(shown.change == label && !shown.offers && shown.networks == ["attic"])
    }
  }

  @Test("More routers than can be drawn are counted, and monitoring keeps fewer still") func tooMany() throws {
    var sample = SampleHome()
    for agent in 1...UInt64(PageState.routersShown) + 2 { try sample.publish(.announce, agent, on: .home) }
    let home = try shown(sample)
    #expect(home.networks[0].routers.count == PageState.routersShown && home.more == 2)
    let seen = HomeMetrics([("home", sample.home)], now: nil).all.first {
      $0.name == "threadkeeper_router_last_seen_timestamp_seconds"
    }
    #expect(seen?.samples.count == HomeMetrics.routersListed)
  }

  @Test("A router is new that joined the preferred network and was not there before") func isNew() throws {
    var sample = SampleHome()
    try sample.publish(.announce, 1, on: .home)
    sample.now = sample.now.adding(seconds: 1)
    sample.handle(.sightings(.init([])))
    sample.now = sample.now.adding(seconds: 4_000)
    try sample.see(9, on: .home)
    #expect(try shown(sample).networks[0].routers.map(\.isNew) == [false, true])
  }
}
