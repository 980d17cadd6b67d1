import Bridge
import Broker
import Home
import HomeStore
import LocalAPI
import ThreadRequests

/// The rows of a list, which the command prints with `--json`. Those of alerts, routers and networks are what is
/// published on the broker.
struct Rows<Row: Codable & Sendable>: Codable {
  var rows: [Row]
  /// Why there are none.
  var note: String?
  /// By home, how many records cannot be read: each may be of one more.
  var unreadable: [String: Int]?
}

/// A list that may be longer than a message: its rows come in as many replies as they need. The last reply also has the
/// rest of `Rows`.
protocol ListOperation: StreamOperation, ReadOperation where Reply == Rows<Row> {
  associatedtype Row: Codable & Sendable

  /// All of it. May wait for the disk.
  func list(_ context: OperationContext) throws -> Rows<Row>
}

extension ListOperation {
  func perform(_ context: OperationContext, _ replies: VarlinkReplies<Rows<Row>>) throws -> Rows<Row> {
    try context.read { try list(context) }.sent(by: replies)
  }
}

extension Rows {
  /// A row has a few hundred bytes, 8 KiB at most, and a message has at most 512 KiB.
  private static var inReply: Int { 50 }

  /// - Returns: the last reply.
  fileprivate func sent(by replies: VarlinkReplies<Rows>) throws -> Rows {
    var last = self
    var rest = rows[...]
    while rest.count > Self.inReply {
      try replies.send(Rows(rows: Array(rest.prefix(Self.inReply))))
      rest = rest.dropFirst(Self.inReply)
    }
    last.rows = Array(rest)
    return last
  }
}

/// Alerts that are firing.
struct ListAlerts: ListOperation {
  /// Also those that were resolved within the last day.
  var all: Bool

  func list(_ context: OperationContext) throws -> Rows<JSONValue> {
    let homes = context.homes
    let ways = RemedyWays(context.settings, isOnlyHome: homes.count == 1)
    return Rows(
      rows: homes.flatMap { name, home in home.alertStates(in: name, ways: ways, all: all).map { $0.jsonValue() } })
  }
}

/// Border routers; `note` says why there are none.
struct ListRouters: ListOperation {
  func list(_ context: OperationContext) throws -> Rows<JSONValue> {
    let homes = context.homes
    let routers = homes.flatMap { name, home in home.routerStates(in: name).map { $0.jsonValue() } }
    return Rows(rows: routers, note: routers.isEmpty ? whyNone(homes.map(\.home)) : nil)
  }

  private func whyNone(_ homes: [Home]) -> String {
    let credentials = homes.reduce(0) { $0 + $1.routers.totals.credentials }
    if credentials > 0 {
      let whose = credentials == 1 ? "one border router" : "\(credentials) border routers"
      return "No border router has announced itself yet. Credentials of \(whose) are stored: "
        + "`threadkeeper credentials list`."
    }
    if homes.contains(where: { $0.sharedCount > 0 }) {
      return "No border router is listed. A login shares credentials: `threadkeeper credentials list`."
    }
    guard homes.contains(where: { $0.routers.totals.departed > 0 }) else {
      return "No border router is listed. Each appears when it announces itself by MQTT, or when it is seen on "
        + "the local network."
    }
    return "No border router is there now: all that announced themselves have left."
  }
}

/// Thread networks.
struct ListNetworks: ListOperation {
  func list(_ context: OperationContext) throws -> Rows<JSONValue> {
    Rows(rows: context.homes.flatMap { name, home in home.networkStates(in: name).map { $0.jsonValue() } })
  }
}

/// Whose credentials are stored.
struct ListCredentials: ListOperation {
  func list(_ context: OperationContext) throws -> Rows<CredentialReport> {
    let homes = context.homes
    return Rows(
      rows: homes.flatMap { name, home in
        home.routers.compactMap { CredentialReport($0, in: name) }
          + home.allShared.map { CredentialReport($0, team: home.team(of: $0.user), in: name) }
      }, unreadable: context.unreadable)
  }
}

/// The networks that were preferred before, the newest first.
struct ListFormerNetworks: ListOperation {
  var home: String

  func list(_ context: OperationContext) throws -> Rows<FormerNetworkRecord> {
    Rows(rows: try context.home(named: home).home.former.map(FormerNetworkRecord.init))
  }
}
