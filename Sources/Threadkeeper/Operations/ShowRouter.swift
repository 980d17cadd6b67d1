import Bridge
import Broker
import Home
import Settings
import ThreadDataset
import ThreadRequests

/// All that is known of one border router, without a secret.
struct ShowRouter: ReadOperation {
  var home: String
  /// 16 or 32 hexadecimal digits.
  var borderAgentId: String

  /// Also what `routers show --json` prints.
  struct Reply: Codable {
    /// As published.
    var router: JSONValue
    /// As published, of this router: also those that were resolved within the last day.
    var alerts: [JSONValue]
    /// Its last 30 days, the oldest first.
    var past: [RouterSpan]
  }

  func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    let (name, home) = try context.home(named: home)
    guard let router = home.routers[agent], router.isPresent else { throw CommandFailure.notListed(agent) }
    let ways = RemedyWays(context.settings, isOnlyHome: context.homes.count == 1)
    let alerts = home.alertStates(in: name, ways: ways, all: true).filter { $0.alert.facts.router == agent }
    return Reply(
      router: RouterState(router, home.verdict(of: router), in: name).jsonValue(),
      alerts: alerts.map { $0.jsonValue() }, past: RouterSpan.all(home.past(of: router, at: context.bridge.loop.now)))
  }
}

/// Hours in which a router was the same.
struct RouterSpan: Codable, Hashable {
  /// `online`, `other_network`, `away`, `unknown`.
  var state: String
  var hours: Int

  /// - Parameter hours: of each.
  static func all(_ each: [RouterPast.Standing], hours: Int = 1) -> [RouterSpan] {
    each.reduce(into: []) { spans, standing in
      if spans.last?.state != standing.word { spans.append(RouterSpan(state: standing.word, hours: 0)) }
      spans[spans.count - 1].hours += hours
    }
  }
}

extension RouterPast.Standing {
  fileprivate var word: String {
    switch self {
    case .unknown: "unknown"
    case .online: "online"
    case .otherNetwork: "other_network"
    case .away: "away"
    }
  }
}

/// How long a router was the same in all.
struct RouterTotal: Encodable, Hashable {
  var state: String
  /// `away 20 hours`.
  var text: String
}

extension [RouterSpan] {
  /// How long it was each.
  var totals: [RouterTotal] {
    let names = [
      ("online", "online"), ("other_network", "on another network"), ("away", "away"), ("unknown", "unknown"),
    ]
    return names.compactMap { state, name in
      let hours = filter { $0.state == state }.map(\.hours).reduce(0, +)
      if hours == 0 { return nil }
      let (number, unit) = hours < 48 ? (hours, "hour") : (hours / 24, "day")
      return RouterTotal(state: state, text: "\(name) \(number) \(unit)\(number == 1 ? "" : "s")")
    }
  }

  /// The same, without a full stop: `online 29 days, away 20 hours`.
  var words: String { totals.map(\.text).joined(separator: ", ") }
}
