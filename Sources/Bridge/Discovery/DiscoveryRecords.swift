// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ServiceDiscovery

/// What border routers advertise on the local network now, and how far it is written.
struct DiscoveryRecords {
  /// Routers that may be new in an hour, so that a host that invents them does not fill the disk.
  private static let newInHour = 200

  /// By the name of the service instance.
  private(set) var records: [String: BorderRouterAdvertisement] = [:]
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
  /// Routers that may be new before the hour is over.
  var room = Self.newInHour
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
        records[record.name] = nil
        unusable.insert(record.name)
        return nil
      }
      unusable.remove(record.name)
      obstacle = nil
      guard records.updateValue(advertisement, forKey: record.name) != advertisement else {
        return nil
      }
    case .lost(let name):
      unusable.remove(name)
      guard records.removeValue(forKey: name) != nil else { return nil }
    case .listed:
      obstacle = nil
      isComplete = true
    case .unavailable(let obstacle):
      // Nothing is known now. That is no sign that the routers have gone.
      records = [:]
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
    room = Self.newInHour
  }
}
