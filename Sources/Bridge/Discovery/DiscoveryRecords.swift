// SPDX-License-Identifier: Apache-2.0

import Broker
import ServiceDiscovery
import ThreadDataset

/// What one round that compares all records with the list leaves for the next one.
struct DiscoveryMemory {
  /// Routers that may be new in an hour, so that a host that invents them does not fill the disk.
  static let newInHour = 200
  /// Seconds after which a record that is still there has answered again: addresses live for 120.
  static let answerLimit = 130

  /// Routers that may be new before the hour is over.
  var room = newInHour
  /// The ids of records that the last round listed.
  var listed: Set<BorderAgentID> = []
  /// Of those, the ones whose routers a person has removed since, and when that was noticed.
  var removed: [BorderAgentID: WireTime] = [:]
}

/// What border routers advertise on the local network now, and how far it is written.
struct DiscoveryRecords {
  /// By the name of the service instance, in the order in which they came.
  private(set) var records: [(name: String, router: BorderRouterAdvertisement)] = []
  /// Names of records without an id.
  private(set) var unusable: Set<String> = []
  /// Whether a router that is not among the records is not there.
  private(set) var isComplete = false
  private(set) var obstacle: DiscoveryObstacle?
  /// Of the last round.
  var listed = 0
  var refused = 0
  var rounds = 0
  /// Why the last round failed.
  var failure: String?
  var memory = DiscoveryMemory()
  /// When routers whose records have gone since the last round were seen last.
  var lastSeen: [BorderAgentID: WireTime] = [:]
  /// A round is due.
  var isScheduled = false
  var isStopped = false
  private var pace = DiscoveryPace()
  private var hour: WireTime?

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
        guard records[index].router != advertisement else { return nil }
        records[index].router = advertisement
      } else {
        records.append((record.name, advertisement))
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
    guard !isScheduled, !isStopped else { return nil }
    isScheduled = true
    return pace.delay(at: now)
  }

  mutating func startHour(at now: WireTime) {
    if let hour, now >= hour, now < hour.adding(seconds: 3_600) { return }
    hour = now
    memory.room = DiscoveryMemory.newInHour
  }
}
