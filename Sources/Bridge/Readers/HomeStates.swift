import Broker
import Home
import ThreadRequests
import Wire

/// The states of a home that are published, for lists.
extension Home {
  /// Border routers on the list, in the order in which they came.
  ///
  /// - Parameter name: of the home.
  package func routerStates(in name: String) -> [RouterState] {
    routers.lazy.filter(\.isPresent).map { RouterState($0, verdict(of: $0), in: name) }
  }

  /// By name.
  package func networkStates(in name: String) -> [NetworkState] { networks.map { NetworkState($0, in: name) } }

  /// Alerts that fire, the newest first.
  ///
  /// - Parameters:
  ///   - all: with those that were resolved within the last day.
  ///   - most: of more than these, the worst.
  package func alertStates(in name: String, ways: RemedyWays, all: Bool = false, most: Int = .max) -> [AlertState] {
    var shown = AlertState.all(alerts, resolved: all)
    if shown.count > most {
      func rank(_ alert: (key: AlertKey, value: Alert)) -> UInt8 { alert.key.severity(alert.value.facts).rawValue }
      shown = Array(shown.sorted { rank($0) < rank($1) }.prefix(most))
    }
    return shown.map { key, alert in
      let router = alert.facts.router.flatMap { ways.isOnPage ? routers[$0] : nil }
      return AlertState(key, alert, in: name, ways: ways, vendor: router?.vendor)
    }
  }

  /// Entries of a list on this machine: no more than a person or a script will read at once.
  package static let mostListed = 100_000

  /// What `routers/list`, `networks/list` and `alerts/list` come to.
  ///
  /// - Parameter most: entries that an answer can hold.
  package func states(_ command: RequestCommand, in name: String, ways: RemedyWays, most: Int = mostListed)
    throws(AnswerFailure) -> AnswerData
  {
    var data = AnswerData()
    switch command {
    case .listRouters: data.routers = try Self.values(routerStates(in: name), most)
    case .listNetworks: data.networks = try Self.values(networkStates(in: name), most)
    case .listAlerts: data.alerts = try Self.values(alertStates(in: name, ways: ways), most)
    default: throw AnswerFailure(.unsupported, "\(command.rawValue) is no list of states")
    }
    return data
  }

  private static func values(_ states: [some WireObject], _ most: Int) throws(AnswerFailure) -> [JSONValue] {
    guard states.count <= most else {
      throw AnswerFailure(.tooLarge, "there are more than \(most), which no answer can hold; their topics have them")
    }
    return states.map { $0.jsonValue() }
  }
}
