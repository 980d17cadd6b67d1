import ArgumentParser
import Bridge
import Broker
import Settings
import SodiumCrypto

/// `threadkeeper login`
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "login", "Give the daemon its password for the broker.",
    """
    Asks for the password, tries it at the broker, and has the daemon keep it in the encrypted store, and \
    go on with it at once. `mqtt.password` in the settings wins \
    over what is stored.

    With --password-stdin and no name, the name that is stored is used. Another name than \
    `mqtt.username` of the settings is refused.

    With --remove it deletes what is stored. The daemon has no password any more then: the broker \
    refuses it, and it raises an alert until the next `login`. Ends with 66 when none was stored.

    Ends with 77 when the broker refuses the login, and 69 when the broker is not reached, or no daemon \
    runs; nothing is stored then. 64: another name than the settings have; \
    78: the settings name no broker, or the running daemon has another one; 130: stopped.

    Examples:
      threadkeeper login
      threadkeeper login --username threadkeeper
      threadkeeper login --password-stdin < /run/secrets/mqtt
      pass show home/mqtt | threadkeeper login --password-stdin --json
      threadkeeper login --remove
    """)

  @Option(
    help: ArgumentHelp(
      "The user name; without it `mqtt.username` of the settings, or it is asked for.", valueName: "name"))
  var username: String?

  @Flag(help: "Read the password from standard input. A line end at its end is not part of it.") var passwordStdin =
    false

  @Flag(help: "Store the login without asking the broker.") var noValidate = false

  @Flag(help: "Delete the stored password.") var remove = false

  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard !remove || (username == nil && !passwordStdin && !noValidate) else {
      throw ValidationError("--remove takes no other option about the login.")
    }
  }

  func run() async throws {
    if remove { return try await removeLogin() }
    let client = try options.daemon()
    try OpenStore.checkAccess(client.settings)
    let address = try BrokerAddress(ofOwnBroker: client.settings.mqtt)
    let username = try username.map { try Username.checked($0) }
    let own = client.settings.mqtt.username
    if let own, let username, own != username {
      throw CommandFailure(
        .usage, "the settings log in as \(own), not as \(username)", remedy: "change or remove `mqtt.username`")
    }
    // Before anybody is asked: where the daemon does not take the answer it would be for nothing.
    let current = try await checked(client.status(), address, own: own, name: own ?? username)
    // Before signals are caught: reading here is ended by them as everywhere.
    let given = passwordStdin ? try Password.fromStandardInput() : nil
    let session = LoginSession(
      client: client, address: address, known: current.passwordFrom == .keychain ? current.username : nil,
      username: own ?? username, password: given, isValidating: !noValidate)
    let (login, stored) = try await Interruptible.run { try await session.run() }
    let report = Report(
      broker: "\(address)", username: login.username, stored: stored.stored, validated: !noValidate, inUse: stored.inUse
    )
    try options.output.show(report, text: report.text)
  }

  /// The daemon has the last word, which knows all of its settings (`StoreLogin`).
  ///
  /// - Throws: `CommandFailure` with status 78 where it is seen already that the daemon has another broker or user name.
  private func checked(_ status: DaemonStatus, _ address: BrokerAddress, own: String?, name: String?) throws
    -> DaemonStatus.Login
  {
    let (broker, login) = (status.broker, status.login)
    // Whether it speaks TLS is not reported.
    let running = BrokerAddress(host: broker.host, port: broker.port, isEncrypted: address.isEncrypted)
    guard !broker.embedded, running.url == address.url else {
      throw CommandFailure(
        .configuration, "the running daemon speaks to \(running), these settings name \(address)",
        remedy: "restart the daemon with the current settings")
    }
    // A name that is only stored may be replaced.
    let wanted = login.passwordFrom == .keychain ? own : name
    if let username = login.username, let wanted, wanted != username {
      throw CommandFailure(
        .configuration, "the running daemon logs in as \(username), not as \(wanted)",
        remedy: "change or remove `mqtt.username`, and start the daemon again")
    }
    return login
  }

  private func removeLogin() async throws {
    try await options.show {
      let address = try BrokerAddress(ofOwnBroker: $0.settings.mqtt)
      let report = try await $0.perform(DeleteLogin(broker: address.url))
      guard !report.deleted.isEmpty else { throw CommandFailure(.noInput, "no password for \(address) is stored") }
      return report
    } text: {
      let users = $0.deleted.map(\.printable).listed
      let note = $0.inUse ? "" : "The running daemon's settings still have one, in `mqtt.password`.\n"
      return "The password of \(users) at \($0.broker) is deleted.\n\(note)"
    }
  }

  struct Report: Encodable {
    let broker: String
    let username: String
    /// `added` or `updated`.
    let stored: String
    let validated: Bool
    /// False while the daemon's settings have a password, which wins.
    let inUse: Bool

    var text: String {
      let kept =
        validated
        ? "\(broker) accepts \(username.printable). The password is kept in the encrypted store."
        : "The password of \(username.printable) is kept, and \(broker) was not asked."
      let use =
        inUse
        ? "The running daemon goes on with it."
        : "`mqtt.password` in the running daemon's settings wins over it: remove that to use this one."
      return "\(kept)\n\(use)\n"
    }
  }
}

/// The questions of `threadkeeper login`: search, ask, try, store.
struct LoginSession {
  private static let tries = 3

  let client: DaemonClient
  let address: BrokerAddress
  /// Of the login that the daemon has, where it is stored.
  let known: String?
  /// From the settings or the command line.
  let username: String?
  /// From standard input.
  let password: SecretBytes?
  let isValidating: Bool

  func run() async throws -> (BrokerLogin, StoreLogin.Reply) {
    let name = try await name()
    var wrong = 0
    while true {
      let login = BrokerLogin(username: name, password: try await password(of: name))
      do { if isValidating { try await check(login) } } catch let refusal as CommandFailure
        where refusal.status == .notPermitted
      {
        wrong += 1
        guard password == nil, wrong < Self.tries else { throw refusal }
        TerminalPrompt.show("\(refusal.message.printable)\n")
        continue
      }
      let stored = try await client.perform(StoreLogin(broker: address.url, username: name, password: login.text))
      return (login, stored)
    }
  }

  /// Only the broker knows whether it is right.
  private func check(_ login: BrokerLogin) async throws {
    var mqtt = client.settings.mqtt
    (mqtt.username, mqtt.password) = (login.username, SecretText(login.text))
    guard let error = await mqtt.refusal(within: .seconds(30)) else { return }
    try Task.checkCancellation()
    let (words, next) =
      switch error.exitStatus {
      case .notPermitted: (error.message, "; try again")
      case .configuration: (error.message, "")
      default:
        ("the broker could not be asked: \(error.message)", "; --no-validate stores a login without asking the broker")
      }
    throw CommandFailure(error.exitStatus, words, remedy: "nothing was stored\(next)")
  }

  private func name() async throws -> String {
    if let username { return username }
    guard password == nil else {
      guard let known else {
        throw CommandFailure(.usage, "whose password is it?", remedy: "give --username, or set `mqtt.username`")
      }
      return known
    }
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    let usual = known.map { " (Enter: \($0.printable))" } ?? ""
    let answer = try await TerminalPrompt.answer(to: "User name at \(address)\(usual): ")
    if answer.isEmpty, let known { return known }
    return try Username.checked(answer)
  }

  private func password(of name: String) async throws -> SecretBytes {
    if let password { return password }
    return try await Password.asked("Password of \(name.printable) at \(address): ")
  }
}

/// Keeps the daemon's password for its broker, with which it goes on at once. Whoever sends it has tried it.
struct StoreLogin: Operation {
  /// The broker that the caller's settings name, as `BrokerAddress.url`. A daemon that speaks to another one, or to the
  /// same one without TLS, says so.
  var broker: String
  var username: String
  var password: String

  struct Reply: Codable {
    /// `added` or `updated`.
    var stored: String
    /// Whether the daemon goes on with it; not while its settings have a password.
    var inUse: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let address = try context.settings.address(of: broker)
    let name = try Username.checked(username)
    if let own = context.settings.mqtt.username, own != name {
      throw CommandFailure(
        .configuration, "the running daemon logs in as \(own), not as \(name)",
        remedy: "change or remove `mqtt.username`, and start the daemon again")
    }
    let login = BrokerLogin(username: name, password: try Password.checked(Array(password.utf8)[...]))
    let change = try context.logins.save(login, at: address, for: context.actor)
    return Reply(stored: change.rawValue, inUse: context.logins.isStoredInUse)
  }
}

extension StoreLogin: CustomStringConvertible, CustomReflectable {
  /// Never the password.
  var description: String { "a login" }
  var customMirror: Mirror { Mirror(self, children: ["broker": broker]) }
}

/// Deletes the password of `StoreLogin`. A second deletion finds nothing.
struct DeleteLogin: OneTimeOperation {
  /// As of `StoreLogin`.
  var broker: String

  /// Also what `login --remove --json` prints.
  struct Reply: Codable {
    var broker: String
    /// The users whose logins are deleted.
    var deleted: [String]
    /// Whether the daemon had no other password.
    var inUse: Bool
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let address = try context.settings.address(of: broker)
    let users = try context.logins.delete(at: address, for: context.actor)
    return Reply(broker: "\(address)", deleted: users, inUse: context.logins.isStoredInUse)
  }
}

extension Settings {
  /// - Throws: `CommandFailure` with status 78 where the daemon's broker is another one.
  fileprivate func address(of broker: String) throws(CommandFailure) -> BrokerAddress {
    let address = try BrokerAddress(ofOwnBroker: mqtt)
    guard broker == address.url else {
      throw CommandFailure(
        .configuration, "the running daemon speaks to \(address.url), these settings name \(broker)",
        remedy: "restart the daemon with the current settings")
    }
    return address
  }
}
