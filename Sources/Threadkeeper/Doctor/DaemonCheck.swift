import Bridge
import Broker
import Home
import KeychainCore
import Settings
import ThreadkeeperSupport
import Wire

/// Whether the daemon runs, and what it says of itself.
enum DaemonCheck {
  private static let check = Check(.daemon, "daemon")

  /// - Parameters:
  ///   - status: nil where no daemon answers.
  ///   - holder: who has the store.
  ///   - access: why this user may not look; nil where it may.
  static func findings(_ status: DaemonStatus?, holder: LockHolder?, access: CommandFailure? = nil) -> [Finding] {
    guard let status else {
      if let holder {
        return [
          check.problem(
            "The store is in use by \(holder), and no daemon answers",
            access?.remedy.map(Check.sentence) ?? "Restart the daemon: `sudo systemctl restart threadkeeper`",
            .unavailable)
        ]
      }
      if let access {
        return [check.notChecked("Whether a daemon runs: \(access.message)", access.remedy.map(Check.sentence))]
      }
      return [
        check.warning(
          "No daemon runs, so only what can be seen without one is checked",
          "Start it: `sudo systemctl start threadkeeper`, or `threadkeeper run`")
      ]
    }
    return [check.ok("threadkeeper \(status.version) runs as process \(status.pid)")] + status.findings
  }
}

extension DaemonStatus.Protected {
  fileprivate var finding: Finding {
    let check = Check(.daemon, "protection")
    guard let next = missing.first else { return check.ok("The home \(home) is protected") }
    return check.warning("The home \(home) is \(words)", next.remedy)
  }
}

extension DaemonStatus {
  fileprivate var findings: [Finding] {
    let connection = Check(.daemon, "connection")
    let findings = [
      version == threadkeeperVersion
        ? nil
        : Check(.daemon, "version").warning(
          "The daemon is version \(version), and this command is \(threadkeeperVersion)",
          "Restart the daemon: `sudo systemctl restart threadkeeper`"),
      // A daemon that is not connected may have started a second ago. What is found about the broker decides.
      broker.state == .connected
        ? connection.ok("It is connected to \(address)")
        : connection.warning(
          "It is not connected to \(address): \(broker.problem ?? "no answer yet")",
          "See what is found about the broker, here below"),
      login.passwordFrom == .unreadable
        ? connection.problem(
          "It cannot read the broker's password in its store", "Run `threadkeeper login`", .notPermitted) : nil,
      refused.map {
        Check(.daemon, "refused").problem("The broker refuses what the daemon publishes: \($0.problem)", $0.remedy)
      }, intakeFinding,
      page.state == .unavailable
        ? Check(.daemon, "page").warning(
          "The status page cannot be opened: \(page.problem ?? "")", page.remedy ?? "See the daemon's log") : nil,
    ]
    return findings.compactMap(\.self)
      + teams.lines.map { label, text in Check(.daemon, label).warning(text, "See `threadkeeper status`") } + [
        alertsFinding
      ] + protection.map(\.finding) + discoveryFindings
  }

  private var address: String {
    "\(broker.embedded ? "its private broker on " : "")\(HostAndPort(broker.host, broker.port))"
  }

  private var intakeFinding: Finding {
    let check = Check(.daemon, "intake")
    return switch intake.state {
    case .running:
      intake.reason.map { check.problem("It takes in events, but \($0)", "See `threadkeeper alerts`") }
        ?? check.ok("It takes in events")
    case .backingOff:
      check.problem(
        "It takes in no events: \(intake.reason ?? "the store cannot be written")",
        "See `threadkeeper alerts`. What routers publish waits on the broker", .inputOutput)
    case .connecting: check.warning("It does not listen yet", "Run this again in a minute")
    }
  }

  private var alertsFinding: Finding {
    let check = Check(.daemon, "alerts")
    guard !counts.firing.isEmpty else { return check.ok("No alert fires") }
    let words = "Alerts fire: \(counts.firing.map(\.words).listed)"
    let remedy = "`threadkeeper alerts` has the reason and the remedy of each"
    return counts.firing.contains { $0.severity != .info } ? check.warning(words, remedy) : check.note(words, remedy)
  }

  private var discoveryFindings: [Finding] {
    let check = Check(.system, "avahi")
    return switch discovery.state {
    case .running:
      [check.ok((discovery.reporter == nil ? "avahi-daemon answers" : "Border routers") + ": \(discovery.words)")]
        + (discovery.unlisted ?? []).map { check.note($0.sentence) }
    case .starting: [check.note("The search for border routers is only starting")]
    case .off: [check.note("Border routers are not searched for (setting `discovery.mdns`)")]
    case .unavailable:
      [
        check.warning(
          "Border routers on the local network are not found: \(discovery.problem ?? "")",
          discovery.remedy ?? "Install and start avahi-daemon")
      ]
    }
  }
}
