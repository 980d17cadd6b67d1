import Home
import ThreadDataset
import Wire

/// How the search for border routers on the local network is.
package struct DiscoveryState: WirePart, WireMessage, WireReadable, Equatable, Sendable {
  package enum State: String, WireName, Sendable {
    /// By the settings.
    case off
    /// The first list is not complete yet.
    case starting
    case running
    /// What the daemon knew before stays listed as it was.
    case unavailable
  }

  package var state = State.off
  /// Border routers that are advertised and listed.
  package var routers: Int?
  /// Records that are not, and why.
  package var unlisted: [UnlistedRecord]?
  package var problem: String?
  package var remedy: String?
  /// The login of an agent that sees some of them, where the daemon does not.
  package var reporter: String?

  package init() {}

  package static let off = DiscoveryState()

  package static let starting: DiscoveryState = {
    var result = DiscoveryState()
    result.state = .starting
    return result
  }()

  package static func running(routers: Int, unlisted: [UnlistedRecord]) -> DiscoveryState {
    var result = DiscoveryState()
    (result.state, result.routers, result.unlisted) = (.running, routers, unlisted)
    return result
  }

  package static func unavailable(message: String, remedy: String) -> DiscoveryState {
    var result = DiscoveryState()
    (result.state, result.problem, result.remedy) = (.unavailable, message, remedy)
    return result
  }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("problem", &problem)
    c.field("remedy", &remedy)
    c.field("reporter", &reporter)
    c.field("routers", &routers)
    c.needed("state", &state)
    c.field("unlisted", &unlisted)
  }
}

/// A record on the local network that is not listed as a border router, by the name of its service instance.
package struct UnlistedRecord: WirePart, WireMessage, WireReadable, Equatable, Sendable {
  package var name = ""
  /// Why, as a clause.
  package var reason = ""

  package init() {}

  package init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.needed("name", &name)
    c.needed("reason", &reason)
  }

  init(_ refused: RefusedSighting) {
    name = refused.advertisement.name ?? refused.advertisement.agents[0].description
    reason =
      switch refused.reason {
      case .again(let agent): "it is another record of the border router \(agent), which is listed"
      case .removed: "its border router was removed; when it answers again, it is listed again"
      case .left: "its login reported that it left"
      case .elsewhere: "it is announced in another home"
      case .tooMany:
        "\(Home.mostDiscovered) border routers are listed by their records alone, or as many were new in this hour"
      }
  }
}
