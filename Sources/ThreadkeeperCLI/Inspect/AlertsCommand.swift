// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Broker
import ThreadkeeperDaemon

/// `threadkeeper alerts`
struct AlertsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alerts",
    abstract: "List the alerts that are firing.",
    discussion: """
      Examples:
        threadkeeper alerts
        threadkeeper alerts --all
        threadkeeper alerts --json | jq '.[] | {alertname, summary, remedy}'
      """)

  @Flag(help: "Also those that were resolved within the last day.")
  var all = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let alerts = try await DaemonClient(settings: options.loadOfStore())
      .list(ListAlerts(all: all)).rows
    try output.show(alerts, text: text(alerts))
  }

  private func text(_ alerts: [AlertState]) -> String {
    guard !alerts.isEmpty else { return "No alert is firing.\n" }
    let style = TerminalStyle(of: .output)
    return alerts.map { $0.text(style: style, width: StandardStream.output.columns) }.joined()
  }
}

extension AlertState {
  /// For a person: what, since when or until when, why, and what to do.
  ///
  /// - Parameter width: columns of the terminal; nil: the lines are not wrapped.
  func text(style: TerminalStyle, width: Int?) -> String {
    let mark =
      severity == .critical ? style.red(severity.rawValue) : style.bold(severity.rawValue)
    var lines = [facts.summary.printable]
    if let differs = facts.differs { lines.append("differs: \(differs.joined(separator: ", "))") }
    lines.append(facts.remedy.printable)
    return "\(mark) \(name.rawValue) (\(period))\n"
      + lines.map { "  " + TextWrap.paragraph($0, indent: 2, width: width) + "\n" }.joined()
  }

  private var period: String {
    guard status == .resolved, let endsAt else { return "firing since \(startsAt)" }
    return "resolved at \(endsAt), began at \(startsAt)"
  }
}
