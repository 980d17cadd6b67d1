// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper clients fingerprint`
struct ClientsFingerprintCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fingerprint",
    abstract: "Print the enrolment line and the fingerprint of the daemon, or of a user.",
    discussion: """
      Clients seal to the daemon's line, and believe what its keys have signed. It is in \
      `bridge/info` too; on a broker that you do not trust, take it from here.

      Examples:
        threadkeeper clients fingerprint
        threadkeeper clients fingerprint --json | jq -r .line
        threadkeeper clients fingerprint living-room-router
      """)

  @Argument(help: "A user's name at the broker; without it, the daemon.")
  var user: String?

  @OptionGroup var home: ClientHomeOption
  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let settings = try options.loadOfStore()
    var request = ClientsMethods.Selection()
    if let user {
      request.user = try EnrolmentService.checked(user)
      request.home = try home.name(settings)
    }
    let report = try await EnrolmentClient(settings: settings).fingerprint(request)
    if let daemon = report.daemon { return try output.show(daemon, text: daemon.text) }
    guard let client = report.clients?.first else { throw DaemonClient.unreadable }
    let text = "\(client.line)\nfingerprint  \(client.fingerprint)\n"
    try output.show(client, text: text)
  }
}
