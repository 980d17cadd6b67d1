import ArgumentParser
import BorderRouterAgent
import Broker
import Settings
import ThreadDataset
import ThreadkeeperSupport

/// `threadkeeper agent otbr`
struct AgentOTBRCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "otbr", "Publish for OpenThread Border Routers, until stopped.",
    """
    Asks each router over its REST interface and publishes its announcement, each change of its dataset, \
    network and Thread state, heartbeats, why it is offline, and that it has another id after a reset. \
    With the daemon's line all of it is sealed and signed. Logs go to standard error. SIGTERM and SIGINT stop \
    it cleanly: it publishes that the routers are offline.

    Examples:
      threadkeeper agent otbr --username hub --dry-run
      threadkeeper agent otbr --username hub --name 'Living room' \\
        --host broker.local --password-file /etc/hub.password
      threadkeeper agent otbr --username hub --daemon "$DAEMON_LINE" \\
        --key /etc/threadkeeper/router.key --adopt
      threadkeeper agent otbr --username hub --name 'Living room' --name Attic \\
        http://127.0.0.1:8081 http://attic.local:8081
    """)

  @Argument(help: ArgumentHelp("REST interfaces of routers; http://127.0.0.1:8081 unless given.", valueName: "url"))
  var urls: [String] = []

  @Option(
    help: ArgumentHelp(
      "What people call the router; repeat it for several, in the order of the URLs.", valueName: "text")) var name:
    [String] = []

  @Option(help: ArgumentHelp("The maker of the routers.", valueName: "text")) var vendor: String?

  @Option(help: ArgumentHelp("The model of the routers.", valueName: "text")) var model: String?

  @Option(
    help: ArgumentHelp(
      "The user that the routers' agents on this machine run as, where that is not root.",
      discussion: """
        A loopback address is asked only where a program of root or of this user listens: while a router is \
        off, any user of its machine can take its place.
        """, valueName: "user")) var routerUser: String?

  @Flag(
    help: ArgumentHelp(
      "Take the datasets that a person agrees to give the router.",
      discussion: """
        Needs --daemon: only what that daemon has signed, for this router, counts. Only for a router on this \
        machine, because its REST interface has no encryption.
        """)) var adopt = false

  @Flag(
    help: ArgumentHelp(
      "Publish that a router has left where it has no network any more.",
      discussion: """
        Its stored credentials are deleted then. Without it, that a router has lost its network is an alert, and \
        its credentials stay.
        """)) var leave = false

  @Option(help: ArgumentHelp("Look at the router this often.", valueName: "seconds")) var poll = 5

  @Option(
    help: ArgumentHelp(
      "Publish a heartbeat this often; threadkeeper takes 300 s without one for offline.", valueName: "seconds"))
  var heartbeat = 60

  @Option(
    help: ArgumentHelp(
      "Publish that it is offline when it has been so for this long.",
      discussion: "An update or a restart of its agent takes less.", valueName: "seconds")) var hold = 30

  @Option(help: ArgumentHelp("For each request to the router.", valueName: "seconds")) var requestTimeout = 5

  @OptionGroup var agent: AgentOptions

  func validate() throws {
    let addresses = try self.addresses()
    try AgentOptions.check(
      ("poll", poll, 1...60), ("heartbeat", heartbeat, 1...240), ("hold", hold, 0...600),
      ("request-timeout", requestTimeout, 1...60))
    guard name.count <= addresses.count else { throw ValidationError("There are more names than routers.") }
    for text in name + [vendor, model].compactMap({ $0 }) where text.count > InboundLimits.textCharacters {
      throw ValidationError("--name, --vendor and --model have at most \(InboundLimits.textCharacters) characters.")
    }
    guard !adopt || agent.daemon != nil else {
      throw ValidationError("--adopt needs --daemon: without it, anybody could have sent a dataset.")
    }
    guard !adopt || addresses.allSatisfy(\.isLoopback) else {
      throw ValidationError(
        "--adopt is for a router on this machine, at 127.0.0.1, [::1] or localhost: its REST interface has no "
          + "encryption, and the network key would be sent to whoever answers. Run the agent on the router itself.")
    }
    guard !adopt || !leave else {
      throw ValidationError("--adopt has a router without a network given one, --leave has it leave: give one of them.")
    }
    _ = try AgentOptions.users(routerUser)
    try agent.broker.requireLogin()
  }

  func run() async throws {
    if let obstacle = HTTPTransfer.obstacle { throw CommandFailure(.unavailable, obstacle) }
    try await agent.run(configurations(), nothing: "a router does not report itself, or is on no network")
  }

  private func addresses() throws -> [HTTPAddress] {
    let texts = urls.isEmpty ? ["http://127.0.0.1"] : urls
    let addresses = try texts.map { text in
      guard let address = HTTPAddress(text) else {
        throw ValidationError("A router's REST interface is http://HOST:PORT, without a path or a login.")
      }
      return address
    }
    guard Set(addresses).count == addresses.count else { throw ValidationError("A router is there twice.") }
    return addresses
  }

  private func configurations() throws -> [RouterConfiguration] {
    let login = try agent.login()
    let census = RouterCensus()
    return try addresses().enumerated().map { index, address in
      var configuration = RouterConfiguration(login, address: address)
      configuration.description.name = index < name.count ? name[index] : nil
      configuration.description.vendor = vendor
      configuration.description.model = model
      configuration.census = census
      configuration.users = try AgentOptions.users(routerUser)
      configuration.adopts = adopt
      configuration.leaves = leave
      configuration.notes = (try? AgentFiles.path(of: "agent-adoption")).map { .init(path: $0) }
      configuration.poll = .seconds(poll)
      configuration.rhythm.heartbeat = .seconds(heartbeat)
      configuration.rhythm.hold = .seconds(hold)
      configuration.requestTimeout = .seconds(requestTimeout)
      return configuration
    }
  }
}
