import ArgumentParser
import Bridge
import Broker
import DaemonTestKit
import Home
import HomeStore
import LocalAPI
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Threadkeeper

/// What the daemon answers on its socket and gives its page, and what commands print as JSON, in files.
@Suite("Bytes of the local API, the page and of JSON for scripts") struct WireBytesTests {
  private static let routers = (1...9).map { "a1b2c3d4e5f6070\($0)" }
  private static let (home, guest) = (SampleNetwork.home, SampleNetwork.guest)

  /// A home with routers in all conditions, at the machine's time, which lists and questions are of.
  private func scene(_ store: TemporaryStore? = nil) throws -> CommandScene {
    let scene = try CommandScene(store: store)
    let ahead = SystemClock().now().milliseconds - scene.clock.now().milliseconds
    scene.clock.jump(seconds: Int(ahead / 1_000))
    // No hour ends while it lasts: each would be one more of a router's past.
    if scene.clock.now().milliseconds % 3_600_000 > 3_590_000 { scene.clock.jump(seconds: -10) }
    let hex = try Self.home.dataset(at: 2).hex
    try scene.publish(
      "announce",
      #""border_agent_id":"\#(Self.routers[0])","name":"Hub \"1\"","vendor":"Maker","model":"M1","#
        + #""dataset":"\#(hex)","thread_state":"leader","partition_id":7,"access_point":"ap","#
        + #""ext_pan_id":"\#(Self.home.extendedPANID)""#, by: "hub")
    try scene.announce(Self.routers[1], "Stray", on: Self.guest, by: "other")
    for (agent, reason) in zip(
      Self.routers[2...], ["stopped", "unreachable", "frozen", "untrusted", "no_network", "failing"])
    {
      try scene.announce(agent, "Is \(reason)", on: Self.home)
      try scene.publish("offline", #""border_agent_id":"\#(agent)","reason":"\#(reason)","http_status":500"#, by: "hub")
    }
    let partial = try Self.home.dataset(at: 1).removing(.networkName).hex
    try scene.publish(
      "announce", #""border_agent_id":"\#(Self.routers[8])","dataset":"\#(partial)","thread_state":"detached""#,
      by: "hub")
    try scene.publish(
      "credentials", #""dataset":"\#(try Self.guest.dataset(at: 3).hex)","name":"Home Assistant","preferred":true"#,
      by: "ha")
    return scene
  }

  /// A program's question; its id.
  @discardableResult private func ask(_ scene: CommandScene, _ team: ExactName = "tablet") throws -> String {
    let loop = scene.context.bridge.loop
    _ = scene.context.bridge.requests.answer(
      LocalRequest(ThreadRequest(.getPreferred), user: 4_711, team: team), by: loop, isOwnUser: false,
      at: scene.clock.now())
    return try #require(loop.homes.home("home")?.questions.last).id.questionText
  }

  // MARK: The socket

  /// Calls a method with parameters as JSON; the replies as they came.
  ///
  /// - Parameter isList: it takes several.
  private static func call(_ path: String, _ method: String, _ parameters: String, isList: Bool = false) async throws
    -> String
  {
    let connection = try RawConnection(path: path)
    let more = isList ? ",\"more\":true" : ""
    try await connection.send("{\"method\":\"\(method)\",\"parameters\":\(parameters)\(more)}\0")
    var replies = ""
    while true {
      let next = try await connection.read()
      replies += next
      let last = replies.split(separator: "\0").last ?? ""
      if next.isEmpty || replies.hasSuffix("\0") && !last.contains("\"continues\":true") { break }
    }
    return replies.split(separator: "\0").joined(separator: "\n  ")
  }

  private static let operations: [(String, String)] = [
    ("AcceptCredentials", #"{"home":"home"}"#),
    ("AcceptNetwork", #"{"home":"home","ext_pan_id":"\#(guest.extendedPANID)","accepted":true}"#),
    ("AcceptRouter", #"{"home":"home","border_agent_id":"\#(routers[1])"}"#),
    ("AddKeySlot", #"{"secret":{"kind":"passphrase","value":"short"}}"#),
    ("ApproveConsent", #"{"id":"c-1","scope":"once"}"#),
    ("AskConsent", #"{"home":"home","border_agent_id":"\#(routers[1])"}"#), ("BackupStore", "{}"),
    ("ConfirmAlerts", #"{"home":"home","confirmed":true}"#), ("DeleteLogin", #"{"broker":"mqtt://a:1883"}"#),
    ("DenyConsent", #"{"id":"c-1"}"#), ("EnrollClient", #"{"home":"home","user":"hub","line":"tk1:"}"#),
    ("FollowAudit", #"{"last":3,"until_now":true}"#), ("ForgetDamaged", #"{"home":"home"}"#),
    ("JoinNetwork", #"{"code":"916371366","anyway":false}"#), ("ListAlerts", #"{"all":true}"#), ("ListClients", "{}"),
    ("ListConsents", "{}"), ("ListCredentials", "{}"), ("ListDecisions", "{}"),
    ("ListFormerNetworks", #"{"home":"home"}"#), ("ListGrants", "{}"), ("ListKeySlots", "{}"), ("ListNetworks", "{}"),
    ("ListRouters", "{}"), ("MakePageCode", "{}"), ("OpenPage", #"{"replacing":false}"#),
    ("ReadRouter", #"{"border_agent_id":"\#(routers[0])"}"#), ("RemoveKeySlot", #"{"slot":9,"is_confirmed":false}"#),
    ("RemoveRouter", #"{"home":"home","border_agent_id":"\#(routers[2])"}"#),
    ("RenameRouter", #"{"home":"home","border_agent_id":"\#(routers[1])","name":"Attic"}"#),
    ("RevokeClient", #"{"home":"home","user":"nobody","forgets":false}"#), ("RevokeGrant", #"{"id":"g-1"}"#),
    ("RotateKeys", #"{"secrets":1}"#), ("ShareNetwork", #"{"home":"home","minutes":11}"#),
    ("ShowCredential", #"{"home":"home","border_agent_id":"\#(routers[0])","secret":true}"#),
    ("ShowPreferred", #"{"home":"home","secret":false}"#),
    ("ShowRouter", #"{"home":"home","border_agent_id":"\#(routers[1])"}"#),
    ("StoreLogin", #"{"broker":"mqtt://a:1883","username":"a"}"#), ("TestAlert", #"{"home":"home"}"#),
    ("VerifyAudit", "{}"), ("VerifyStore", "{}"), ("WatchConsents", "{}"),
  ]

  private static func requests() throws -> [(RequestCommand, String)] {
    let agent = #""border_agent_id":"\#(routers[0])""#
    let (network, other) = (#""ext_pan_id":"\#(home.extendedPANID)""#, #""ext_pan_id":"\#(guest.extendedPANID)""#)
    let dataset = #""dataset":"\#(try home.dataset(at: 3).hex)""#
    let asOwner = #""administrator":true"#
    return [
      (.isPreferredAvailable, ""), (.checkPreferred, dataset), (.checkPreferred, ""),
      (.storeCredentials, #""border_agent_id":"00000000000000ff",\#(dataset)"#),
      (.storeCredentials, #"\#(agent),"dataset":"00""#), (.getCredentials, agent),
      (.getCredentials, #""border_agent_id":"00000000000000ff""#), (.listCredentials, ""), (.listActiveCredentials, ""),
      (.shareCredentials, network), (.deleteCredentials, #""border_agent_id":"00000000000000ff""#), (.listRouters, ""),
      (.listNetworks, ""), (.listAlerts, #""home":"nowhere""#), (.listAlerts, ""), (.getPreferred, ""),
      (.getNetwork, other), (.nearbyNetworks, #""program":"a \"b\"""#), (.pendingConsents, asOwner),
      (.approveConsent, #""id":"c-00000000000000ff",\#(asOwner)"#), (.denyConsent, #""id":"x",\#(asOwner)"#),
      (.askConsent, "\(agent),\(asOwner)"), (.setPreferred, "\(other),\(asOwner)"),
      (.setPreferred, #"\#(other),"id":"p-current""#), (.forgetNetwork, "\(network),\(asOwner)"),
      (.forgetPreferred, asOwner),
    ]
  }

  /// Calls what a person has to agree to, and agrees, but to the last one.
  private static func decided(_ path: String, _ method: String, _ parameters: String, _ loop: HomeLoop, approves: Bool)
    async throws -> String
  {
    let known = Set(loop.homes.home("home")?.questions.map(\.id) ?? [])
    async let reply = call(path, method, parameters)
    var id: ConsentID?
    try await eventually("a question") {
      id = loop.homes.home("home")?.questions.first { !known.contains($0.id) }?.id
      return id != nil
    }
    let decision = approves ? "Approve" : "Deny"
    _ = try await call(
      path, "io.threadkeeper.Questions.\(decision)", #"{"id":"\#(try #require(id).questionText)","administrator":true}"#
    )
    return try await reply
  }

  /// Each call has a line with its method and parameters, and one with the reply.
  @Test("Replies to each method and to each operation") func replies() async throws {
    let scene = try scene()
    let (path, loop) = (LocalAPISocket.path(scene.context.settings), scene.context.bridge.loop)
    var text = ""
    func add(_ method: String, _ parameters: String, _ reply: String) {
      text += "\(method) \(parameters)\n  \(reply)\n"
    }
    for (method, parameters) in [
      ("org.varlink.service.GetInfo", "{}"), ("org.varlink.service.GetInterfaceDescription", #"{"interface":"x"}"#),
      ("io.threadkeeper.Status.Get", "{}"), ("io.threadkeeper.Status.Watch", "{}"),
      ("io.threadkeeper.Status.None", "{}"), ("io.threadkeeper.None.Get", "{}"),
      ("io.threadkeeper.Admin.Perform", #"{"operation":"None","parameters":{}}"#),
      ("io.threadkeeper.Admin.Perform", "{}"),
    ] { add(method, parameters, try await Self.call(path, method, parameters)) }
    for (name, parameters) in Self.operations {
      let call = #"{"operation":"\#(name)","parameters":\#(parameters)}"#
      let method = "io.threadkeeper.Admin.Perform"
      let isList = name.hasPrefix("List") || name == "FollowAudit"
      add(method, call, try await Self.call(path, method, call, isList: isList))
    }
    for (command, fields) in try Self.requests() {
      let method = try #require(RequestMethods.method(command)).fullName
      let parameters = "{\(fields)}"
      let reply =
        command.needsConsent
        ? try await Self.decided(path, method, parameters, loop, approves: command != .nearbyNetworks)
        : try await Self.call(path, method, parameters)
      add(method, parameters, reply)
    }
    for code in AnswerCode.allCases {
      let failure = AnswerFailure(code, field: "id", offset: 7, "why", help: "help").forCommand
      text += "\(String(decoding: VarlinkError(failure).encoded(), as: UTF8.self))\n"
    }
    let masked = scene.masked(text)
    try Golden.check(masked, "replies.txt")
    for endpoint in LocalAPISocket(scene.context).service.endpoints {
      #expect(masked.contains("\n\(endpoint.interface).\(endpoint.name) ") || masked.hasPrefix(endpoint.interface))
    }
    #expect(Self.operations.map(\.0) == Threadkeeper.operations.map { $0.name })
    let commands = Set(try Self.requests().map(\.0)).union([.ping, .testAlerts, .confirmAlerts])
    #expect(commands == Set(RequestCommand.allCases))
  }

  // MARK: The page

  @Test("What the page is given") func page() async throws {
    let scene = try scene()
    try ask(scene)
    let state = try #require(await PageFacts(scene.context).state())
    try Golden.check(scene.masked(String(decoding: state, as: UTF8.self) + "\n"), "page.txt")
  }

  // MARK: Commands

  /// Those that need a broker, change the machine, or make another thing each time.
  private static let others: Set<String> = [
    "client keygen", "client request", "doctor", "setup", "store backup", "store restore", "keys add", "keys remove",
    "keys rotate", "page code", "page token", "login", "networks join", "networks share", "routers read",
  ]

  @Test("What commands print as JSON") func json() async throws {
    let place = try MovedStore()
    try place.fill()
    let scene = try scene(place.store)
    let tablet = try ask(scene, "tablet")
    // Those of one moment have no order.
    scene.clock.advance(seconds: 1)
    let watch = try ask(scene, "watch")
    let grant = try #require(try ListGrants().perform(scene.context).grants.first).id
    let line = try Identity().keys.line
    let hex = try Self.home.dataset(at: 9).hex
    let file = try "@\(scene.put(hex, "home.hex"))"
    let short = try "@\(scene.put("0e", "short.hex"))"
    let guest = Self.guest.extendedPANID
    let values =
      "--network-key \(Self.home.networkKey) --pskc \(Self.home.pskc) --ext-pan-id \(guest)"
      + " --network-name home --pan-id 0x1234 --channel 15 --mesh-local-prefix fdad70bfe5aa15dd"
    try await scene.check(
      "json.txt",
      [
        "store verify", "store forget-damaged --yes", "keys list", "consent list", "consent list --grants",
        "consent approve \(tablet)", "consent deny \(watch)", "consent revoke \(grant)",
        "consent ask \(Self.routers[1])", "consent list --history",
        "clients enroll attic \(line) --trust signed --label Attic", "clients list", "clients revoke attic",
        "acl --daemon tk", "routers", "routers show \(Self.routers[1])", "routers accept \(Self.routers[1])",
        "routers rename \(Self.routers[1]) Attic", "routers remove \(Self.routers[8])", "networks",
        "networks accept \(guest)", "networks accept-credentials \(guest)", "networks forget \(guest)", "alerts test",
        "alerts confirm", "alerts --all", "credentials list", "credentials get \(Self.routers[0])",
        "credentials delete \(Self.routers[0])", "preferred show --history", "preferred check \(file)",
        "preferred set \(file)", "preferred forget", "audit --last 3", "dataset decode \(file)",
        "dataset decode \(short)", "dataset encode \(values)", "check-config", "status",
      ].map { "\($0) --json" })

    let all = try Golden.texts()
    func check(_ command: any ParsableCommand.Type, _ path: [String]) {
      let parts = command.configuration
      for one in parts.subcommands {
        // A default one has the words of those above it.
        let isDefault = one == parts.defaultSubcommand
        check(one, isDefault ? path : path + [one._commandName])
      }
      let words = path.joined(separator: " ")
      guard parts.subcommands.isEmpty, path.first != "fleet", !Self.others.contains(words),
        command.helpMessage().contains("--json")
      else { return }
      let isThere = all.split(separator: "\n").contains {
        $0.hasPrefix("$ threadkeeper \(words) ") && $0.contains(" --json")
      }
      #expect(isThere, "no file has the JSON of \(words)")
    }
    check(ThreadkeeperCommand.self, [])
  }
}
