// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

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
    let report = try await EnrolmentClient(settings: settings).list(
      try home.map { try settings.home(named: $0) })
    try output.show(report, text: text(report))
  }

  private func text(_ report: EnrolmentReport) -> String {
    var table = Table(columns: "HOME", "USER", "TRUST", "FINGERPRINT", "ENROLLED", "LABEL")
    for client in report.clients ?? [] {
      table.add(
        client.home, client.user, client.trust, client.fingerprint, client.enrolledAt, client.label)
    }
    let damaged = (report.damaged ?? []).map {
      "The enrolment of \($0.printable) is damaged: enrol it again.\n"
    }
    let revoked = (report.revoked ?? []).map {
      "The keys of \($0.printable) are revoked; what it says in plaintext is not believed either.\n"
    }
    let notes = damaged + revoked
    let users = table.isEmpty && notes.isEmpty ? "Nobody is enrolled.\n" : table.text()
    let daemon = report.daemon.map {
      "The daemon's line:\n\($0.line)\nfingerprint  \($0.fingerprint)\n"
    }
    return users + notes.joined() + (daemon ?? "")
  }
}
