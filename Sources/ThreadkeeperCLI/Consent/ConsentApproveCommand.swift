// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConsentLedger
import ThreadkeeperDaemon

/// `threadkeeper consent approve`
struct ConsentApproveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Give a program the credentials that it asks for.",
    discussion: """
      For the daemon's own user and root. With --always the same program is not asked about again for \
      this command and this network, until `consent revoke`. Ends with 66 when nothing of that id waits \
      any more, 69 when no daemon runs.

      Examples:
        threadkeeper consent approve c-0123456789abcdef
        threadkeeper consent approve c-0123456789abcdef --always
      """)

  @Argument(help: "The id that `threadkeeper consent list` shows.")
  var id: String

  @Flag(help: "Also the next times.")
  var always = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let past = try await DaemonClient(settings: options.loadOfStore()).perform(
      ApproveConsent(id: id, scope: always ? .always : .once))
    try output.show(past, text: Self.text(past))
  }

  static func text(_ past: ConsentReport.Decision) -> String {
    let who = past.requester.printable
    let what = past.wanted.printable
    let back = past.grant.map { "To take that back:\n  threadkeeper consent revoke \($0)\n" }
    guard past.given != false else { return notGiven(past) + (back ?? "") }
    if past.router != nil { return willBeSent(past, to: who, what) + (back ?? "") }
    guard let back else { return "\(who) gets \(what), this once.\n" }
    return "\(who) gets \(what), and from now on without a question. \(back)"
  }

  /// What a router is to use waits for the connection to the broker, and can still come to nothing.
  private static func willBeSent(
    _ past: ConsentReport.Decision, to who: String, _ what: String
  ) -> String {
    // A grant names no router.
    let scope = past.grant == nil ? "this once" : "and from now on for all routers of its own"
    return "\(who) is sent \(what), \(scope), as soon as the daemon is connected to the broker.\n"
  }

  private static func notGiven(_ past: ConsentReport.Decision) -> String {
    let who = past.requester.printable
    let what = past.networkNames.printable
    // Records of before say no reason: there were these two.
    let obstacle = past.notGiven ?? (past.router == nil ? .hungUp : .changed)
    let why = obstacle.message.printable
    // Of a router nobody waits for the answer.
    guard past.router == nil else {
      return
        "\(past.wanted.printable) is not given to \(who): \(why). "
        + "If it is still needed, you are asked again.\n"
    }
    let next = past.grant == nil ? "It has to ask again." : "It gets \(what) the next times."
    guard obstacle.code != ConsentObstacle.hungUp.code else {
      return "\(who) has hung up: nothing is given. \(next)\n"
    }
    return "Nothing is given to \(who). It is told why: \(why).\n"
      + (past.grant == nil ? "" : next + "\n")
  }
}
