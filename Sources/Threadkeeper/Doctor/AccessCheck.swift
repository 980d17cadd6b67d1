import Broker

/// What the broker's access list lets the daemon's login do, and everybody else.
package enum AccessCheck {
  private static let list =
    "Put what `threadkeeper acl` prints into the broker's access list: see docs/guides/broker.md"

  /// - Parameters:
  ///   - login: the daemon's.
  ///   - other: the name of the other login, where one was given.
  ///   - prefix: `home_assistant.prefix`.
  package static func findings(_ report: AccessReport, login: String?, other: String?, prefix: String) -> [Finding] {
    let common =
      own(report, login) + filters(report, prefix: prefix)
      + others(report.anonymous, .withoutLogin, Check(.access, "anonymous"))
    let check = Check(.access, "other_login")
    guard let other, let client = report.other else {
      return common + [
        check.notChecked(
          "Whether another login reads or writes what is not its own",
          "Name one that the broker has, of a border router for instance: `threadkeeper doctor --login USER`")
      ]
    }
    return common + others(client, .login(other), check) + positive(client, name: other) + rights(client, other)
  }

  // MARK: What the settings promise

  private static let promises = Check(.access, "promises")
  private static let renewed = "Run `sudo threadkeeper setup` where the broker is: it prints what to change in the list"

  /// What the settings let other logins see and decide, by the broker's list.
  ///
  /// - Parameters:
  ///   - list: with these logins.
  ///   - gaps: nil where the broker's files are not seen here.
  ///   - tried: a login whose rights are tried at the broker.
  static func promises(_ list: AccessList, _ gaps: [AccessGap]?, tried: String?) -> [Finding] {
    let logins = (list.monitors + list.deciders).uniqued
    guard !logins.isEmpty else { return [] }
    guard let gaps else {
      return logins.filter { $0 != tried }.map {
        promises.notChecked(
          "Whether the broker lets \(AccessGap.Who.login($0).name) see and decide what the settings promise it",
          "Run `threadkeeper doctor --login \($0.quoted)`, or, where the broker is, `sudo threadkeeper doctor`")
      }
    }
    let lacking = AccessGap.words(gaps.filter { gap in !gap.isExcess && logins.contains { gap.who == .login($0) } })
    guard lacking.isEmpty else {
      return lacking.map {
        promises.problem("By the broker's access list \($0), though the settings promise it", renewed)
      }
    }
    let names = logins.map { "`\($0)`" }.listed
    return [promises.ok("The broker's access list gives \(names) what the settings promise")]
  }

  static func impossible(_ error: AccessListError) -> Finding {
    promises.problem(Check.sentence(error.message), "Correct `home_assistant.login` or `mqtt.username` in the settings")
  }

  /// The same of the other login, as tried.
  private static func rights(_ client: AccessReport.Client, _ name: String) -> [Finding] {
    guard case .admitted(let homes) = client else { return [] }
    let rights = homes.flatMap(\.rights)
    let lacking = AccessGap.words(rights.filter { $0.outcome.isDelivered == false }.map(\.gap))
    guard lacking.isEmpty else {
      return lacking.map { promises.problem("\(Check.sentence($0)), though the settings promise it", renewed) }
    }
    let unknown = rights.compactMap { right in
      if case .notChecked(let why) = right.outcome { why } else { nil as String? }
    }
    if let why = unknown.first {
      return [promises.notChecked("Whether the login `\(name)` has what the settings promise: \(why)")]
    }
    return rights.isEmpty ? [] : [promises.ok("The login `\(name)` sees and decides what the settings promise it")]
  }

  // MARK: The daemon's login

  private static func own(_ report: AccessReport, _ login: String?) -> [Finding] {
    let check = Check(.access, "topics")
    let well = Dictionary(grouping: report.own.filter { $0.outcome == .delivered }, by: \.topic.base)
    return well.sorted { $0.key < $1.key }.map { base, own in
      let groups = own.map { "`\($0.topic.group.rawValue)`" }.listed
      return check.ok("The daemon's login publishes and reads back below `\(base)`: \(groups)")
    } + refused(report, login, check) + lost(report, check)
      + report.own.compactMap { own in
        guard case .notChecked(let why) = own.outcome else { return nil }
        return check.notChecked("`\(own.topic.text)`: \(why)")
      }
  }

  /// A list may let the daemon only write these.
  private static func isOnlyWritten(_ own: AccessReport.Own) -> Bool {
    own.topic.group != .inbound && own.topic.group != .outbound
  }

  private static func refused(_ report: AccessReport, _ login: String?, _ check: Check) -> [Finding] {
    var reasons: [String] = []
    let gaps = report.own.compactMap { own -> AccessGap? in
      let refusal: (access: AccessRules.Access, error: MosquittoError)
      switch own.outcome {
      case .refused(let error): refusal = (.write, error)
      case .unreadable(let error) where !isOnlyWritten(own): refusal = (.read, error)
      default: return nil
      }
      if !reasons.contains(refusal.error.message) { reasons.append(refusal.error.message) }
      return AccessGap(login.map { .login($0) } ?? .withoutLogin, refusal.access, own.topic.text, isExcess: false)
    }
    return AccessGap.words(gaps).map {
      check.problem("\(Check.sentence($0)): \(reasons.joined(separator: "; "))", list)
    }
  }

  /// What is published and does not come back was not written, or is not read.
  private static func lost(_ report: AccessReport, _ check: Check) -> [Finding] {
    func topics(_ isIncluded: (AccessReport.Own) -> Bool) -> String? {
      let topics = report.own.filter(isIncluded).map { "`\($0.topic.text)`" }
      return topics.isEmpty ? nil : topics.listed
    }
    let needed = topics { $0.outcome == .lost && !isOnlyWritten($0) }
    let unread = topics { own in
      guard isOnlyWritten(own) else { return false }
      if case .unreadable = own.outcome { return true }
      return own.outcome == .lost
    }
    return
      (needed.map {
        [
          check.problem(
            "What the daemon's login publishes to \($0) does not come back: it may not write or not read there", list)
        ]
      } ?? [])
      + (unread.map {
        [
          check.notChecked(
            "Whether the daemon's login may write to \($0): nothing comes back, so it may not write or not read "
              + "there; it only has to write")
        ]
      } ?? [])
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

  private static func others(_ client: AccessReport.Client, _ who: AccessGap.Who, _ check: Check) -> [Finding] {
    switch client {
    case .refused(let error):
      return who == .withoutLogin && isDecision(error)
        ? [check.ok("The broker does not let \(who.name) in")]
        : [check.notChecked("\(Check.sentence(who.name)) was not let in: \(reason(error))")]
    case .admitted(let homes): return homes.flatMap { findings($0, who, check) }
    }
  }

  /// Whether the broker has refused a client for what it is. Anything else may be over tomorrow, or hit the daemon too.
  private static func isDecision(_ error: MosquittoError) -> Bool {
    error.isRefusal || error.reason == .tlsClientCertificate
  }

  /// The daemon's certificate is not shown for others, so its settings are no remedy.
  private static func reason(_ error: MosquittoError) -> String {
    error.reason == .tlsClientCertificate ? "the broker wants a certificate of its own from it" : error.message
  }

  private static func findings(_ home: AccessReport.Others, _ who: AccessGap.Who, _ check: Check) -> [Finding] {
    let attempts = home.attempts(by: who)
    let states = "`\(home.base)/bridge/`"
    var findings = AccessGap.words(attempts.filter { $0.outcome == .delivered }.map(\.gap)).map {
      check.problem(Check.sentence($0), who == .withoutLogin ? remedy : list)
    }
    if home.publishesStates == .delivered {
      findings.append(
        check.warning(
          "\(Check.sentence(who.name)) can publish false states below \(states)",
          "\(list). A login that is kept and a monitor can do this by the list"))
    }
    let trials =
      attempts.map { ($0.outcome, $0.gap.consequence) } + [
        (home.publishesStates, "writes to \(states), so its states may be false")
      ]
    findings += trials.compactMap { outcome, what in
      guard case .notChecked(let why) = outcome else { return nil }
      return check.notChecked("Whether \(who.name) \(what): \(why)")
    }
    guard findings.isEmpty else { return findings }
    let probe = ProbeTopic(base: home.base, group: .inbound).text
    return [
      check.ok(
        "\(Check.sentence(who.name)) neither reads nor writes what was tried of others below "
          + "`\(home.base)`, and does not write `bridge/`. One topic of each was tried: "
          + "`\(probe)`, and the same in `out/` and `bridge/`")
    ]
  }

  private static let remedy =
    "Set `allow_anonymous false` in mosquitto.conf, or deny it threadkeeper's topics with "
    + "`threadkeeper acl --keep-anonymous`: see docs/guides/broker.md"

  /// What a border router's login needs. Others do not, so it is no problem.
  private static func positive(_ client: AccessReport.Client, name: String) -> [Finding] {
    guard case .admitted(let homes) = client else { return [] }
    let check = Check(.access, "other_login")
    return homes.map { home in
      let own = "`\(home.base)/in/\(name)/`"
      switch (home.speaksForItself?.isDelivered, home.readsOwnAnswers?.isDelivered) {
      case (true, true): return check.ok("The login `\(name)` speaks in \(own) and is answered")
      case (true, false): return check.note("The login `\(name)` speaks in \(own) and cannot read its answers", list)
      case (false, _): return check.note("The login `\(name)` cannot speak in \(own): no border router can use it")
      case (nil, _), (true, nil):
        return check.notChecked("Whether the login `\(name)` speaks in \(own) and is answered")
      }
    }
  }
}

extension AccessReport.Others {
  /// What nobody but threadkeeper and the topic's login may do, and what became of the attempt.
  func attempts(by who: AccessGap.Who) -> [(gap: AccessGap, outcome: ProbeOutcome)] {
    [
      (.outbound, .read, readsAnswers), (.inbound, .read, readsEvents), (.inbound, .write, speaksForOthers),
      (.outbound, .write, writesAnswers),
    ].map { (group: ProbeTopic.Group, access: AccessRules.Access, outcome: ProbeOutcome) in
      let topic = ProbeTopic(base: base, group: group).text
      return (AccessGap(who, access, topic, isExcess: true), outcome)
    }
  }
}
