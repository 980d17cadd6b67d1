// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrokerLoginStore
import Settings
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper login`
struct LoginCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Give the daemon its password for the broker.",
    discussion: """
      Asks for the password, tries it at the broker, and keeps it in the encrypted store. Works \
      beside a running daemon, which goes on with it at once. `mqtt.password` in the settings wins \
      over what is stored.

      With --password-stdin and no name, the name that is stored is used. Another name than \
      `mqtt.username` of the settings is refused.

      With --remove it deletes what is stored. A running daemon has no password any more then: the broker \
      refuses it, and it raises an alert until the next `login`. Ends with 66 when none was stored.

      Ends with 77 when the broker refuses the login, or what opens the store is mistyped, and 69 when the \
      broker is not reached; nothing is stored then. 64: another name than the settings have; 75: another process holds the store; \
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
      "The user name; without it `mqtt.username` of the settings, or it is asked for.",
      valueName: "name"))
  var username: String?

  @Flag(
    help: "Read the password from standard input. A line end at its end is not part of it.")
  var passwordStdin = false

  @Flag(help: "Store the login without asking the broker.")
  var noValidate = false

  @Flag(help: "Delete the stored password.")
  var remove = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !remove || (username == nil && !passwordStdin && !noValidate) else {
      throw ValidationError("--remove takes no other option about the login.")
    }
  }

  func run() async throws {
    if remove { return try await removeLogin() }
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.loadOfStore(mayBeNew: true)
    let client = try LoginClient(settings)
    let username = try username.map { try Username.checked($0) }
    if let own = settings.mqtt.username, let username, own != username {
      throw CommandFailure(
        .usage, "the settings log in as \(own), not as \(username)",
        remedy: "change or remove `mqtt.username`")
    }
    try OpenStore.checkAccess(settings)
    if !OpenStore.exists(settings) { try OpenStore.checkMaking(settings) }
    // Before signals are caught: reading here is ended by them as everywhere.
    let given = passwordStdin ? try Password.fromStandardInput() : nil
    let session = LoginSession(
      client: client, username: settings.mqtt.username ?? username, password: given,
      isValidating: !noValidate)
    let (login, stored) = try await Interruptible.run { try await session.run() }
    let report = Report(login, stored, client, isValidated: !noValidate)
    try output.show(report, text: report.text(settings))
  }

  private func removeLogin() async throws {
    let settings = try options.loadOfStore()
    let client = try LoginClient(settings)
    try OpenStore.checkAccess(settings)
    let nothing = CommandFailure(.noInput, "no password for \(client.address) is stored")
    guard OpenStore.exists(settings) else { throw nothing }
    let deleted = try await client.delete()
    guard !deleted.users.isEmpty else { throw nothing }
    let report = Removal(
      broker: "\(client.address)", deleted: deleted.users, daemonRunning: deleted.isDaemonRunning)
    let users = deleted.users.map(\.printable).joined(separator: ", ")
    let whose = deleted.isDaemonRunning ? "The running daemon's settings" : "The settings"
    let note = deleted.wasInUse ? "" : "\(whose) still have one, in `mqtt.password`.\n"
    try output.show(
      report, text: "The password of \(users) at \(report.broker) is deleted.\n\(note)")
  }

  struct Removal: Encodable {
    let broker: String
    /// User names.
    let deleted: [String]
    let daemonRunning: Bool
  }

  struct Report: Encodable {
    let broker: String
    let username: String
    /// `added` or `updated`.
    let stored: String
    let validated: Bool
    let daemonRunning: Bool
    /// False while the settings have a password, which wins; those of the daemon, if one runs.
    let inUse: Bool
    let newStore: String?

    init(
      _ login: BrokerLogin, _ result: LoginClient.Stored, _ client: LoginClient, isValidated: Bool
    ) {
      broker = "\(client.address)"
      username = login.username
      stored = result.change
      validated = isValidated
      daemonRunning = result.isDaemonRunning
      inUse = result.isInUse
      newStore = result.madeStore ? client.settings.store.path : nil
    }

    func text(_ settings: Settings) -> String {
      var lines = [
        validated
          ? "\(broker) accepts \(username.printable). The password is kept in the encrypted store."
          : "The password of \(username.printable) is kept, and \(broker) was not asked."
      ]
      if newStore != nil {
        lines.append(
          "The store is new. Back up its key, without which nobody can read it: "
            + settings.store.keyFile)
      }
      if !inUse {
        let whose = daemonRunning ? "the running daemon's settings" : "the settings"
        lines.append("`mqtt.password` in \(whose) wins over it: remove that to use this one.")
      } else if daemonRunning {
        lines.append("The running daemon goes on with it.")
      }
      return lines.map { $0 + "\n" }.joined()
    }
  }
}
