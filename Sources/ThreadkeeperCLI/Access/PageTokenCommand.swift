// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import ThreadkeeperDaemon

/// `threadkeeper page`
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "page",
    abstract: "Open the status page to a browser.",
    subcommands: [PageTokenCommand.self])
}

/// `threadkeeper page token`
struct PageTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make the token of the status page, and print the link with it.",
    discussion: """
      The token lies in a file beside the store, which the daemon reads at its start when the settings have no \
      `http.token`. A browser that has opened the link once shows the page and makes changes, until there is another token. Where there is a \
      token already, the link has that one.

      Examples:
        threadkeeper page token
        threadkeeper page token --new
      """)

  @Flag(
    help:
      "Make another token; links with the previous one end with the next start of the daemon."
  )
  var new = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let link: String
    let file: String
    /// Whether it was made by this command.
    let made: Bool
  }

  func run() throws {
    let settings = try options.load(assuming: ["THREADKEEPER_HTTP_ADDRESS": "127.0.0.1"])
    try OpenStore.checkMaking(settings)
    let token = try PageToken.findOrMake(settings, replacing: new)
    // Now that there is one, the address may be any.
    let link = PageToken.link(try options.load().http, token: token.text)
    try output.show(
      Report(
        link: link, file: settings.http.tokenFile(besideStore: settings.store.path),
        made: token.isNew),
      text: "\(link)\n" + advice(settings, isNew: token.isNew))
  }

  private func advice(_ settings: Settings, isNew: Bool) -> String {
    if !settings.http.isEnabled {
      return "The page is off: set `http.enabled: true`, and restart the daemon.\n"
    }
    return isNew ? "Restart the daemon, then open this link.\n" : ""
  }
}
