// SPDX-License-Identifier: Apache-2.0

import BrokerProbe

/// What the broker keeps that it should not.
enum RetainedCheck {
  /// Topics that are named; the others are counted.
  private static let shown = 3

  /// - Parameters:
  ///   - report: of a probe of these bases.
  ///   - routers: topics of the routers that are listed, `<base>/router/<id>`; nil where that is not known.
  static func findings(
    _ report: AccessReport, bases: [String], routers: Set<String>?
  ) -> [Finding] {
    let check = Check(.broker, "retained")
    var findings: [Finding] = []
    let inbound = topics(report, below: "in", of: bases)
    if !inbound.isEmpty {
      findings.append(
        check.warning(
          "The broker keeps messages that are not to be retained, perhaps with network keys: "
            + list(inbound),
          "Clear each: `mosquitto_pub -r -n -t TOPIC`, as the login that may write there"))
    }
    let end = "/availability"
    let kept = topics(report, below: "router", of: bases).filter { $0.hasSuffix(end) }
      .map { String($0.dropLast(end.count)) }
    if let routers {
      let left = kept.filter { !routers.contains($0) }
      if !left.isEmpty {
        findings.append(
          check.warning(
            "The broker keeps states of border routers that are not listed: \(list(left))",
            "Clear each with the daemon's login: "
              + "`mosquitto_sub -t 'TOPIC/#' --remove-retained --retained-only -W 2`"))
      }
    } else if !kept.isEmpty {
      findings.append(
        check.notChecked(
          "Whether the broker keeps states of routers that are gone: the store cannot be read here",
          "Run this as the daemon's user"))
    }
    // What the login may not read, it does not get.
    let hidden = bases.filter { base in
      report.own.contains {
        $0.topic.base == base && [.inbound, .router].contains($0.topic.group)
          && $0.outcome != .delivered
      }
    }
    if !hidden.isEmpty {
      findings.append(
        check.notChecked(
          "Whether the broker keeps leftovers below \(list(hidden)): the daemon's login does not read all "
            + "of `in/` and `router/` there"))
    }
    guard findings.isEmpty else { return findings }
    return [
      check.ok("The broker keeps no messages below `in/`, and no states of unlisted border routers")
    ]
  }

  private static func topics(
    _ report: AccessReport, below level: String, of bases: [String]
  ) -> [String] {
    report.retained.filter { topic in
      bases.contains { topic.utf8.starts(with: "\($0)/\(level)/".utf8) }
    }
  }

  private static func list(_ topics: [String]) -> String {
    let more = topics.count - shown
    return topics.prefix(shown).map { "`\($0)`" }.joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}
