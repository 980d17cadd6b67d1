// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import KeychainCore
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

/// Whether the daemon runs, and what it says of itself.
enum DaemonCheck {
  private static let check = Check(.daemon, "daemon")

  /// - Parameters:
  ///   - status: nil where no daemon answers.
  ///   - holder: who has the store.
  ///   - access: why this user may not look; nil where it may.
  static func findings(
    _ status: StatusReport?, holder: LockHolder?, access: CommandFailure? = nil
  ) -> [Finding] {
    guard let status else {
      if let holder {
        return [
          check.problem(
            "The store is in use by \(holder), and no daemon answers",
            access?.remedy.map(Check.sentence)
              ?? "Restart the daemon: `sudo systemctl restart threadkeeper`",
            .unavailable)
        ]
      }
      if let access {
        return [
          check.notChecked(
            "Whether a daemon runs: \(access.message)", access.remedy.map(Check.sentence))
        ]
      }
      return [
        check.warning(
          "No daemon runs, so only what can be seen without one is checked",
          "Start it: `sudo systemctl start threadkeeper`, or `threadkeeper run`")
      ]
    }
    return [check.ok("threadkeeper \(status.version) runs as process \(status.pid)")]
      + version(status) + connection(status) + work(status) + alerts(status) + discovery(status)
  }

  private static func version(_ status: StatusReport) -> [Finding] {
    guard status.version != threadkeeperVersion else { return [] }
    return [
      Check(.daemon, "version").warning(
        "The daemon is version \(status.version), and this command is \(threadkeeperVersion)",
        "Restart the daemon: `sudo systemctl restart threadkeeper`")
    ]
  }

  private static func connection(_ status: StatusReport) -> [Finding] {
    let check = Check(.daemon, "connection")
    var findings: [Finding] = []
    switch status.broker.state {
    case .connected: findings.append(check.ok("It is connected to \(address(status))"))
    case .connecting:
      // It may have started a second ago. What is found about the broker decides.
      findings.append(
        check.warning(
          "It is not connected to \(address(status)): \(status.broker.problem ?? "no answer yet")",
          "See what is found about the broker, here below"))
    }
    if status.login.passwordFrom == .unreadable {
      findings.append(
        check.problem(
          "It cannot read the broker's password in its store", "Run `threadkeeper login`",
          .notPermitted))
    }
    if let refused = status.refused {
      findings.append(
        Check(.daemon, "refused").problem(
          "The broker refuses what the daemon publishes: \(refused.problem)", refused.remedy))
    }
    return findings
  }

  private static func address(_ status: StatusReport) -> String {
    "\(status.broker.embedded ? "its private broker on " : "")\(HostAndPort(status.broker.host, status.broker.port))"
  }

  private static func work(_ status: StatusReport) -> [Finding] {
    let check = Check(.daemon, "intake")
    var findings: [Finding] = []
    switch status.intake.state {
    case .running:
      findings.append(
        status.intake.reason.map {
          check.problem("It takes in events, but \($0)", "See `threadkeeper alerts`")
        } ?? check.ok("It takes in events"))
    case .backingOff:
      findings.append(
        check.problem(
          "It takes in no events: \(status.intake.reason ?? "the store cannot be written")",
          "See `threadkeeper alerts`. What routers publish waits on the broker", .inputOutput))
    case .connecting:
      findings.append(check.warning("It does not listen yet", "Run this again in a minute"))
    }
    if status.page.state == .unavailable {
      findings.append(
        Check(.daemon, "page").warning(
          "The status page cannot be opened: \(status.page.problem ?? "")",
          status.page.remedy ?? "See the daemon's log"))
    }
    findings += status.teams.lines.map { label, text in
      Check(.daemon, label).warning(text, "See `threadkeeper status`")
    }
    return findings
  }

  private static func alerts(_ status: StatusReport) -> [Finding] {
    let check = Check(.daemon, "alerts")
    guard !status.alertsFiring.isEmpty else { return [check.ok("No alert fires")] }
    let names = status.alertsFiring.map(\.words).listed
    let remedy = "`threadkeeper alerts` has the reason and the remedy of each"
    return status.alertsFiring.contains { $0.severity != .info }
      ? [check.warning("Alerts fire: \(names)", remedy)]
      : [check.note("Alerts fire: \(names)", remedy)]
  }

  private static func discovery(_ status: StatusReport) -> [Finding] {
    let check = Check(.system, "avahi")
    let discovery = status.discovery
    switch discovery.state {
    case .running:
      return [check.ok("avahi-daemon answers: \(discovery.words)")]
        + (discovery.unlisted ?? []).map { check.note($0.sentence) }
    case .starting: return [check.note("The search for border routers is only starting")]
    case .off: return [check.note("Border routers are not searched for (setting `discovery.mdns`)")]
    case .unavailable:
      return [
        check.warning(
          "Border routers on the local network are not found: \(discovery.problem ?? "")",
          discovery.remedy ?? "Install and start avahi-daemon")
      ]
    }
  }
}
