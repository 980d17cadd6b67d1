// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadkeeperDaemon

/// What a person reads of `status`.
extension StatusReport {
  /// - Parameter width: columns of the terminal; nil: the lines are not wrapped.
  func text(width: Int?) -> String {
    let lines = [
      ("broker", broker.words.printable), ("login", login.words.printable),
      ("refused", refused?.words.printable ?? ""), ("intake", intake.words.printable),
      ("discovery", discovery?.words.printable ?? ""), ("page", page?.words.printable ?? ""),
      ("store", storeText),
      ("preferred", preferredText), ("routers", "\(routers)\(routerDetail)"),
      ("networks", "\(networks)"), ("credentials", "\(credentials)"),
    ]
    let head =
      "threadkeeper \(version.printable), \(running ? "running as process \(pid ?? 0)" : "not running")"
    return
      ([head]
      + (lines.filter { !$0.1.isEmpty } + alertLines + teams.lines).map { label, text in
        Self.label(label) + TextWrap.paragraph(text, indent: Self.labelWidth, width: width)
      })
      .map { $0 + "\n" }.joined()
  }

  private var routerDetail: String {
    let parts = [
      (routersOffline, "offline"), (routersDetached, "detached"),
      (routersElsewhere, "not on the network that they are configured for"),
    ]
    let shown = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
  }

  private static let labelWidth = 13

  private static func label(_ text: String) -> String {
    text + String(repeating: " ", count: labelWidth - text.count)
  }

  private var storeText: String {
    "\(store.path.printable), \(store.condition.printable)"
  }

  private var preferredText: String {
    guard !preferredNetworks.isEmpty else { return "none" }
    return preferredNetworks.map {
      let home = homes > 1 ? "\($0.home.printable): " : ""
      return "\(home)\($0.networkName.printable) (\($0.extPanId.printable))"
    }.joined(separator: ", ")
  }

  /// One line for each severity that fires.
  private var alertLines: [(String, String)] {
    let lines = AlertName.Severity.worstFirst.compactMap { severity -> String? in
      let alerts = alertsFiring.filter { $0.severity == severity }
      guard !alerts.isEmpty else { return nil }
      let names = alerts.map { $0.alertname.rawValue + ($0.count > 1 ? " (\($0.count))" : "") }
      // The report may be another user's.
      let count = alerts.map(\.count).reduce(0, &+)
      return "\(count) \(severity.rawValue): \(names.joined(separator: ", "))"
    }
    guard !lines.isEmpty else { return [("alerts", "none")] }
    return lines.enumerated().map { ($0 == 0 ? "alerts" : "", $1) }
  }
}

extension StatusReport.Login {
  var words: String {
    let name = username ?? "nobody"
    switch passwordFrom {
    case .settings: return "\(name), password from the settings"
    case .keychain: return "\(name), password from the store"
    case .none: return "\(name), without a password"
    case .unreadable: return "\(name), the stored password cannot be read"
    case .embedded: return "made by the private broker"
    }
  }
}

extension TeamCheck {
  /// Lines of `status`, each with its label; empty when all is well.
  var lines: [(String, String)] {
    var lines = empty.map {
      ("teams", "no user belongs to the team `\($0.printable)` of the settings")
    }
    if let first = abandonedIds.first {
      let others = abandonedIds.count - 1
      let more = others > 0 ? "; `threadkeeper status --json` has \(others) more" : ""
      lines.append(
        (
          "owners",
          "\(first.borderAgentId.printable) belongs to the team `\(first.team.printable)`, for which nobody "
            + "speaks: \(Self.remedy(first.borderAgentId.printable))\(more)"
        ))
    }
    return lines
  }
}
