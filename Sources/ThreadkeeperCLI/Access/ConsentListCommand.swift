// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import ThreadkeeperDaemon

/// `threadkeeper consent list`
struct ConsentListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the requests that wait, the grants, or the decisions.",
    discussion: """
      A login may ask for several border routers: then each line names the router that would be given the \
      credentials.

      What is asked for over MQTT is sealed to the key whose fingerprint is shown: `threadkeeper client \
      keygen` printed it on the machine of who asks.

      With --follow it goes on: each question that comes is a line, and so is its end, until Ctrl-C, also \
      over a restart of the daemon. --json prints a line of JSON for each then, with `event`: asked, \
      approved, denied or expired. What is over before it was seen is told as asked too, without `reason` \
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

  @Flag(help: "Go on showing what comes, and what becomes of it.")
  var follow = false

  @Flag(help: "List who is given credentials without a question.")
  var grants = false

  @Flag(help: "Show what was decided.")
  var history = false

  @Option(help: ArgumentHelp("With --history: how many; 50 without it.", valueName: "number"))
  var last: Int?

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
        "ID": { $0.id }, "REQUESTER": { $0.requester }, "WANTS": { $0.command },
        "NETWORK": { $0.networkNames }, "ROUTER": { $0.router },
        "EXPIRES": { "in \(timeLeft($0))" },
      ])
    let reasons = pending.map { "\($0.id): \($0.reason.printable).\n\(key(of: $0))" }.joined()
    // Of several nobody but who reads this knows which one is meant.
    let id = pending.count == 1 ? first.id : "ID"
    let always =
      pending.allSatisfy { $0.request.offersCredentials }
      ? "" : "threadkeeper consent approve \(id) --always   this and the next times\n"
    return """
      \(table.text())
      \(reasons)
      threadkeeper consent approve \(id)            this once
      \(always)threadkeeper consent deny \(id)

      """
  }

  /// Whose key it is can only be told by comparing.
  private static func key(of pending: ConsentReport.Pending) -> String {
    guard let fingerprint = pending.fingerprint, !pending.request.offersCredentials else {
      return ""
    }
    return
      "The answer to \(pending.requester.printable) is sealed to the key \(fingerprint.printable).\n"
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
        "ID": { $0.id }, "REQUESTER": { $0.requester }, "MAY": { $0.command },
        "NETWORK": { $0.networkNames }, "SINCE": { $0.createdAt }, "GRANTED BY": { $0.grantedBy },
        "SEALED TO": { $0.fingerprint },
        "NOTE": {
          former.contains($0.home)
            ? "home \($0.home)" : $0.asksAgain == true ? "asks again" : nil
        },
      ])
    return table.text(none: "Everybody is asked about each time.\n")
      + former.map(\.notServed).joined()
  }

  static func text(_ history: [ConsentReport.Decision]) -> String {
    Table(
      history,
      [
        "DECIDED": { $0.decidedAt }, "OUTCOME": outcome, "REQUESTER": { $0.requester },
        "WANTED": { $0.command }, "NETWORK": { $0.networkNames }, "ROUTER": { $0.router },
        "BY": { $0.decidedBy }, "ID": { $0.id },
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
  mutating func news(
    _ pending: [ConsentReport.Pending], _ history: [ConsentReport.Decision]
  ) -> [ConsentNews] {
    var news: [ConsentNews] = []
    for one in pending where asked.insert(one.id).inserted {
      news.append(.asked(one.request, one.more))
    }
    // A grant that is revoked is no end of a question.
    for end in history.reversed()
    where end.outcome != "revoked" && ended.insert(end.id).inserted {
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

  private enum CodingKeys: String, CodingKey {
    case event
  }

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
      "\(question.createdAt)  \(question.id)  asked     "
        + "\(question.requester.printable) "
        + (question.offersCredentials ? "offers the credentials" : "wants \(question.command)")
        + " of \(question.wanted.printable)\n"
    case .ended(let decision):
      "\(decision.decidedAt)  \(decision.id)  \(words(of: decision))\n"
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
  var networkNames: String { networks.map(\.description).joined(separator: ", ") }

  /// With the router that would get it: `"home-thread" (1111111122222222) for deadbeefcafe0042 "Attic"`. One
  /// requester may speak for several.
  var wanted: String { networkNames + (router.map { " for \($0)" } ?? "") }
}
