// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol
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
    abstract: "List the requests that wait.",
    discussion: """
      A login may ask for several border routers: then each line names the router that would be given the \
      credentials.

      What is asked for over MQTT is sealed to the key whose fingerprint is shown: `threadkeeper client \
      keygen` printed it on the machine of who asks.

      With --follow it goes on: each question that comes is a line, and so is its end, until Ctrl-C, also \
      over a restart of the daemon. --json prints a line of JSON for each then, with `event`: asked, \
      approved, denied or expired. What is over before it was seen is told as asked too, without `reason` \
      and `expires_at`.

      Examples:
        threadkeeper consent list
        threadkeeper consent list --follow
        threadkeeper consent list --json | jq -r '.pending[].id'
      """)

  @Flag(help: "Go on showing what comes, and what becomes of it.")
  var follow = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  /// Before a daemon that has ended is asked again.
  private static let pause = Duration.milliseconds(300)

  func run() async throws {
    let client = ConsentClient(settings: try options.loadOfStore())
    if follow { return try await follow(client) }
    var report = try await client.list()
    // For --follow only.
    report.revision = nil
    try output.show(report, text: Self.text(report.pending))
  }

  /// Only a daemon has questions, so one must run at the beginning. One that ends is waited for.
  private func follow(_ client: ConsentClient) async throws {
    var follower = ConsentFollower(
      history: { try await client.historyOfDaemon($0) },
      show: { [isJSON = output.json] news in
        try StandardStream.output.write(isJSON ? JSONText.line(news) : news.text)
      })
    var isFirst = true
    while true {
      do {
        try await follower.begin()
        try await client.watch {
          try await follower.look(at: $0)
          isFirst = false
        }
      } catch let failure as CommandFailure {
        guard !isFirst, failure.status == .unavailable || failure.status == .temporary else {
          throw failure
        }
      }
      try await Task.sleep(for: Self.pause)
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
}
