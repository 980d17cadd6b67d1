import ArgumentParser
import BorderRouterAgent
import Broker
import ThreadkeeperSupport

/// `threadkeeper agent matter`
struct AgentMatterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "matter", "Give a Matter server the preferred network's credentials, until stopped.",
    """
    Home Assistant's Matter server needs them to commission Thread devices, and nothing else gives them to it. \
    The login is enrolled, and a person is asked once whether it gets them: approve that always, or each restart \
    asks again. They replace the default ones there, now, when they change, and when the server has forgotten them. \
    A Matter server of schema 12 or newer loses them again when the home prefers no network any more.

    A Matter server has no login: whoever reaches it can use it, and with ws:// the network key travels in plaintext. \
    So another machine's needs wss:// or --allow-plaintext. Logs go to standard error. SIGTERM and SIGINT stop it.

    Examples:
      threadkeeper agent matter --url ws://127.0.0.1:5580/ws --username matter \\
        --password-file /etc/matter.password --daemon "$DAEMON_LINE" \\
        --key /etc/threadkeeper/matter.key
    """)

  @Option(help: ArgumentHelp("Where the Matter server is: ws://127.0.0.1:5580/ws.", valueName: "url")) var url: String

  @Option(
    help: ArgumentHelp(
      "The user that the Matter server on this machine runs as, where that is not root.",
      discussion: """
        A loopback address is used by ws:// only where a program of root or of this user listens: while the server is \
        off, any user of its machine can take its place.
        """, valueName: "user")) var serverUser: String?

  @Flag(help: "Send the network key to another machine without TLS.") var allowPlaintext = false

  @OptionGroup var agent: AgentOptions

  func validate() throws {
    try agent.broker.requireLogin()
    guard agent.daemon != nil else {
      throw ValidationError("--daemon is needed: the home's credentials are sent sealed, to an enrolled login.")
    }
    guard try !address().isPlaintextElsewhere || allowPlaintext else {
      throw ValidationError(
        "--url is on another machine, and the network key would travel there in plaintext: run this on that machine, "
          + "use wss://, or add --allow-plaintext.")
    }
    _ = try AgentOptions.users(serverUser)
  }

  func run() async throws {
    if let obstacle = HTTPTransfer.obstacle { throw CommandFailure(.unavailable, obstacle) }
    let login = try agent.login()
    guard let keys = login.keys else { return }
    var configuration = MatterConfiguration(login, keys: keys, address: try address())
    configuration.users = try AgentOptions.users(serverUser)
    do { try await agent.run([configuration], nothing: "there is nothing to publish") } catch let trouble
      as HomeAssistantTrouble
    { throw CommandFailure(.unavailable, "\(configuration.label.value): \(trouble.ofMatterServer)") }
  }

  private func address() throws -> HomeAssistantAddress {
    guard let address = HomeAssistantAddress(matterServer: url) else {
      throw ValidationError("--url is ws://HOST[:PORT]/ws or wss://HOST[:PORT]/ws, without a login.")
    }
    return address
  }
}
