// SPDX-License-Identifier: Apache-2.0

/// What the broker keeps that it should not.
enum RetainedCheck {
  /// Topics that are named; the others are counted.
  private static let shown = 3

  /// - Parameters:
  ///   - retained: topics below the bases, as the probe reports them.
  ///   - routers: topics of the routers that are listed, `<base>/router/<id>`; nil where that is not known.
  static func findings(
    _ retained: [String], bases: [String], routers: Set<String>?
  ) -> [Finding] {
    let check = Check(.broker, "retained")
    var findings: [Finding] = []
    let inbound = retained.filter { topic in
      bases.contains { topic.utf8.starts(with: "\($0)/in/".utf8) }
    }
    if !inbound.isEmpty {
      findings.append(
        check.warning(
          "The broker keeps messages that are not to be retained, perhaps with network keys: "
            + list(inbound),
          "Clear each: `mosquitto_pub -r -n -t TOPIC`, as the login that may write there"))
    }
    let end = "/availability"
    let kept = retained.filter { $0.hasSuffix(end) }.map { String($0.dropLast(end.count)) }
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
    return findings.isEmpty
      ? [check.ok("The broker keeps no leftovers below the base topics")] : findings
  }

  private static func list(_ topics: [String]) -> String {
    let more = topics.count - shown
    return topics.prefix(shown).map { "`\($0)`" }.joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}
