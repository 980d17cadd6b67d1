import Home
import HomeStore
import ServiceDiscovery
import Synchronization

/// A look at the local network without a daemon or a store: what a home that knows nothing else lists.
package final class DiscoveryScan: Sendable {
  private let records = Mutex(DiscoveryRecords())

  package init() {}

  /// Takes what the browser has found. Returns at once.
  package func receive(_ update: ServiceUpdate) {
    let now = SystemClock().now()
    _ = records.withLock { $0.take(update, at: now) }
  }

  /// - Throws: `DiscoveryObstacle`: nothing could be found.
  package func result() throws(DiscoveryObstacle) -> (home: Home, unlisted: [UnlistedRecord]) {
    var records = records.withLock(\.self)
    if let obstacle = records.obstacle { throw obstacle }
    var rules = HomeRules()
    rules.hasDaemon = false
    var home = Home(rules: rules)
    let now = SystemClock().moment()
    if let sightings = records.look(at: now) {
      _ = home.handle(.sightings(sightings), at: now.wall, rules: rules)
      records.written(sightings, by: home)
    }
    return (home, records.unlisted(at: now.wall))
  }
}
