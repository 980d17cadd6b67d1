import Home
import ThreadDataset

/// How the discovery of border routers on the local network is, for `status`.
package enum DiscoveryState: Sendable, Equatable {
  /// By the settings.
  case off
  /// The first list is not complete yet.
  case starting
  /// - routers: border routers that are advertised and listed.
  /// - unlisted: records that are not.
  case running(routers: Int, unlisted: [UnlistedRecord])
  /// What the daemon knew before stays listed as it was.
  case unavailable(message: String, remedy: String)
}

/// A record on the local network that is not listed as a border router, by the name of its service instance.
package struct UnlistedRecord: Codable, Equatable, Sendable {
  package let name: String
  /// Why, as a clause.
  package let reason: String

  package init(name: String, reason: String) { (self.name, self.reason) = (name, reason) }

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
