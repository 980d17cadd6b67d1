// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bridge
import BridgeProtocol

/// `threadkeeper alerts`
struct AlertsCommand: ParsableCommand {
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

  func run() throws {
    let alerts = try Registry(options).list { registry, home in
      try registry.alerts(in: home, all: all).map { $0.state(home: home.name) }
    }
    try output.show(alerts, text: text(alerts))
  }

  private func text(_ alerts: [AlertState]) -> String {
    guard !alerts.isEmpty else { return "No alert is firing.\n" }
    let style = TerminalStyle(of: .output)
    return alerts.map { alert in
      let severity = alert.severity.rawValue
      let mark = alert.severity == .critical ? style.red(severity) : style.bold(severity)
      return """
        \(mark) \(alert.name.rawValue) (\(alert.status.rawValue) since \(alert.startsAt))
          \(alert.facts.summary.printable)
          \((alert.facts.differs.map { "differs: \($0.joined(separator: ", "))\n  " } ?? ""))\
        \(alert.facts.remedy.printable)

        """
    }.joined()
  }
}
