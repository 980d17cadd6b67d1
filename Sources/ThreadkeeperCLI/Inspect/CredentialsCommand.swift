// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper credentials`
struct CredentialsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credentials",
    abstract: "Look at the stored Thread credentials, or delete some.",
    subcommands: [
      CredentialsListCommand.self, CredentialsGetCommand.self, CredentialsDeleteCommand.self,
    ])
}

/// `threadkeeper credentials list`
struct CredentialsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List whose credentials are stored, and what logins share. Shows no secret.",
    discussion: """
      Examples:
        threadkeeper credentials list
        threadkeeper credentials list --json
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let list = try await DaemonClient(settings: options.loadOfStore()).list(ListCredentials())
    // Most homes have none.
    let isPartial = list.rows.contains { $0.lacks != nil }
    let isShared = list.rows.contains { $0.sharedBy != nil }
    var table = Table(
      ["BORDER AGENT ID", "TEAM", "NETWORK", "EXTENDED PAN ID", "CHANNEL", "TIMESTAMP"]
        + (isPartial ? ["LACKS"] : []) + (isShared ? ["SHARED BY"] : []))
    for credential in list.rows {
      let cells = [
        credential.borderAgentId ?? "", credential.team, credential.networkName ?? "",
        credential.extPanId ?? "", credential.channel.map(String.init) ?? "",
        credential.activeTimestamp.map { String($0) } ?? "",
      ]
      let lacks = credential.lacks?.joined(separator: ", ") ?? ""
      table.add(cells + (isPartial ? [lacks] : []) + [credential.sharedBy ?? ""])
    }
    try output.show(
      list.rows,
      text: table.isEmpty ? "No credentials are stored.\n" : table.text(style: .init(of: .output)))
    try CommandFailure.check(unreadable: list.unreadable)
  }
}

extension CommandFailure {
  /// Says that a list may be incomplete, after it was printed.
  ///
  /// - Parameter unreadable: by home, how many records cannot be read.
  static func check(unreadable: [String: Int]?) throws(CommandFailure) {
    guard let homes = unreadable?.sorted(by: { $0.key < $1.key }), let first = homes.first else {
      return
    }
    let counts = homes.map { "\(String.records($0.value)) of the home \($0.key.printable)" }
    let option = homes.count == 1 ? " --home \(first.key.printable.quoted)" : ""
    throw CommandFailure(
      .badInput,
      "\(counts.joined(separator: ", ")) cannot be read, and each may be of one more",
      remedy: "restore a backup, or give up what none has with"
        + " `threadkeeper store forget-damaged\(option)`")
  }
}

/// Which router's credentials are meant.
struct CredentialArgument: ParsableArguments {
  @Argument(help: "The border agent id: 16 or 32 hex digits.")
  var borderAgentID: String

  @OptionGroup var home: HomeOption

  func agent() throws -> BorderAgentID { try BorderAgentID(parameter: borderAgentID) }

  func homeName(_ settings: Settings) throws -> String { try home.name(settings) }
}

/// `threadkeeper credentials get`
struct CredentialsGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Show the stored credentials of one border router.",
    discussion: """
      The dataset holds the network key and is printed only with --show-secrets.

      Examples:
        threadkeeper credentials get a1b2c3d4e5f60718
        threadkeeper credentials get a1b2c3d4e5f60718 --show-secrets --json | \\
          jq -r .dataset
      """)

  @OptionGroup var argument: CredentialArgument
  @Flag(help: "Print the dataset, which holds the network key.")
  var showSecrets = false
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let agent = try argument.agent()
    let settings = try options.loadOfStore()
    let report = try await DaemonClient(settings: settings).perform(
      ShowCredential(
        home: argument.homeName(settings), borderAgentId: agent.description, secret: showSecrets))
    try output.show(report, text: report.text)
  }
}

/// `threadkeeper credentials delete`
struct CredentialsDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the stored credentials of one border router.",
    discussion: """
      The router stays in the list, without credentials. A router that announces itself again \
      stores them again.

      Examples:
        threadkeeper credentials delete a1b2c3d4e5f60718
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let deleted: String
  }

  func run() async throws {
    let agent = try argument.agent()
    let settings = try options.loadOfStore()
    var request = ThreadRequest(.deleteCredentials)
    request.home = try argument.homeName(settings)
    request.agent = agent
    // Done twice, the second time there is nothing to delete.
    _ = try await DaemonClient(settings: settings).perform(request)
    try output.show(
      Report(deleted: agent.description), text: "The credentials of \(agent) are deleted.\n")
  }
}
