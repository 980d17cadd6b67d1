// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Home
import HomeStore
import ThreadDataset
import ThreadRequests
import ThreadkeeperDaemon

/// `threadkeeper consent`
struct ConsentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent",
    abstract: "Say who may have a network's credentials.",
    discussion: """
      A program that asks for the preferred network's credentials, or for those of a network that its \
      team has not stored, waits up to 120 seconds for a person. Without one it gets nothing. Whether the \
      credentials that Home Assistant shares are used is asked for a week.

      Examples:
        threadkeeper consent list
        threadkeeper consent approve c-0123456789abcdef
        threadkeeper consent list --grants
      """,
    subcommands: [
      ConsentListCommand.self, ConsentApproveCommand.self, ConsentDenyCommand.self,
      ConsentAskCommand.self, ConsentRevokeCommand.self,
    ])
}

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

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.perform(ApproveConsent(id: id, scope: always ? .always : .once))
    } text: {
      Self.text($0)
    }
  }

  static func text(_ past: ConsentReport.Decision) -> String {
    let who = past.requester.printable
    let what = past.wanted.printable
    let back = past.grant.map { "To take that back:\n  threadkeeper consent revoke \($0)\n" }
    if past.request.offersCredentials {
      let why = past.notGiven.map { " not used: \($0.message.printable)" } ?? " used from now on"
      return "The credentials of \(past.networkNames.printable) that \(who) has are\(why).\n"
    }
    if let obstacle = past.notGiven { return notGiven(past, why: obstacle) + (back ?? "") }
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

  private static func notGiven(
    _ past: ConsentReport.Decision, why obstacle: ConsentReport.Obstacle
  ) -> String {
    let who = past.requester.printable
    let what = past.networkNames.printable
    let why = obstacle.message.printable
    // Of a router nobody waits for the answer.
    guard past.router == nil else {
      return
        "\(past.wanted.printable) is not given to \(who): \(why). "
        + "If it is still needed, you are asked again.\n"
    }
    let next = past.grant == nil ? "It has to ask again." : "It gets \(what) the next times."
    guard obstacle.code != ConsentRecord.Obstacle.hungUp.code else {
      return "\(who) has hung up: nothing is given. \(next)\n"
    }
    return "Nothing is given to \(who). It is told why: \(why).\n"
      + (past.grant == nil ? "" : next + "\n")
  }
}

/// `threadkeeper consent deny`
struct ConsentDenyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny",
    abstract: "Refuse a program the credentials that it asks for.",
    discussion: """
      It gets that answer, and the same request is refused until it would have expired. Ends with 66 when \
      nothing of that id waits any more, 69 when no daemon runs.

      Example:
        threadkeeper consent deny c-0123456789abcdef
      """)

  @Argument(help: "The id that `threadkeeper consent list` shows.")
  var id: String

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.perform(DenyConsent(id: id))
    } text: {
      let (who, what) = ($0.requester.printable, $0.wanted.printable)
      return $0.request.offersCredentials
        ? "The credentials of \(what) that \(who) has are not used.\n"
        : "\(who) does not get \(what).\n"
    }
  }
}

/// `threadkeeper consent revoke`
struct ConsentRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Take an \"always\" back.",
    discussion: """
      The next request is a question again. What was given out is given out: only a new network key \
      makes it worthless. Ends with 66 when there is no such grant.

      Example:
        threadkeeper consent revoke g-0123456789abcdef
      """)

  @Argument(help: "The id that `threadkeeper consent list --grants` shows.")
  var id: String

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.perform(RevokeGrant(id: id))
    } text: {
      "\($0.requester.printable) is asked about again for \($0.networkNames.printable).\n"
    }
  }
}

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
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.perform(
        AskConsent(home: argument.home.name($0), borderAgentId: argument.agent().description))
    } text: {
      "You are asked again about \($0.borderAgentId); `threadkeeper consent list` shows it.\n"
    }
  }
}
