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
      + others(report.anonymous, of: "a client without a login", check: "anonymous")
      + (report.other.map { client in
        others(client, of: "the login `\(other ?? "")`", check: "other_login")
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
      // A list may let the daemon only write these, and may name each of its topics.
      let isOnlyPublished = own.topic.group != .inbound && own.topic.group != .outbound
      switch own.outcome {
      case .delivered: break
      case .refused(let error) where daemonPublishes && isOnlyPublished:
        findings.append(
          check.warning(
            "\(Check.sentence(error.message)). So far it takes all that the running daemon publishes",
            list))
      case .refused(let error):
        findings.append(check.problem(Check.sentence(error.message), list))
      case .unreadable where isOnlyPublished, .lost where isOnlyPublished:
        findings.append(
          check.notChecked(
            "Whether the daemon's login may write to `\(topic)`: nothing comes back, so it may not read or "
              + "not write there; it needs only to write"))
      case .unreadable(let error):
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
        "`\(prefix)/status` and `\(prefix)/device/threadkeeper/…` get no trial message, because "
          + "others act on it. While the daemon runs, `threadkeeper status` has a line `refused` for what the "
          + "broker does not take")
    ]
  }

  // MARK: Others

  private static func others(
    _ client: AccessReport.Client, of subject: String, check name: String
  ) -> [Finding] {
    let check = Check(.access, name)
    switch client {
    case .refused(let error):
      return name == "anonymous" && isDecision(error)
        ? [check.ok("The broker does not let \(subject) in")]
        : [check.notChecked("\(Check.sentence(subject)) was not let in: \(reason(error))")]
    case .admitted(let homes):
      return homes.flatMap { findings($0, of: subject, check) }
    }
  }

  /// Whether the broker has refused a client for what it is. Anything else may be over tomorrow, or hit the daemon too.
  private static func isDecision(_ error: MosquittoError) -> Bool {
    switch error.reason {
    case .credentials, .notAuthorized, .tlsClientCertificate: true
    default: false
    }
  }

  /// The daemon's certificate is not shown for others, so its settings are no remedy.
  private static func reason(_ error: MosquittoError) -> String {
    error.reason == .tlsClientCertificate
      ? "the broker wants a certificate of its own from it" : error.message
  }

  private static func findings(
    _ home: AccessReport.Others, of subject: String, _ check: Check
  ) -> [Finding] {
    let trials = [
      (home.readsAnswers, "reads `\(home.base)/out/` of others, where network keys are sent"),
      (home.readsEvents, "reads `\(home.base)/in/` of others, where routers publish network keys"),
      (home.speaksForOthers, "writes to `\(home.base)/in/` of others, so it speaks for any router"),
      (home.writesAnswers, "writes to `\(home.base)/out/` of others, so it answers any router"),
    ]
    var findings: [Finding] = []
    let allowed = trials.filter { $0.0.isDelivered == true }.map(\.1)
    if !allowed.isEmpty {
      findings.append(
        check.problem(
          "\(Check.sentence(subject)) \(allowed.joined(separator: "; it "))", remedy(check)))
    }
    let states = (
      home.publishesStates, "writes to `\(home.base)/bridge/`, so its states may be false"
    )
    if home.publishesStates == .delivered {
      findings.append(
        check.warning(
          "\(Check.sentence(subject)) can publish false states below `\(home.base)/bridge/`",
          "\(list). A login that is kept and a monitor can do this by the list"))
    }
    findings += (trials + [states]).compactMap { outcome, what in
      guard case .notChecked(let why) = outcome else { return nil }
      return check.notChecked("Whether \(subject) \(what): \(why)")
    }
    guard findings.isEmpty else { return findings }
    return [
      check.ok(
        "\(Check.sentence(subject)) neither reads nor writes `in/` and `out/` of others below "
          + "`\(home.base)`, and does not write `bridge/`")
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
      switch (home.speaksForItself?.isDelivered, home.readsOwnAnswers?.isDelivered) {
      case (true, true): return check.ok("The login `\(name)` speaks in \(own) and is answered")
      case (true, false):
        return check.note("The login `\(name)` speaks in \(own) and cannot read its answers", list)
      case (false, _):
        return check.note("The login `\(name)` cannot speak in \(own): no border router can use it")
      case (nil, _), (true, nil):
        return check.notChecked("Whether the login `\(name)` speaks in \(own) and is answered")
      }
    }
  }
}
