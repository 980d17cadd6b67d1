// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import ThreadDataset

/// `threadkeeper credentials delete`
struct CredentialsDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the stored credentials of one border router.",
    discussion: """
      The router stays in the list, without credentials. A router that announces itself again \
      stores them anew. Needs the store for itself: stop the keeper first.

      Examples:
        threadkeeper credentials delete a1b2c3d4e5f60718
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let deleted: String
  }

  func run() throws {
    let agent = try argument.agent()
    let settings = try options.load()
    let home = try argument.homeName(settings)
    let keychain = try OpenStore.forWriting(settings)
    defer { keychain.close() }
    let wasThere = try CredentialRemoval.remove(
      agent, home: home, configuration: BridgeConfiguration(settings), keychain: keychain)
    guard wasThere else {
      throw CommandFailure(.noInput, "no credentials of \(agent) are stored")
    }
    try output.show(
      Report(deleted: agent.description), text: "The credentials of \(agent) are deleted.\n")
  }
}
