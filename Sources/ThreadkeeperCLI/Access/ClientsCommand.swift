// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper clients`
struct ClientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients",
    abstract: "Users of the broker whose keys the daemon knows.",
    discussion: """
      What an enrolled user seals and signs is believed; with the trust `signed`, nothing else of it \
      is. A client makes its keys with `threadkeeper client keygen`.
      """,
    subcommands: [
      ClientsEnrollCommand.self, ClientsListCommand.self, ClientsRevokeCommand.self,
    ])
}

/// `threadkeeper clients list`
struct ClientsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the enrolled users, and the daemon's own keys.",
    discussion: """
      Clients seal to the daemon's line, and believe what its keys have signed. The first `clients enroll` \
      makes these keys. The line is in `bridge/info` too; on a broker that you do not trust, take it from here.

      Examples:
        threadkeeper clients list
        threadkeeper clients list --json | \\
          jq -r '.clients[] | select(.trust == "broker") | .user'
        threadkeeper clients list --json | jq -r .daemon.line
      """)

  @Option(help: "Of this home only.")
  var home: String?

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await DaemonClient(settings: settings).perform(
      ListClients(home: home))
    try output.show(report, text: text(report))
    try CommandFailure.check(unreadable: report.unreadable)
  }

  private func text(_ report: ListClients.Reply) -> String {
    var table = Table(columns: "HOME", "USER", "TRUST", "FINGERPRINT", "ENROLLED", "LABEL")
    for client in report.clients {
      table.add(
        client.home, client.user, client.trust, client.fingerprint, client.enrolledAt, client.label)
    }
    let notes = (report.revoked ?? []).map {
      "The keys of \($0.printable) are revoked; what it says in plaintext is not believed either.\n"
    }
    let users = table.isEmpty && notes.isEmpty ? "Nobody is enrolled.\n" : table.text()
    let daemon = report.daemon.map {
      "The daemon's line:\n\($0.line)\nfingerprint  \($0.fingerprint)\n"
    }
    return users + notes.joined() + (report.formerHomes ?? []).map(\.notServed).joined()
      + (daemon ?? "")
  }
}

/// `threadkeeper clients revoke`
struct ClientsRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Forget the keys of a user of the broker.",
    discussion: """
      What it seals is refused from now on, what people have agreed to for it ends, and what it waits \
      for too. What it says in plaintext counts again, unless its trust was `signed`: then it goes on being \
      refused, until --forget. Take its login from the broker too. The credentials of its routers stay; what it \
      shares as no router, such as Home Assistant's agent, is deleted.

      Examples:
        threadkeeper clients revoke living-room-router
        threadkeeper clients revoke living-room-router --forget
      """)

  @Argument(help: "The user's name at the broker.")
  var user: String

  @Flag(help: "Keep nothing of it: what it says in plaintext is believed again.")
  var forget = false

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await DaemonClient(settings: settings).perform(
      RevokeClient(home: home.name(settings), user: user, forgets: forget))
    try output.show(report, text: "The keys of \(user) are forgotten.\n")
  }
}

/// `threadkeeper clients enroll`
struct ClientsEnrollCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enroll",
    abstract: "Take note of the keys of a user of the broker.",
    discussion: """
      LINE is what `threadkeeper client keygen` prints on the client's machine. Compare the \
      fingerprint there. A user that is enrolled already gets the new keys. It counts at once.

      Examples:
        threadkeeper clients enroll living-room-router tk1:…
        threadkeeper clients enroll living-room-router tk1:… --trust signed
        threadkeeper clients enroll hub \\
          "$(ssh hub threadkeeper client keygen | head -1)"
      """)

  @Argument(help: "The user's name at the broker.")
  var user: String

  @Argument(help: "The enrolment line: tk1:…")
  var line: String

  @Option(
    help: ArgumentHelp(
      "broker: what the user says in plaintext counts too; signed: only what it has signed.",
      valueName: "broker|signed"))
  var trust: ClientTrust = .broker

  @Option(help: ArgumentHelp("What `clients list` says of it.", valueName: "text"))
  var label: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let report = try await DaemonClient(settings: settings).perform(
      EnrollClient(
        home: home.name(settings), user: user, line: line, trust: trust, label: label))
    try output.show(
      report,
      text: """
        \(user) is \(report.change), with the trust \(trust.rawValue).
        fingerprint  \(report.client.fingerprint)
        The client seals to the daemon's line:
        \(report.daemon.line)

        """)
  }
}

extension ClientTrust: ExpressibleByArgument {}
