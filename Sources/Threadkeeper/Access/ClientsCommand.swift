import ArgumentParser

/// `threadkeeper clients`
struct ClientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "clients", "Users of the broker whose keys the daemon knows.",
    """
    What an enrolled user seals and signs is believed; with the trust `signed`, nothing else of it \
    is. A client makes its keys with `threadkeeper client keygen`.
    """, subcommands: [ClientsEnrollCommand.self, ClientsListCommand.self, ClientsRevokeCommand.self])
}

/// `threadkeeper clients list`
struct ClientsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the enrolled users, and the daemon's own keys.",
    """
    Clients seal to the daemon's line, and believe what its keys have signed. The first `clients enroll` \
    makes these keys. The line is in `bridge/info` too; on a broker that you do not trust, take it from here.

    Examples:
      threadkeeper clients list
      threadkeeper clients list --json | \\
        jq -r '.clients[] | select(.trust == "broker") | .user'
      threadkeeper clients list --json | jq -r .daemon.line
    """)

  @Option(help: "Of this home only.") var home: String?

  @OptionGroup var options: CommandOptions

  func run() async throws {
    let report = try await options.perform { _ in
      ListClients(home: home)
    } text: {
      text($0)
    }
    try CommandFailure.check(unreadable: report.unreadable)
  }

  private func text(_ report: ListClients.Reply) -> String {
    let table = Table(
      report.clients,
      [
        "HOME": { $0.home }, "USER": { $0.user }, "TRUST": { $0.trust }, "FINGERPRINT": { $0.fingerprint },
        "ENROLLED": { $0.enrolledAt }, "LABEL": { $0.label },
      ])
    let notes = (report.revoked ?? []).map {
      "The keys of \($0.printable) are revoked; what it says in plaintext is not believed either.\n"
    }
    let users = notes.isEmpty ? table.text(none: "Nobody is enrolled.\n") : table.text()
    let daemon = report.daemon.map { "The daemon's line:\n\($0.line)\nfingerprint  \($0.fingerprint)\n" }
    return users + notes.joined() + (report.formerHomes ?? []).map(\.notServed).joined() + (daemon ?? "")
  }
}

/// `threadkeeper clients revoke`
struct ClientsRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "revoke", "Forget the keys of a user of the broker.",
    """
    What it seals is refused from now on, what people have agreed to for it ends, and what it waits \
    for too. What it says in plaintext counts again, unless its trust was `signed`: then it goes on being \
    refused, until --forget. Take its login from the broker too. The credentials of its routers stay; what it \
    shares as no router, such as Home Assistant's agent, is deleted.

    Examples:
      threadkeeper clients revoke living-room-router
      threadkeeper clients revoke living-room-router --forget
    """)

  @Argument(help: "The user's name at the broker.") var user: String

  @Flag(help: "Keep nothing of it: what it says in plaintext is believed again.") var forget = false

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try RevokeClient(home: home.name($0), user: user, forgets: forget)
    } text: { _ in
      "The keys of \(user) are forgotten.\n"
    }
  }
}

/// `threadkeeper clients enroll`
struct ClientsEnrollCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "enroll", "Take note of the keys of a user of the broker.",
    """
    LINE is what `threadkeeper client keygen` prints on the client's machine. Compare the \
    fingerprint there. A user that is enrolled already gets the new keys. It counts at once.

    Examples:
      threadkeeper clients enroll living-room-router tk1:…
      threadkeeper clients enroll living-room-router tk1:… --trust signed
      threadkeeper clients enroll hub \\
        "$(ssh hub threadkeeper client keygen | head -1)"
    """)

  @Argument(help: "The user's name at the broker.") var user: String

  @Argument(help: "The enrolment line: tk1:…") var line: String

  @Option(
    help: ArgumentHelp(
      "broker: what the user says in plaintext counts too; signed: only what it has signed.", valueName: "broker|signed"
    )) var trust: ClientTrust = .broker

  @Option(help: ArgumentHelp("What `clients list` says of it.", valueName: "text")) var label: String?

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try EnrollClient(home: home.name($0), user: user, line: line, trust: trust, label: label)
    } text: {
      """
      \(user) is \($0.change), with the trust \(trust.rawValue).
      fingerprint  \($0.client.fingerprint)
      The client seals to the daemon's line:
      \($0.daemon.line)

      """
    }
  }
}

extension ClientTrust: ExpressibleByArgument {}
