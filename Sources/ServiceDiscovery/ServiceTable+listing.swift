// SPDX-License-Identifier: Apache-2.0

extension ServiceTable {
  /// The browser has reported all that is there at present (`AVAHI_BROWSER_ALL_FOR_NOW`).
  mutating func allForNow() -> [Action] {
    // What an earlier browser had seen and this one has not is gone.
    let gone = services.flatMap { name, service in
      service.paths.filter { $0.value < listing }.map { (name, $0.key) }
    }
    let actions = gone.flatMap { disappeared($0, on: $1) }
    if awaited == nil { awaited = unanswered }
    return actions + listedIfComplete()
  }

  /// Does what waits for its time. To be called after every other event.
  mutating func tick(_ now: ContinuousClock.Instant) -> [Action] {
    var actions: [Action] = []
    for (name, service) in services where service.current != service.reported {
      actions += report(name, at: now)
    }
    for (name, service) in services {
      guard let failed = service.failedAt, failed + limits.retryInterval <= now else { continue }
      services[name]?.failedAt = nil
      services[name]?.failedPaths = []
      actions += [.release(name: name), .resolve(name: name, path: service.resolvedPath)]
    }
    paces = paces.filter { $0.value.nextMinute.map { $0 > now } ?? false }
    if let time = nextListing, time <= now {
      isOverLimit = false
      lastListing = now
      listing += 1
      actions.append(.browseAgain)
    }
    return actions
  }

  /// When `tick` has something to do again; nil: not by itself.
  var nextTick: ContinuousClock.Instant? {
    let changes = services.values.lazy.filter { $0.current != $0.reported }
      .compactMap(\.pace.nextMinute)
    let retries = services.values.lazy.compactMap(\.failedAt).map { $0 + limits.retryInterval }
    return [changes.min(), retries.min(), nextListing].compactMap(\.self).min()
  }

  /// When to look for services that were over the limit: there is room again, and not too often.
  private var nextListing: ContinuousClock.Instant? {
    guard isOverLimit, services.count < limits.maximumServices else { return nil }
    return lastListing + limits.listingInterval
  }
}
