// SPDX-License-Identifier: Apache-2.0

import Home
import ServiceDiscovery
import ThreadDataset

/// What border routers advertise on the local network now, and how far it is written.
struct DiscoveryRecords {
  /// By the name of the service instance, in the order in which they came.
  private var records: [(name: String, host: String, router: BorderRouterAdvertisement)] = []
  /// The hosts of services that are there while a code opens their routers.
  private var codes: [String: String] = [:]
  /// Names of records without an id.
  private(set) var unusable: Set<String> = []
  /// Whether a router that is not among the records is not there.
  private(set) var isComplete = false
  private(set) var obstacle: DiscoveryObstacle?
  /// When routers whose records have gone since the last round were seen last.
  private var lastSeen: [BorderAgentID: WireTime] = [:]
  /// Of the last round.
  var counts = (listed: 0, refused: 0)
  var rounds = 0
  /// Why the last round failed.
  var failure: String?
  /// A round is due.
  var isScheduled = false
  var isStopped = false
  private var pace = DiscoveryPace()

  /// What is to be written; nil where nothing is known.
  var sightings: Sightings? {
    guard !isStopped, isComplete || !records.isEmpty else { return nil }
    let open = Set(codes.values)
    let routers = records.map { record in
      var router = record.router
      router.isOpenForCode = open.contains(record.host)
      return router
    }
    return Sightings(routers, isComplete: isComplete, lastSeen: lastSeen)
  }

  /// They are written: what has come since is left for the next round.
  mutating func written(_ sightings: Sightings, _ counts: (listed: Int, refused: Int)) {
    lastSeen = lastSeen.filter { sightings.lastSeen[$0.key] != $0.value }
    (self.counts, failure) = (counts, nil)
  }

  /// - Returns: milliseconds after which it is to be written; nil where that is due already, or there is nothing.
  mutating func take(_ update: ServiceUpdate, at now: WireTime) -> Int? {
    switch update {
    case .found(let record):
      guard let advertisement = BorderRouterAdvertisement(record) else {
        records.removeAll { $0.name == record.name }
        unusable.insert(record.name)
        return nil
      }
      unusable.remove(record.name)
      obstacle = nil
      if let index = records.firstIndex(where: { $0.name == record.name }) {
        guard records[index].router != advertisement || records[index].host != record.host else {
          return nil
        }
        (records[index].host, records[index].router) = (record.host, advertisement)
      } else {
        records.append((record.name, record.host, advertisement))
      }
    case .lost(let name, let silence):
      unusable.remove(name)
      guard let index = records.firstIndex(where: { $0.name == name }) else { return nil }
      let seen = now.adding(seconds: -Int(silence.components.seconds))
      for agent in records.remove(at: index).router.agents { lastSeen[agent] = seen }
    case .listed:
      obstacle = nil
      isComplete = true
    case .unavailable(let obstacle):
      // Nothing is known now. That is no sign that the routers have gone.
      records = []
      unusable = []
      isComplete = false
      self.obstacle = obstacle
      return nil
    }
    return delay(at: now)
  }

  /// - Returns: as `take`.
  mutating func takeCode(_ update: ServiceUpdate, at now: WireTime) -> Int? {
    switch update {
    case .found(let record): codes[record.name] = record.host
    case .lost(let name, _): codes[name] = nil
    case .listed: return nil
    case .unavailable: codes = [:]
    }
    return delay(at: now)
  }

  private mutating func delay(at now: WireTime) -> Int? {
    guard !isScheduled, !isStopped else { return nil }
    isScheduled = true
    return pace.delay(at: now)
  }
}
