import ArgumentParser
import ThreadDataset
import ThreadRequests

/// `threadkeeper credentials`
struct CredentialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "credentials", "Look at the stored Thread credentials, or delete some.",
    subcommands: [CredentialsListCommand.self, CredentialsGetCommand.self, CredentialsDeleteCommand.self])
}

/// `threadkeeper credentials list`
struct CredentialsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List whose credentials are stored, and what logins share. Shows no secret.",
    """
    Examples:
      threadkeeper credentials list
      threadkeeper credentials list --json
    """)

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.list(
      { _ in ListCredentials() },
      [
        "BORDER AGENT ID": { $0.borderAgentId }, "TEAM": { $0.team }, "NETWORK": { $0.networkName },
        "EXTENDED PAN ID": { $0.extPanId }, "CHANNEL": { $0.channel }, "TIMESTAMP": { $0.activeTimestamp },
      ], ifAny: ["LACKS": { $0.lacks?.listed }, "SHARED BY": { $0.sharedBy }], none: "No credentials are stored.")
  }
}

extension CommandFailure {
  /// Says that a list may be incomplete, after it was printed.
  ///
  /// - Parameter unreadable: by home, how many records cannot be read.
  static func check(unreadable: [String: Int]?) throws(CommandFailure) {
    guard let homes = unreadable?.sorted(by: { $0.key < $1.key }), let first = homes.first else { return }
    let counts = homes.map { "\(String.records($0.value)) of the home \($0.key.printable)" }
    let option = homes.count == 1 ? " --home \(first.key.printable.quoted)" : ""
    throw CommandFailure(
      .badInput, "\(counts.listed) cannot be read, and each may be of one more",
      remedy: "restore a backup, or give up what none has with `threadkeeper store forget-damaged\(option)`")
  }
}

/// Which router's credentials are meant.
struct CredentialArgument: ParsableArguments {
  @Argument(help: "The border agent id: 16 or 32 hex digits.") var borderAgentID: String

  @OptionGroup var home: HomeOption

  func agent() throws -> BorderAgentID { try BorderAgentID(parameter: borderAgentID) }
}

/// `threadkeeper credentials get`
struct CredentialsGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "get", "Show the stored credentials of one border router.",
    """
    The dataset holds the network key and is printed only with --show-secrets.

    Examples:
      threadkeeper credentials get a1b2c3d4e5f60718
      threadkeeper credentials get a1b2c3d4e5f60718 --show-secrets --json | \\
        jq -r .dataset
    """)

  @OptionGroup var argument: CredentialArgument
  @Flag(help: "Print the dataset, which holds the network key.") var showSecrets = false
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try ShowCredential(home: argument.home.name($0), borderAgentId: argument.agent().description, secret: showSecrets)
    } text: {
      $0.text
    }
  }
}

/// `threadkeeper credentials delete`
struct CredentialsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "delete", "Delete the stored credentials of one border router.",
    """
    The router stays in the list, without credentials. A router that announces itself again \
    stores them again.

    Examples:
      threadkeeper credentials delete a1b2c3d4e5f60718
    """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: CommandOptions

  func run() async throws {
    let agent = try argument.agent()
    try await options.show {
      var request = ThreadRequest(.deleteCredentials)
      request.agent = agent
      request.home = try argument.home.name($0)
      // Done twice, the second time there is nothing to delete.
      _ = try await $0.perform(request)
      return ["deleted": agent.description]
    } text: { _ in
      "The credentials of \(agent) are deleted.\n"
    }
  }
}
