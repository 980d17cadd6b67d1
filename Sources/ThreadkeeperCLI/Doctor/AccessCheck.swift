// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import BrokerProbe
import MosquittoClient

/// What the broker's access list lets the daemon's login do, and everybody else.
enum AccessCheck {
  private static let list =
    "Put what `threadkeeper acl` prints into the broker's access list: see docs/guides/broker.md"

  /// - Parameters:
  ///   - other: the name of the other login, where one was given.
  ///   - prefix: `home_assistant.prefix`.
  ///   - daemonPublishes: whether a running daemon says that the broker takes all of its topics.
  static func findings(
    _ report: AccessReport, other: String?, prefix: String, daemonPublishes: Bool
  ) -> [Finding] {
    own(report, daemonPublishes: daemonPublishes) + filters(report, prefix: prefix)
      + others(report.anonymous, who: "a client without a login", check: "anonymous")
      + (report.other.map { client in
        others(client, who: "the login `\(other ?? "")`", check: "other_login")
          + positive(client, name: other ?? "")
      } ?? [
        Check(.access, "other_login").notChecked(
          "Whether another login reads or writes what is not its own",
          "Name one that the broker has, of a border router for instance: "
            + "`threadkeeper doctor --login USER`")
      ])
  }

  // MARK: The daemon's login

  private static func own(_ report: AccessReport, daemonPublishes: Bool) -> [Finding] {
    let check = Check(.access, "topics")
    var findings: [Finding] = []
    let well = Dictionary(
      grouping: report.own.filter { $0.outcome == .delivered }, by: \.topic.base)
    for (base, own) in well.sorted(by: { $0.key < $1.key }) {
      let groups = own.map { "`\($0.topic.group.rawValue)`" }.joined(separator: ", ")
      findings.append(
        check.ok("The daemon's login publishes and reads back below `\(base)`: \(groups)"))
    }
    for own in report.own where own.outcome != .delivered {
      let topic = own.topic.text
      let isPublished = own.topic.group != .inbound && own.topic.group != .outbound
      if daemonPublishes, isPublished {
        // Its own topics are taken; a list may name each of them.
        findings.append(
          check.notChecked(
            "`\(topic)` is refused or not read back; the running daemon's own topics are taken"))
        continue
      }
      switch own.outcome {
      case .delivered: break
      case .refused(let error), .unreadable(let error):
        findings.append(check.problem(Check.sentence(error.message), list))
      case .lost:
        findings.append(
          check.problem(
            "What the daemon's login publishes to `\(topic)` does not come back: it may not write or "
              + "not read there", list))
      case .notChecked(let why): findings.append(check.notChecked("`\(topic)`: \(why)"))
      }
    }
    return findings
  }

  private static func filters(_ report: AccessReport, prefix: String) -> [Finding] {
    let check = Check(.access, "other_topics")
    let probes = "/\(ProbeTopic.name)"
    return report.refusedFilters.filter { !$0.filter.hasSuffix(probes) }.map {
      $0.filter.hasPrefix("$SYS/")
        ? check.note("The broker's own counters are not readable: \($0.error.message)", list)
        : check.problem(Check.sentence($0.error.message), list)
    } + [
      check.notChecked(
        "`\(prefix)/status`, `\(prefix)/device/…` and the topics of `ingest` get no trial message, because "
          + "others act on it. While the daemon runs, `threadkeeper status` has a line `refused` for what the "
          + "broker does not take")
    ]
  }

  // MARK: Others

  private static func others(
    _ client: AccessReport.Client, who: String, check name: String
  ) -> [Finding] {
    let check = Check(.access, name)
    switch client {
    case .refused(let error):
      return name == "anonymous" && isDecision(error)
        ? [check.ok("The broker does not let \(who) in")]
        : [check.notChecked("\(Check.sentence(who)) was not let in: \(error.message)")]
    case .admitted(let homes):
      return homes.flatMap { findings($0, who: who, check) }
    }
  }

  /// Whether the broker has refused a client, and not merely not answered it.
  private static func isDecision(_ error: MosquittoError) -> Bool {
    switch error.reason {
    case .credentials, .notAuthorized, .clientIdentifier, .refused, .tlsClientCertificate,
      .closedByBroker:
      true
    default: false
    }
  }

  private static func findings(
    _ home: AccessReport.Others, who: String, _ check: Check
  ) -> [Finding] {
    let trials = [
      (home.readsAnswers, "reads `\(home.base)/out/` of others, where network keys are sent"),
      (home.readsEvents, "reads `\(home.base)/in/` of others, where routers publish network keys"),
      (home.speaksForOthers, "writes to `\(home.base)/in/` of others, so it speaks for any router"),
    ]
    var findings: [Finding] = []
    let allowed = trials.filter { $0.0.isDelivered == true }.map(\.1)
    if !allowed.isEmpty {
      findings.append(
        check.problem(
          "\(Check.sentence(who)) \(allowed.joined(separator: "; it "))", remedy(check)))
    }
    if home.publishesStates == .delivered {
      findings.append(
        check.warning(
          "\(Check.sentence(who)) can publish false states below `\(home.base)/bridge/`",
          "\(list). A login that is kept and a monitor can do this by the list"))
    }
    findings += trials.compactMap { outcome, what in
      guard case .notChecked(let why) = outcome else { return nil }
      return check.notChecked("Whether \(who) \(what): \(why)")
    }
    guard findings.isEmpty else { return findings }
    return [
      check.ok(
        "\(Check.sentence(who)) neither reads nor writes what is others' below `\(home.base)`")
    ]
  }

  private static func remedy(_ check: Check) -> String {
    check.name == "anonymous"
      ? "Set `allow_anonymous false` in mosquitto.conf, or deny it threadkeeper's topics with "
        + "`threadkeeper acl --keep-anonymous`: see docs/guides/broker.md"
      : list
  }

  /// What a border router's login needs. Others do not, so it is no problem.
  private static func positive(_ client: AccessReport.Client, name: String) -> [Finding] {
    guard case .admitted(let homes) = client else { return [] }
    let check = Check(.access, "other_login")
    return homes.map { home in
      let own = "`\(home.base)/in/\(name)/`"
      switch (home.speaksForItself?.isDelivered, home.isAnswered?.isDelivered) {
      case (true, true): return check.ok("The login `\(name)` speaks in \(own) and is answered")
      case (true, _):
        return check.note("The login `\(name)` speaks in \(own) and cannot read its answers", list)
      default:
        return check.note("The login `\(name)` cannot speak in \(own): no border router can use it")
      }
    }
  }
}
