import ArgumentParser
import FoundationEssentials
import Home
import HomeStore
import ThreadDataset
import ThreadRequests

/// `threadkeeper consent`
struct ConsentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "consent", "Say who may have a network's credentials.",
    """
    A program that asks for the preferred network's credentials, or for those of a network that its \
    team has not stored, waits up to 120 seconds for a person. Without one it gets nothing. Whether the \
    credentials that Home Assistant shares are used is asked for a week.

    Examples:
      threadkeeper consent list
      threadkeeper consent approve c-0123456789abcdef
      threadkeeper consent list --grants
    """,
    subcommands: [
      ConsentListCommand.self, ConsentApproveCommand.self, ConsentDenyCommand.self, ConsentAskCommand.self,
      ConsentRevokeCommand.self,
    ])
}

/// `threadkeeper consent approve`
struct ConsentApproveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "approve", "Give a program the credentials that it asks for.",
    """
    For the daemon's own user and root. With --always the same program is not asked about again for \
    this command and this network, until `consent revoke`. Ends with 66 when nothing of that id waits \
    any more, 69 when no daemon runs.

    Examples:
      threadkeeper consent approve c-0123456789abcdef
      threadkeeper consent approve c-0123456789abcdef --always
    """)

  @Argument(help: "The id that `threadkeeper consent list` shows.") var id: String

  @Flag(help: "Also the next times.") var always = false

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform { _ in
      ApproveConsent(id: id, scope: always ? .always : .once)
    } text: {
      Self.text($0)
    }
  }

  static func text(_ past: ConsentReport.Decision) -> String {
    let who = past.requester.printable
    let what = past.wanted.printable
    let back = past.grant.map { "To take that back:\n  threadkeeper consent revoke \($0)\n" }
    if past.request.offersCredentials {
      let why = past.notGiven.map { " not used: \($0.message.printable)" } ?? " used from now on"
      return "The credentials of \(past.networkNames.printable) that \(who) has are\(why).\n"
    }
    if past.request.changesStore {
      let what = past.networkNames.printable
      if let obstacle = past.notGiven { return "Nothing is changed about \(what): \(obstacle.message.printable).\n" }
      return "\(what) is changed in the store of \(who) as soon as its agent listens, within a day.\n"
    }
    if let obstacle = past.notGiven { return notGiven(past, why: obstacle) + (back ?? "") }
    if past.router != nil { return willBeSent(past, to: who, what) + (back ?? "") }
    guard let back else { return "\(who) gets \(what), this once.\n" }
    return "\(who) gets \(what), and from now on without a question. \(back)"
  }

  /// What a router is to use waits for the connection to the broker, and can still come to nothing.
  private static func willBeSent(_ past: ConsentReport.Decision, to who: String, _ what: String) -> String {
    // A grant names no router.
    let scope = past.grant == nil ? "this once" : "and from now on for all routers of its own"
    return "\(who) is sent \(what), \(scope), as soon as the daemon is connected to the broker.\n"
  }

  private static func notGiven(_ past: ConsentReport.Decision, why obstacle: ConsentReport.Obstacle) -> String {
    let who = past.requester.printable
    let what = past.networkNames.printable
    let why = obstacle.message.printable
    // Of a router nobody waits for the answer.
    guard past.router == nil else {
      return "\(past.wanted.printable) is not given to \(who): \(why). If it is still needed, you are asked again.\n"
    }
    let next = past.grant == nil ? "It has to ask again." : "It gets \(what) the next times."
    guard obstacle.code != ConsentRecord.Obstacle.hungUp.code else {
      return "\(who) has hung up: nothing is given. \(next)\n"
    }
    return "Nothing is given to \(who). The answer says why: \(why).\n" + (past.grant == nil ? "" : next + "\n")
  }
}

/// `threadkeeper consent deny`
struct ConsentDenyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "deny", "Refuse a program the credentials that it asks for.",
    """
    It gets that answer, and the same request is refused until it would have expired. Ends with 66 when \
    nothing of that id waits any more, 69 when no daemon runs.

    Example:
      threadkeeper consent deny c-0123456789abcdef
    """)

  @Argument(help: "The id that `threadkeeper consent list` shows.") var id: String

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform { _ in
      DenyConsent(id: id)
    } text: {
      let (who, what) = ($0.requester.printable, $0.wanted.printable)
      if $0.request.changesStore { return "Nothing is changed in the store of \(who).\n" }
      return $0.request.offersCredentials
        ? "The credentials of \(what) that \(who) has are not used.\n" : "\(who) does not get \(what).\n"
    }
  }
}

/// `threadkeeper consent revoke`
struct ConsentRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "revoke", "Take an \"always\" back.",
    """
    The next request is a question again. What was given out is given out: only a new network key \
    makes it worthless. Ends with 66 when there is no such grant.

    Example:
      threadkeeper consent revoke g-0123456789abcdef
    """)

  @Argument(help: "The id that `threadkeeper consent list --grants` shows.") var id: String

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform { _ in
      RevokeGrant(id: id)
    } text: {
      "\($0.requester.printable) is asked about again for \($0.networkNames.printable).\n"
    }
  }
}

/// `threadkeeper consent ask`
struct ConsentAskCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "ask", "Be asked again whether a border router gets the preferred network's credentials.",
    """
    For a router of the alert AdoptionFailed: its question was denied or expired, or it did not use \
    what it was sent. The question waits again as soon as the router is online; `threadkeeper consent \
    list` shows it. Ends with 64 when there is nothing to ask again, 66 for an unknown id, 69 when no \
    daemon runs.

    Example:
      threadkeeper consent ask a1b2c3d4e5f60718
    """)

  @OptionGroup var argument: CredentialArgument
  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.perform {
      try AskConsent(home: argument.home.name($0), borderAgentId: argument.agent().description)
    } text: {
      "You are asked again about \($0.borderAgentId); `threadkeeper consent list` shows it.\n"
    }
  }
}

/// `threadkeeper consent list`
struct ConsentListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the requests that wait, the grants, or the decisions.",
    """
    A login may ask for several border routers: then each line names the router that would be given the \
    credentials.

    What is asked for over MQTT is sealed to the key whose fingerprint is shown: `threadkeeper client \
    keygen` printed it on the machine of who asks.

    With --follow it goes on: each question that comes is a line, and so is its end, until Ctrl-C, also \
    over a restart of the daemon. --json prints a line of JSON for each then, with `event`: asked, \
    approved, denied or expired. What is over before it was seen is reported as asked, too, without `reason` \
    and `expires_at`.

    With --grants it lists who is given credentials without a question. A grant holds for the network key it was \
    given for. After the key has changed, the next request is a question again; such a grant is marked "asks \
    again" (--json: `asks_again`). The next `consent approve --always` replaces it.

    With --history it shows what was decided, the newest first. The last 1,000 decisions are kept. \
    `threadkeeper audit` has all of them, and whom credentials were given to each time.

    Examples:
      threadkeeper consent list
      threadkeeper consent list --follow
      threadkeeper consent list --json | jq -r '.pending[].id'
      threadkeeper consent list --grants
      threadkeeper consent list --history --last 5 --json
    """)

  /// Decisions among which those are that came since the last look.
  private static let lastDecisions = 100

  @Flag(help: "Go on showing what comes, and what becomes of it.") var follow = false

  @Flag(help: "List who is given credentials without a question.") var grants = false

  @Flag(help: "Show what was decided.") var history = false

  @Option(help: ArgumentHelp("With --history: how many; 50 without it.", valueName: "number")) var last: Int?

  @OptionGroup var options: CommandOptions

  func validate() throws {
    guard [follow, grants, history].count(where: { $0 }) <= 1 else {
      throw ValidationError("Say one of --follow, --grants, --history.")
    }
    guard last == nil || history else { throw ValidationError("--last goes with --history.") }
    guard last ?? 1 > 0 else { throw ValidationError("--last is 1 or more.") }
  }

  func run() async throws {
    if follow {
      try await followOn()
    } else if grants {
      let report = try await options.show {
        try await $0.perform(ListGrants())
      } text: {
        Self.text($0)
      }
      try CommandFailure.check(unreadable: report.unreadable)
    } else if history {
      try await options.show {
        try await $0.perform(ListDecisions(limit: last ?? 50))
      } text: {
        Self.text($0.history)
      }
    } else {
      try await options.show {
        var report = try await $0.perform(ListConsents())
        // For --follow only.
        report.revision = nil
        return report
      } text: {
        Self.text($0.pending)
      }
    }
  }

  private func followOn() async throws {
    let client = try options.daemon()
    func history() async throws -> [ConsentReport.Decision] {
      try await client.perform(ListDecisions(limit: Self.lastDecisions)).history
    }
    var follower = ConsentFollower(before: try await history())
    try await client.keepFollowing {
      WatchConsents()
    } each: {
      for news in follower.news($0.pending, try await history()) {
        try StandardStream.output.write(options.output.json ? JSONText.line(news) : news.text)
      }
    }
  }

  static func text(_ pending: [ConsentReport.Pending]) -> String {
    guard let first = pending.first else { return "Nothing waits for consent.\n" }
    let table = Table(
      pending,
      [
        "ID": { $0.id }, "REQUESTER": { $0.requester }, "WANTS": { $0.command }, "NETWORK": { $0.networkNames },
        "ROUTER": { $0.router }, "EXPIRES": { "in \(timeLeft($0))" },
      ])
    let reasons = pending.map { "\($0.id): \($0.reason.printable).\n\(key(of: $0))" }.joined()
    // Of several nobody but who reads this knows which one is meant.
    let id = pending.count == 1 ? first.id : "ID"
    let always =
      pending.allSatisfy(\.request.isOnce)
      ? "" : "threadkeeper consent approve \(id) --always   this and the next times\n"
    return """
      \(table.text())
      \(reasons)
      threadkeeper consent approve \(id)            this once
      \(always)threadkeeper consent deny \(id)

      """
  }

  /// Only comparing shows whose key it is.
  private static func key(of pending: ConsentReport.Pending) -> String {
    guard let fingerprint = pending.fingerprint, !pending.request.isOnce else { return "" }
    return "The answer to \(pending.requester.printable) is sealed to the key \(fingerprint.printable).\n"
  }

  private static func timeLeft(_ pending: ConsentReport.Pending) -> String {
    guard let expires = try? Date(pending.expiresAt, strategy: .iso8601) else { return "0 s" }
    let seconds = max(0, Int(expires.timeIntervalSinceNow.rounded(.up)))
    return seconds < 7_200 ? "\(seconds) s" : "\(seconds / 3_600) h"
  }

  static func text(_ report: ListGrants.Reply) -> String {
    let former = report.formerHomes ?? []
    let table = Table(
      report.grants,
      [
        "ID": { $0.id }, "REQUESTER": { $0.requester }, "MAY": { $0.command }, "NETWORK": { $0.networkNames },
        "SINCE": { $0.createdAt }, "GRANTED BY": { $0.grantedBy }, "SEALED TO": { $0.fingerprint },
        "NOTE": { former.contains($0.home) ? "home \($0.home)" : $0.asksAgain == true ? "asks again" : nil },
      ])
    return table.text(none: "Everybody is asked about each time.\n") + former.map(\.notServed).joined()
  }

  static func text(_ history: [ConsentReport.Decision]) -> String {
    Table(
      history,
      [
        "DECIDED": { $0.decidedAt }, "OUTCOME": outcome, "REQUESTER": { $0.requester }, "WANTED": { $0.command },
        "NETWORK": { $0.networkNames }, "ROUTER": { $0.router }, "BY": { $0.decidedBy }, "ID": { $0.id },
      ]
    ).text(none: "Nothing has been decided yet.\n")
  }

  private static func outcome(_ past: ConsentReport.Decision) -> String {
    guard past.outcome == "approved" else { return past.outcome }
    let approved = past.scope.map { "approved \($0)" } ?? past.outcome
    return approved + (past.notGiven.map { ", not given: \($0.code)" } ?? "")
  }
}

/// What is new about the questions that wait, from one look to the next.
struct ConsentFollower {
  /// More ids than this are cut to those of the last look. Older ones do not come back in the last decisions.
  static let remembered = 1_000

  /// Ids of questions that were reported.
  private var asked: Set<String> = []
  /// Ids of decisions that were reported, or were made before the first look.
  private var ended: Set<String>

  /// - Parameter history: the last decisions.
  init(before history: [ConsentReport.Decision]) { ended = Set(history.map(\.id)) }

  /// - Parameters:
  ///   - pending: all that wait now.
  ///   - history: the last decisions, newest first, from after that.
  mutating func news(_ pending: [ConsentReport.Pending], _ history: [ConsentReport.Decision]) -> [ConsentNews] {
    var news: [ConsentNews] = []
    for one in pending where asked.insert(one.id).inserted { news.append(.asked(one.request, one.more)) }
    // A grant that is revoked is no end of a question.
    for end in history.reversed() where end.outcome != "revoked" && ended.insert(end.id).inserted {
      if asked.insert(end.id).inserted { news.append(.asked(end.request, nil)) }
      news.append(.ended(end))
    }
    if idCount > Self.remembered {
      let seen = Set(history.map(\.id))
      asked.formIntersection(seen.union(pending.map(\.id)))
      ended.formIntersection(seen)
    }
    return news
  }

  /// Of questions and decisions together.
  var idCount: Int { asked.count + ended.count }
}

/// A line of `consent list --follow`: a question has come, or is over.
enum ConsentNews: Encodable {
  /// Without what it says to who decides where it was decided before it was seen.
  case asked(ConsentReport.Request, ConsentReport.Waiting?)
  case ended(ConsentReport.Decision)

  private enum CodingKeys: String, CodingKey { case event }

  /// `asked`, `approved`, `denied` or `expired`, beside the fields of the request or the decision.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .asked(let question, let more):
      try fields.encode("asked", forKey: .event)
      try question.encode(to: encoder)
      try more?.encode(to: encoder)
    case .ended(let decision):
      try fields.encode(decision.outcome, forKey: .event)
      try decision.encode(to: encoder)
    }
  }

  var text: String {
    switch self {
    case .asked(let question, _):
      "\(question.createdAt)  \(question.id)  asked     \(question.requester.printable) "
        + (question.offersCredentials
          ? "offers the credentials" : "\(question.changesStore ? "is to do" : "wants") \(question.command)")
        + " of \(question.wanted.printable)\n"
    case .ended(let decision): "\(decision.decidedAt)  \(decision.id)  \(words(of: decision))\n"
    }
  }

  private func words(of decision: ConsentReport.Decision) -> String {
    var words = decision.outcome
    if decision.outcome == "approved", let scope = decision.scope { words += " \(scope)" }
    if let by = decision.decidedBy { words += " by \(by.printable)" }
    if let router = decision.router { words += ", for \(router.description.printable)" }
    if let obstacle = decision.notGiven { words += ", not given: \(obstacle.message.printable)" }
    return words
  }
}

extension String {
  /// Of a home that the settings do not name: a line.
  var notServed: String {
    "The home \(printable) is not in the settings: nothing of it holds. Put it back before you revoke.\n"
  }
}

extension ConsentReport.Request {
  var networkNames: String { networks.map(\.description).listed }

  /// With the router that would get it: `"home-thread" (1111111122222222) for deadbeefcafe0042 "Attic"`. One
  /// requester may speak for several.
  var wanted: String { networkNames + (router.map { " for \($0)" } ?? "") }
}
