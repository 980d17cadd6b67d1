import ArgumentParser
import Bridge
import Broker
import Home
import HomeStore
import LocalAPI
import ServiceDiscovery
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

/// `threadkeeper networks list`, which may be left out.
struct NetworksListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the Thread networks, the preferred one marked, and their border routers.",
    """
    Lists what the daemon has stored. With --scan it looks on the local network itself for that many \
    seconds, without a daemon, a store or settings; this needs avahi-daemon. Records that are not listed \
    are named on standard error, with the reason.

    PREFERRED is `yes` for the preferred network and `accepted` for one that `networks accept` names. \
    A router that cannot be reached now is marked `(offline)`. SHARED BY has the logins that are no border \
    routers and share credentials of the network, as the agent of Home Assistant does.

    Examples:
      threadkeeper networks
      threadkeeper networks --json
      threadkeeper networks --scan 5
    """)

  @Option(help: "Look on the local network for this many seconds instead, 1 to 60.") var scan: Int?
  @OptionGroup var options: CommandOptions

  func validate() throws {
    if let scan, !(1...60).contains(scan) { throw ValidationError("--scan takes whole seconds from 1 to 60") }
  }

  func run() async throws {
    if let scan {
      let (networks, unlisted) = try await NetworkScan(seconds: scan).run()
      try options.output.show(
        networks, text: NetworkListing.table(networks).text(none: "No border router was found.\n"))
      for record in unlisted { try StandardStream.error.write("\(record.sentence).\n") }
      return
    }
    try await options.show {
      NetworkListing.all(try await $0.list(ListNetworks()).rows, try await $0.list(ListRouters()).rows)
    } text: {
      NetworkListing.table($0).text(none: "No network is known yet.\n")
    }
  }
}

/// `threadkeeper networks`
struct NetworksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "networks", "List the Thread networks and their border routers, join, share, accept or forget a network.",
    subcommands: [
      NetworksListCommand.self, NetworksAcceptCommand.self, NetworksAcceptCredentialsCommand.self,
      NetworksForgetCommand.self, NetworksJoinCommand.self, NetworksShareCommand.self,
    ], defaultSubcommand: NetworksListCommand.self)
}

/// `threadkeeper networks accept`
struct NetworksAcceptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "accept", "Accept that border routers are on a network that is not the preferred one.",
    """
    Many homes have a speaker or a hub of another maker with a Thread network of its own. Its routers raise \
    PreferredNetworkMismatch until their network is accepted, and are not asked about then. A router of the \
    preferred network that moves there later raises it again, until you accept the network once more. Nothing \
    else changes.

    Examples:
      threadkeeper networks accept 1111111122222222
      threadkeeper networks accept 1111111122222222 --undo
    """)

  @Argument(help: "The Extended PAN ID: 16 hex digits.") var network: String
  @Flag(help: "Take it back: the alerts return.") var undo = false

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try AcceptNetwork(home: home.name($0), extPanId: network, accepted: !undo)
    } text: {
      text($0)
    }
  }

  private func text(_ report: AcceptNetwork.Reply) -> String {
    let name = report.extPanId
    let change =
      switch (undo, report.changed) {
      case (false, true): "\(name) is accepted.\n"
      case (false, false): "\(name) is accepted already.\n"
      case (true, true): "\(name) is not accepted any more.\n"
      case (true, false): "\(name) was not accepted.\n"
      }
    return report.known ? change : change + "This network is not listed now.\n"
  }
}

/// `threadkeeper networks accept-credentials`
struct NetworksAcceptCredentialsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "accept-credentials", "Use the credentials of the preferred network that Home Assistant shares.",
    """
    For what a login shares that is no border router, as `threadkeeper agent home-assistant`: `threadkeeper \
    networks` lists who shares which network. It answers the question that waits about them; where that was \
    denied or has expired, they are used all the same. Ends with 66 when there is nothing to accept, 64 for \
    another network than the preferred one.

    Examples:
      threadkeeper networks accept-credentials
      threadkeeper networks accept-credentials 1111111122222222
    """)

  @Argument(help: "The Extended PAN ID of the preferred network, to be sure: 16 hex digits.") var network: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try AcceptCredentials(home: home.name($0), extPanId: network)
    } text: {
      "The preferred network \($0.networkName.printable) (\($0.extPanId)) "
        + ($0.changed ? "has these credentials now.\n" : "has these credentials already.\n")
    }
  }
}

/// `threadkeeper networks forget`
struct NetworksForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "forget", "Delete the credentials of a network that was preferred, or that a login shares.",
    """
    Deletes what `threadkeeper preferred show --history` lists of this network, or one entry of it, and \
    what logins share of the network that are no border routers: that comes back if it is reported again. \
    Credentials of border routers that use the network stay, and are named. Of the preferred network \
    only what is shared is deleted.

    Examples:
      threadkeeper networks forget 1111111122222222
      threadkeeper networks forget p-5f3a9c01
    """)

  @Argument(help: "An Extended PAN ID (16 hex digits), or an id of the history.") var network: String

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let deleted: [FormerNetworkRecord]
    let remaining: [String]
    /// Logins whose shared credentials were deleted; nil: none.
    let sharedBy: [String]?
  }

  func run() async throws {
    var request = ThreadRequest(.forgetNetwork)
    if let id = ExtendedPANID(hex: network) {
      request.network = id
    } else if FormerNetwork.id(of: network) != nil {
      request.id = network
    } else {
      throw CommandFailure(
        .usage, "\(network.printable) names no network",
        remedy: "give an Extended PAN ID of 16 hex digits, or an id that `threadkeeper preferred show --history` lists")
    }
    try await options.show {
      request.home = try home.name($0)
      let data = try await $0.perform(request)
      return Report(deleted: data.forgotten ?? [], remaining: data.remaining ?? [], sharedBy: data.sharedBy)
    } text: {
      text($0)
    }
  }

  private func text(_ report: Report) -> String {
    let deleted = report.deleted.map {
      "Deleted \($0.id): \($0.networkName.printable) (\($0.extPanId)), preferred until \($0.until).\n"
    }
    let stay = report.remaining.map {
      "Border router \($0) uses this network; its credentials stay until it leaves, or until "
        + "`threadkeeper credentials delete \($0)`.\n"
    }
    let shared = (report.sharedBy ?? []).map {
      "Deleted what the login \($0.printable) shares of it. If that still has it, it comes back within an "
        + "hour: delete it there, too.\n"
    }
    return (deleted + shared + stay).joined()
  }
}

/// `threadkeeper networks share`
struct NetworksShareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "share", "Show a code of 9 digits with which another phone or hub gets the credentials of a network.",
    """
    An OpenThread Border Router on the network makes the code, by its REST interface, and takes it once. It \
    needs credential sharing of Thread 1.4. With --url no daemon is needed: run it on the router's own machine \
    where that REST interface answers nobody else. Ends with 69 where the router gives no code.

    Examples:
      threadkeeper networks share
      threadkeeper networks share --minutes 5
      threadkeeper networks share 1111111122222222 --url http://127.0.0.1:8081
    """)

  @Argument(help: "The Extended PAN ID: 16 hex digits. The preferred network unless given.") var network: String?
  @Option(help: "For how many minutes the code is valid, 1 to 10; 2 unless given.") var minutes: Int?
  @Option(help: "The router's REST interface; that of `sharing.url` unless given.") var url: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    guard options.output.json || StandardStream.output.isTerminal else {
      throw CommandFailure(.usage, "the code is shown on a terminal only", remedy: "`--json` prints it anywhere")
    }
    let share = ShareNetwork(home: home.home, extPanId: network, minutes: minutes, url: url)
    let alone = url.map { url in { try await SystemThread.result { try share.ask(url) } } }
    try await options.show {
      try await $0.perform(share, orStore: alone)
    } text: {
      "The code of \($0.networkName?.printable ?? "the network") for \($0.duration): \($0.shownCode)\n"
        + "Type it where the network is added. Whoever has it gets the network's credentials, once.\n"
    }
  }
}

/// A network, and the border routers that are on it.
struct NetworkListing: Encodable {
  /// What is listed of a router, of its state.
  private static let ofRouters = ["border_agent_id", "name", "vendor", "model", "partition_id"]

  /// Nil for what is found by a scan, and for routers without a network.
  let state: JSONValue?
  let home: String?
  let networkName: String?
  let extendedPANID: String?
  /// Their states.
  let routers: [JSONValue]

  init(_ state: JSONValue, _ routers: [JSONValue]) {
    self.state = state
    home = state["home"]?.text
    networkName = state["network_name"]?.text
    extendedPANID = state["ext_pan_id"]?.text
    self.routers = Self.sorted(routers)
  }

  /// What is found by a scan, or has no network.
  init(network: String?, name: String?, home: String?, routers: [JSONValue]) {
    state = nil
    self.home = home
    networkName = name
    extendedPANID = network
    self.routers = Self.sorted(routers)
  }

  private static func sorted(_ routers: [JSONValue]) -> [JSONValue] { routers.sorted { shown($0) < shown($1) } }

  /// - Parameter alike: ids of routers that look named as others of the list.
  private static func shown(_ router: JSONValue, alike: Set<String> = []) -> String {
    let id = router.text("border_agent_id")
    let name = router["name"]?.text.map { alike.contains(id) ? "\($0) (\(id))" : $0 } ?? id
    return name + (router.text("availability") == "online" ? "" : " (offline)")
  }

  /// Of each home: each network with its routers; then those that no router is configured for, and the routers
  /// without a network.
  static func all(_ networks: [JSONValue], _ routers: [JSONValue]) -> [NetworkListing] {
    (networks + routers).map { $0.text("home") }.uniqued.flatMap { home in
      let known = networks.filter { $0.text("home") == home }
      let ids = Set(known.map { $0["ext_pan_id"]?.text })
      let placed = Dictionary(grouping: routers.filter { $0.text("home") == home }) {
        ($0["current_ext_pan_id"] ?? $0["ext_pan_id"])?.text
      }
      let others = placed.filter { $0.key == nil || !ids.contains($0.key) }.map { network, routers in
        NetworkListing(network: network, name: nil, home: home, routers: routers)
      }.sorted { ($0.extendedPANID ?? "g") < ($1.extendedPANID ?? "g") }
      return known.map { NetworkListing($0, placed[$0["ext_pan_id"]?.text] ?? []) } + others
    }
  }

  static func table(_ networks: [NetworkListing]) -> Table {
    let routers = networks.flatMap(\.routers).compactMap { router in
      BorderAgentID(hex: router.text("border_agent_id")).map { (agent: $0, name: router["name"]?.text) }
    }
    let alike = Set(Home.namesakes(among: routers).map(\.description))
    return Table(
      networks,
      [
        "NETWORK": { $0.extendedPANID == nil ? "(none)" : $0.networkName }, "EXTENDED PAN ID": { $0.extendedPANID },
        "CHANNEL": { $0.state?["channel"]?.integer }, "PREFERRED": { $0.mark },
        "BORDER ROUTERS": { $0.routers.map { shown($0, alike: alike) }.listed },
      ],
      ifAny: [
        "SHARED BY": { $0.state?["shared_by"]?.array?.compactMap(\.text).listed },
        "CHANGES AT": { $0.state?["pending"]?["at"]?.text },
      ])
  }

  fileprivate var mark: String? {
    state?["preferred"]?.bool == true ? "yes" : state?["accepted"]?.bool == true ? "accepted" : nil
  }

  /// Of what is found by a scan.
  fileprivate var order: (String, String, String) {
    (extendedPANID == nil ? "(none)" : networkName ?? "", extendedPANID ?? "", routers.map { Self.shown($0) }.listed)
  }

  func encode(to encoder: any Encoder) throws {
    var members = ["home": home, "network_name": networkName, "ext_pan_id": extendedPANID].compactMapValues {
      $0.map(JSONValue.text)
    }
    if case .object(let published)? = state { members = published }
    members["border_routers"] = .array(
      routers.map { router in
        var members = ["online": JSONValue.bool(router.text("availability") == "online")]
        for field in Self.ofRouters { members[field] = router[field] }
        return .object(members)
      })
    try JSONValue.object(members).encode(to: encoder)
  }
}

/// One look at the local network, without a daemon.
struct NetworkScan {
  let seconds: Int

  /// - Throws: `CommandFailure`: 69 where avahi-daemon does not answer in that time.
  func run() async throws -> (networks: [NetworkListing], unlisted: [UnlistedRecord]) {
    do { return try await look() } catch let obstacle as DiscoveryObstacle { throw CommandFailure(obstacle) }
  }

  private func look() async throws -> (networks: [NetworkListing], unlisted: [UnlistedRecord]) {
    let scan = DiscoveryScan()
    let browser = ServiceBrowser(type: BorderRouterAdvertisement.serviceType) { scan.receive($0) }
    try browser.start()
    let line = WaitingLine()
    line.show("Looking for border routers")
    defer { line.end() }
    try await Task.sleep(for: .seconds(seconds))
    browser.stop()
    let (home, unlisted) = try scan.result()
    let networks = Dictionary(grouping: home.routerStates(in: ""), by: \.router.network).map { network, routers in
      NetworkListing(
        network: network?.description, name: network.flatMap(home.networkName), home: nil,
        routers: routers.map { $0.jsonValue() })
    }
    return (networks.sorted { $0.order < $1.order }, unlisted)
  }
}

extension CommandFailure {
  fileprivate init(_ obstacle: DiscoveryObstacle) {
    let message = obstacle.message.hasSuffix(".") ? obstacle.message.dropLast() : obstacle.message[...]
    self.init(.unavailable, String(message), remedy: obstacle.remedy)
  }
}
