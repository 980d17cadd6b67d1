import ArgumentParser
import Bridge
import Broker
import Home
import KeychainCore
import LocalAPI
import Settings
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// `threadkeeper status`
struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "status", "Show how the daemon is: the broker, the store, and what is in it.",
    """
    Ends with 69 when no daemon runs.

    Examples:
      threadkeeper status
      threadkeeper status --json | jq .alerts
    """)

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      let report = try await $0.status()
      try FleetHome.noteShard()
      return report
    } text: {
      $0.text
    }
  }
}

/// What a person reads of `status`.
extension DaemonStatus {
  var text: String {
    let lines =
      [
        ("broker", broker.words.printable), ("login", login.words.printable),
        ("refused", refused?.words.printable ?? ""), ("intake", intake.words.printable),
        ("discovery", discovery.words.printable), ("page", page.words.printable), ("store", storeText),
      ] + protectionLines + [
        ("preferred", preferredText), ("routers", "\(counts.routers.listed)\(routerDetail)"),
        ("networks", "\(counts.networks)"), ("credentials", "\(counts.credentials)"),
      ]
    let head = "threadkeeper \(version.printable), running as process \(pid)"
    return
      ([head]
      + (lines.filter { !$0.1.isEmpty } + alertLines + teams.lines).map { label, text in Self.label(label) + text }).map
    { $0 + "\n" }.joined()
  }

  private var routerDetail: String {
    let parts = [
      (counts.routers.offline, "offline"), (counts.routers.detached, "detached"),
      (counts.routers.elsewhere, "not on the network that they are configured for"),
    ]
    let shown = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return shown.isEmpty ? "" : " (\(shown.listed))"
  }

  private static let labelWidth = 13

  private static func label(_ text: String) -> String { text + String(repeating: " ", count: labelWidth - text.count) }

  private var storeText: String { "\(store.path.printable), \(store.condition.printable)" }

  /// Of each home: what is missing is a list itself.
  private var protectionLines: [(String, String)] {
    protection.enumerated().map { place, one in
      (place == 0 ? "protection" : "", (homes > 1 ? "\(one.home.printable): " : "") + one.words)
    }
  }

  private var preferredText: String {
    guard !preferred.isEmpty else { return "none" }
    return preferred.map {
      let home = homes > 1 ? "\($0.home.printable): " : ""
      return "\(home)\($0.name.printable) (\($0.network.printable))"
    }.listed
  }

  /// One line for each severity that fires.
  private var alertLines: [(String, String)] {
    let firing = counts.firing
    let lines = AlertSeverity.allCases.compactMap { severity -> String? in
      let alerts = firing.filter { $0.severity == severity }
      guard !alerts.isEmpty else { return nil }
      // The report may be another user's.
      let count = alerts.map(\.count).reduce(0, &+)
      return "\(count) \(severity.word): \(alerts.map(\.words).listed)"
    }
    guard !lines.isEmpty else { return [("alerts", "none")] }
    return lines.enumerated().map { ($0 == 0 ? "alerts" : "", $1) }
  }
}

extension DaemonStatus.Protected {
  /// Without a full stop.
  var words: String {
    missing.isEmpty
      ? "complete" : "\(state == .watching ? "watched" : "not protected yet"); missing: \(missing.map(\.words).listed)"
  }
}

extension Protection.Step {
  /// What is missing.
  var words: String {
    switch self {
    case .routers: "a border router"
    case .preferred: "a preferred network"
    case .key: "its credentials"
    case .alerts: "your word that alerts arrive"
    case .recoveryCode: "a recovery code"
    }
  }

  /// How it is taken.
  var remedy: String {
    switch self {
    case .routers: "`threadkeeper status` says whether border routers are looked for on the local network"
    case .preferred: "`threadkeeper networks` lists the networks, `threadkeeper preferred set` prefers one"
    case .key: "`threadkeeper networks join CODE` gets them by the code that a border router's app shows"
    case .alerts: "`threadkeeper alerts test` sends one; `threadkeeper alerts confirm` says that it arrived"
    case .recoveryCode: "`threadkeeper keys add --recovery-code` makes one"
    }
  }
}

extension HomeCounts.Firing { var words: String { "\(name.word)" + (count > 1 ? " (\(count))" : "") } }

extension DaemonStatus.Login {
  var words: String {
    let name = username ?? "nobody"
    return switch passwordFrom {
    case .settings: "\(name), password from the settings"
    case .keychain: "\(name), password from the store"
    case .none: "\(name), without a password"
    case .unreadable: "\(name), the stored password cannot be read"
    case .embedded: "made by the private broker"
    }
  }
}

extension DaemonStatus.Teams {
  /// Lines of `status`, each with its label; empty when all is well.
  var lines: [(String, String)] {
    var lines = empty.map { ("teams", "no user belongs to the team `\($0.printable)` of the settings") }
    if let first = abandoned.first {
      let others = abandoned.count - 1
      let more = others > 0 ? "; `threadkeeper status --json` has \(others) more" : ""
      lines.append(
        (
          "owners",
          "\(first.agent.printable) belongs to the team `\(first.team.printable)`, for which nobody "
            + "speaks: \(Self.remedy(first.agent.printable))\(more)"
        ))
    }
    return lines
  }
}

extension DaemonStatus.Connection {
  var words: String {
    let place = "\(embedded ? "embedded, " : "")\(HostAndPort(host, port))"
    return switch state {
    case .connected: "\(place), connected"
    case .connecting: "\(place), not connected" + (problem.map { ": \($0)" } ?? "")
    }
  }
}

extension DaemonStatus.Intake {
  var words: String {
    switch state {
    case .running: "running" + (reason.map { "; \($0)" } ?? "")
    case .connecting: "connecting" + (reason.map { ": \($0)" } ?? "")
    case .backingOff: "stands still" + (reason.map { ": \($0)" } ?? "")
    }
  }
}

extension DiscoveryState {
  var words: String {
    switch state {
    case .off: return "off (setting `discovery.mdns`)"
    case .starting: return "starting"
    case .unavailable: return "unavailable: \(problem ?? "") \(remedy ?? "")"
    case .running:
      let count = routers ?? 0
      let left = unlisted.flatMap { $0.isEmpty ? nil : "; records not listed: \($0.count)" } ?? ""
      let source = "mDNS\(reporter.map { " and the agent of \($0.printable)" } ?? "")"
      return "\(source), \(count == 1 ? "1 border router" : "\(count) border routers")\(left)"
    }
  }
}

extension DaemonStatus.Page {
  var words: String {
    switch state {
    case .off: "off (setting `http.enabled`)"
    case .starting: "starting"
    case .unavailable: "unavailable: \(problem ?? ""). \(remedy ?? "")"
    case .listening: listening
    }
  }
}

extension DaemonStatus.Page {
  private var listening: String {
    let proxy = trustedProxy.map { "through the proxy \($0)" }
    guard let url else { return proxy ?? "" }
    guard needsToken == true else {
      return "\(url), read only; `threadkeeper page token` lets you change something there"
    }
    return "\(url), with the link of `threadkeeper page token`\(proxy.map { ", or \($0)" } ?? "")"
  }
}

extension Refusal {
  var words: String {
    let place = problem.contains(topic) ? "" : ", `\(topic)`"
    return "\(count == 1 ? "1 topic" : "\(count) topics"); the last\(place): \(problem). \(remedy)"
  }
}

/// `threadkeeper alerts`
struct AlertsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "alerts", "List the alerts that are firing, and find out whether they reach you.",
    subcommands: [AlertsListCommand.self, AlertsTestCommand.self, AlertsConfirmCommand.self],
    defaultSubcommand: AlertsListCommand.self)
}

/// `threadkeeper alerts test`
struct AlertsTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "test", "Send an alert that says it is a test.",
    """
    TestAlert is published as every other alert is, as a warning, and resolves by itself within ten minutes. \
    When it has reached you, say so with `threadkeeper alerts confirm`.

    Examples:
      threadkeeper alerts test
    """)

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try TestAlert(home: home.name($0))
    } text: { _ in
      "A test alert is sent. Has it arrived? Then run `threadkeeper alerts confirm`.\n"
    }
  }
}

/// `threadkeeper alerts confirm`
struct AlertsConfirmCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "confirm", "Say that alerts reach you, on a phone or because you look at the page.",
    """
    A home does not count as protected before. It ends the test alert, too.

    Examples:
      threadkeeper alerts confirm
      threadkeeper alerts confirm --undo
    """)

  @Flag(help: "Take it back: alerts reach nobody any more.") var undo = false

  @OptionGroup var home: HomeOption
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try ConfirmAlerts(home: home.name($0), confirmed: !undo)
    } text: {
      $0.missing.isEmpty ? "The home is protected.\n" : "Noted. `threadkeeper status` says what is missing.\n"
    }
  }
}

/// `threadkeeper alerts list`, which may be left out.
struct AlertsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the alerts that are firing.",
    """
    Examples:
      threadkeeper alerts
      threadkeeper alerts --all
      threadkeeper alerts --json | jq '.[] | {alertname, summary, remedy}'
    """)

  @Flag(help: "Also those that were resolved within the last day.") var all = false

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.list(ListAlerts(all: all)).rows
    } text: {
      let style = TerminalStyle(of: .output)
      return $0.isEmpty ? "No alert is firing.\n" : $0.map { Self.text($0, style: style) }.joined()
    }
  }

  /// For a person: what, since when or until when, why, and what to do.
  static func text(_ alert: JSONValue, style: TerminalStyle) -> String {
    let severity = alert.text("severity")
    let mark = severity == AlertSeverity.critical.word.description ? style.red(severity) : style.bold(severity)
    var lines = [alert.text("summary").printable]
    if let differs = alert["differs"]?.array { lines.append("differs: \(differs.compactMap(\.text).listed)") }
    lines.append(alert.text("remedy").printable)
    return "\(mark) \(alert.text("alertname")) (\(period(alert)))\n" + lines.map { "  \($0)\n" }.joined()
  }

  private static func period(_ alert: JSONValue) -> String {
    let start = alert.text("starts_at")
    guard let end = alert["ends_at"]?.text else { return "firing since \(start)" }
    return "resolved at \(end), began at \(start)"
  }
}
