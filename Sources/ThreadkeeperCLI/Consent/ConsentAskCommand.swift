// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper consent ask`
struct ConsentAskCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ask",
    abstract: "Be asked again whether a border router gets the preferred network's credentials.",
    discussion: """
      For a router of the alert AdoptionFailed: its question was denied or expired, or it did not use \
      what it was sent. The question waits again as soon as the router is online; `threadkeeper consent \
      list` shows it. Ends with 64 when there is nothing to ask again, 66 for an unknown id, 69 when no \
      daemon runs.

      Example:
        threadkeeper consent ask a1b2c3d4e5f60718
      """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    let router = try argument.router(settings)
    try await ConsentClient(settings: settings).ask(router)
    try output.show(
      router,
      text:
        "You are asked again about \(router.borderAgentId); `threadkeeper consent list` shows it.\n"
    )
  }
}
