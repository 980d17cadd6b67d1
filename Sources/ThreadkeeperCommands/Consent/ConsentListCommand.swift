// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol

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
      What is asked for over MQTT is sealed to the key whose fingerprint is shown: `threadkeeper client \
      show` prints it on the machine of who asks.

      Examples:
        threadkeeper consent list
        threadkeeper consent list --json | jq -r '.pending[].id'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await ConsentCounter(settings: options.load()).perform(.init(.list))
    try output.show(report, text: Self.text(report.pending ?? []))
  }

  private static func text(_ pending: [ConsentReport.Pending]) -> String {
    guard let first = pending.first else { return "Nothing waits for consent.\n" }
    var table = Table(columns: "ID", "REQUESTER", "WANTS", "NETWORK", "EXPIRES")
    for one in pending {
      table.add(
        one.id, one.requester, one.command, one.networkNames, "in \(secondsLeft(one)) s")
    }
    let reasons = pending.map { "\($0.reason.printable).\n\(key(of: $0))" }.joined()
    return """
      \(table.text())
      \(reasons)
      threadkeeper consent approve \(first.id)            this once
      threadkeeper consent approve \(first.id) --always   this and the next times
      threadkeeper consent deny \(first.id)

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
