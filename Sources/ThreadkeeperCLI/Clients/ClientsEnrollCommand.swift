// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientEnrolment
import ThreadkeeperDaemon

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
  var trust: EnrolledClient.Trust = .broker

  @Option(help: ArgumentHelp("What `clients list` says of it.", valueName: "text"))
  var label: String?

  @OptionGroup var home: ClientHomeOption
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

extension EnrolledClient.Trust: ExpressibleByArgument {}
