// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `threadkeeper consent list`
struct ConsentListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the requests that wait, the grants, or the decisions.",
    discussion: """
      A login may ask for several border routers: then each line names the router that would be given the \
      credentials.

      What is asked for over MQTT is sealed to the key whose fingerprint is shown: `threadkeeper client \
      keygen` printed it on the machine of who asks.

      With --follow it goes on: each question that comes is a line, and so is its end, until Ctrl-C, also \
      over a restart of the daemon. --json prints a line of JSON for each then, with `event`: asked, \
      approved, denied or expired. What is over before it was seen is told as asked too, without `reason` \
      and `expires_at`.

      With --grants it lists who is given credentials without a question. A grant holds for the network key it was \
      given for. After the key has changed, the next request is a question again; such a grant is marked "asks \
      again" (--json: `asks_again`). The next `consent approve --always` replaces it.

      With --history it shows what was decided, the newest first. The last 1,000 decisions are kept. \
      `threadkeeper audit` has all of them, and whom credentials were given to each time.

      Examples:
        threadkeeper consent list
        threadkeeper consent list --follow
        threadkeeper consent list --json | jq -r '.pending[].id'
        threadkeeper consent list --grants
        threadkeeper consent list --history --last 5 --json
      """)

  @Flag(help: "Go on showing what comes, and what becomes of it.")
  var follow = false

  @Flag(help: "List who is given credentials without a question.")
  var grants = false

  @Flag(help: "Show what was decided.")
  var history = false

  @Option(help: ArgumentHelp("With --history: how many; 50 without it.", valueName: "number"))
  var last: Int?

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard [follow, grants, history].count(where: { $0 }) <= 1 else {
      throw ValidationError("Say one of --follow, --grants, --history.")
    }
    guard last == nil || history else { throw ValidationError("--last goes with --history.") }
    guard last ?? 1 > 0 else { throw ValidationError("--last is 1 or more.") }
  }

  func run() async throws {
    let client = DaemonClient(settings: try options.loadOfStore())
    if follow { return try await follow(client) }
    if grants {
      let report = try await client.perform(ListGrants())
      return try output.show(report, text: Self.text(report.grants))
    }
    if history {
      let report = try await client.perform(ListDecisions(limit: last ?? 50))
      return try output.show(report, text: Self.text(report.history))
    }
    var report = try await client.perform(ListConsents())
    // For --follow only.
    report.revision = nil
    try output.show(report, text: Self.text(report.pending))
  }

  private func follow(_ client: DaemonClient) async throws {
    var follower = ConsentFollower(
      history: { try await client.perform(ListDecisions(limit: $0)).history },
      show: { [isJSON = output.json] news in
        try StandardStream.output.write(isJSON ? JSONText.line(news) : news.text)
      })
    try await client.keepFollowing {
      try await follower.begin()
      return WatchConsents()
    } each: {
      try await follower.look(at: $0)
    }
  }

  static func text(_ pending: [ConsentReport.Pending]) -> String {
    guard let first = pending.first else { return "Nothing waits for consent.\n" }
    var table = Table(columns: "ID", "REQUESTER", "WANTS", "NETWORK", "ROUTER", "EXPIRES")
    for one in pending {
      table.add(
        one.id, one.requester, one.command, one.networkNames, one.router?.description ?? "",
        "in \(secondsLeft(one)) s")
    }
    let reasons = pending.map { "\($0.id): \($0.reason.printable).\n\(key(of: $0))" }.joined()
    // Of several nobody but who reads this knows which one is meant.
    let id = pending.count == 1 ? first.id : "ID"
    return """
      \(table.text())
      \(reasons)
      threadkeeper consent approve \(id)            this once
      threadkeeper consent approve \(id) --always   this and the next times
      threadkeeper consent deny \(id)

      """
  }

  /// Whose key it is can only be told by comparing.
  private static func key(of pending: ConsentReport.Pending) -> String {
    guard let fingerprint = pending.fingerprint else { return "" }
    return
      "The answer to \(pending.requester.printable) is sealed to the key \(fingerprint.printable).\n"
  }

  private static func secondsLeft(_ pending: ConsentReport.Pending) -> Int {
    guard let expires = try? Date(pending.expiresAt, strategy: .iso8601) else { return 0 }
    return max(0, Int(expires.timeIntervalSinceNow.rounded(.up)))
  }

  private static func text(_ grants: [ConsentReport.Grant]) -> String {
    var table = Table(
      columns: "ID", "REQUESTER", "MAY", "NETWORK", "SINCE", "GRANTED BY", "SEALED TO", "NOTE")
    for grant in grants {
      table.add(
        grant.id, grant.requester, grant.command, grant.networkNames, grant.createdAt,
        grant.grantedBy, grant.fingerprint ?? "", grant.asksAgain == true ? "asks again" : "")
    }
    return table.isEmpty ? "Everybody is asked about each time.\n" : table.text()
  }

  static func text(_ history: [ConsentReport.Decision]) -> String {
    var table = Table(
      columns: "DECIDED", "OUTCOME", "REQUESTER", "WANTED", "NETWORK", "ROUTER", "BY", "ID")
    for past in history {
      table.add(
        past.decidedAt, outcome(past), past.requester, past.command, past.networkNames,
        past.router?.description ?? "", past.decidedBy ?? "", past.id)
    }
    return table.isEmpty ? "Nothing has been decided yet.\n" : table.text()
  }

  private static func outcome(_ past: ConsentReport.Decision) -> String {
    guard past.outcome == "approved" else { return past.outcome }
    let approved = past.scope.map { "approved \($0)" } ?? past.outcome
    guard past.given == false else { return approved }
    return "\(approved), not given" + (past.notGiven.map { ": \($0.code)" } ?? "")
  }
}
