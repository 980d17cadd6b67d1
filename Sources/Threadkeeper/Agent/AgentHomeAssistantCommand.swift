import ArgumentParser
import BorderRouterAgent
import Broker
import Glibc
import Settings
import SodiumCrypto
import ThreadkeeperSupport

/// `threadkeeper agent home-assistant`
struct AgentHomeAssistantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "home-assistant", "Report the credentials of Home Assistant's Thread store, until stopped.",
    """
    That is where phones put the credentials of border routers that speak no MQTT. Reads the store at the start \
    and every minute, and publishes what is new or changed; with the daemon's line sealed and signed. Where only \
    keys or the timestamp have changed, the list does not show it, and it takes up to ten minutes. \
    Home Assistant is asked as an administrator: make a long-lived access token there (profile, Security), \
    and put it into a file that only this user reads. In an add-on, Home Assistant's own token is used. Logs \
    go to standard error. SIGTERM and SIGINT stop it.

    With http:// the token and the credentials travel in plaintext. Most homes have nothing else; where others \
    use the network, run this on Home Assistant's machine, or set up https://.

    Examples:
      threadkeeper agent home-assistant --url http://127.0.0.1:8123 \\
        --token-file token --username phones --dry-run
      threadkeeper agent home-assistant --url https://ha.example.com \\
        --token-file token --username phones --host broker.local \\
        --password-file /etc/phones.password
      threadkeeper agent home-assistant --url http://127.0.0.1:8123 \\
        --token-file token --username phones --daemon "$DAEMON_LINE" \\
        --key /etc/threadkeeper/phones.key --write
    """)

  @Option(
    help: ArgumentHelp(
      "Where Home Assistant is, by http, https, ws or wss: http://127.0.0.1:8123.",
      discussion: "Needed outside of an add-on: whoever answers there gets the token.", valueName: "url")) var url:
    String?

  @Option(
    help: ArgumentHelp(
      "The access token: the first line of a file that others cannot read.",
      discussion: """
        It is read for each connection: a new token needs no restart. One that was refused is tried again after an \
        hour, or when the file has another one.
        """, valueName: "file")) var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "The user that Home Assistant on this machine runs as, where that is not root.",
      discussion: """
        A loopback address is asked by http:// only where a program of root or of this user listens: while Home \
        Assistant is off, any user of its machine can take its place.
        """, valueName: "user")) var homeAssistantUser: String?

  @Option(help: ArgumentHelp("What people call this Home Assistant.", valueName: "text")) var name = "Home Assistant"

  @Option(help: ArgumentHelp("Read the list this often, 1 to 3600.", valueName: "seconds")) var poll = 60

  @Option(help: ArgumentHelp("For a connection, and for each answer, 1 to 60.", valueName: "seconds"))
  var requestTimeout = 10

  @Flag(
    help: ArgumentHelp(
      "Have Home Assistant prefer the home's preferred network.",
      discussion: """
        Needs --daemon. Where it prefers another one, or has older credentials, a person is asked; then they \
        are added there, and preferred. After a no a person is asked again when either side has changed, within a \
        day only after a restart; where nobody answers, each day. A network without border routers for 14 days, and \
        a preferred border router that is gone, are deleted and replaced there once a person has agreed.
        """)) var write = false

  @OptionGroup var agent: AgentOptions

  func validate() throws {
    try agent.broker.requireLogin()
    try AgentOptions.check(("poll", poll, 1...3_600), ("request-timeout", requestTimeout, 1...60))
    guard (1...InboundLimits.textCharacters).contains(name.count), name == name.printable else {
      throw ValidationError("--name is a text of 1 to \(InboundLimits.textCharacters) characters.")
    }
    guard !write || agent.daemon != nil else {
      throw ValidationError("--write needs --daemon: the home's credentials are sent sealed, to an enrolled login.")
    }
    guard tokenFile != "-" else { throw ValidationError("--token-file is a file: it is read for each connection.") }
    _ = try (address(), AgentOptions.users(homeAssistantUser))
    guard tokenFile != nil || isAddOn else {
      throw ValidationError(
        "--token-file is needed: make a long-lived access token in Home Assistant (profile, Security), and put it into "
          + "a file that only this user reads.")
    }
  }

  func run() async throws {
    if let obstacle = HTTPTransfer.obstacle { throw CommandFailure(.unavailable, obstacle) }
    let address = try self.address()
    let (file, kept) = (tokenFile, tokenFile == nil ? Self.takeToken() : SecretBytes(copying: []))
    // What can never work is said at once.
    _ = try Self.token(file, kept)
    var configuration = HomeAssistantConfiguration(try agent.login(), address: address) {
      () throws(HomeAssistantTrouble) in
      do throws(CommandFailure) { return try Self.token(file, kept) } catch {
        throw .noToken(error.message + (error.remedy.map { "; \($0)" } ?? ""))
      }
    }
    configuration.name = name
    configuration.poll = .seconds(poll)
    configuration.requestTimeout = .seconds(requestTimeout)
    configuration.writes = write
    configuration.users = try AgentOptions.users(homeAssistantUser)
    configuration.deniedFile = try? AgentFiles.path(of: "agent-home-assistant-denied")
    do {
      try await agent.run([configuration], nothing: "Home Assistant's Thread store has no credentials to publish")
    } catch let trouble as HomeAssistantTrouble {
      throw CommandFailure(
        [.wrongToken, .notAdministrator].contains(trouble) ? .notPermitted : .unavailable, "\(address): \(trouble)")
    }
  }

  // MARK: Home Assistant

  private static let supervisorToken = "SUPERVISOR_TOKEN"

  /// Whether neither place nor token is named, and Home Assistant has given both.
  private var isAddOn: Bool { url == nil && tokenFile == nil && getenv(Self.supervisorToken) != nil }

  private func address() throws -> HomeAssistantAddress {
    if isAddOn, let supervisor = HomeAssistantAddress.supervisor { return supervisor }
    guard let url else {
      throw ValidationError("--url is needed: where Home Assistant is, as in http://127.0.0.1:8123.")
    }
    guard let address = HomeAssistantAddress(url) else {
      throw ValidationError("--url is http://HOST[:PORT] or https://HOST[:PORT], without a login or a page.")
    }
    return address
  }

  /// Other programs of this user can read the environment that it was started with.
  private static func takeToken() -> SecretBytes {
    guard let value = getenv(supervisorToken) else { return SecretBytes(copying: []) }
    let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
    defer {
      memset(value, 0, bytes.count)
      unsetenv(supervisorToken)
    }
    return SecretBytes(copying: bytes)
  }

  /// - Parameters:
  ///   - file: whose first line it is; nil: the environment had it.
  ///   - kept: of the environment, which has it no more.
  private static func token(_ file: String?, _ kept: SecretBytes) throws(CommandFailure) -> SecretBytes {
    var token = kept
    if let file { token = SecretBytes(copying: try SecretInput.line(file, of: "access token").utf8) }
    guard isToken(token) else {
      let place = file.map { "the first line of \($0)" } ?? supervisorToken
      throw CommandFailure(.badInput, "\(place) is no access token of Home Assistant")
    }
    return token
  }

  /// Whether it stands in JSON as it is.
  static func isToken(_ token: SecretBytes) -> Bool {
    token.withUnsafeBytes { bytes in
      !bytes.isEmpty
        && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
  }
}
