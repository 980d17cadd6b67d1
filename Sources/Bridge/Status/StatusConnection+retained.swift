// SPDX-License-Identifier: Apache-2.0

import Broker

/// What the broker keeps of the daemon's own topics comes with each connection, and is corrected where it is not true.
extension StatusConnection {
  /// Corrections that wait at most. What is left comes with the next connection.
  private static let mostCorrections = 2_000
  /// Seconds in which a broker sends what it keeps.
  private static let readingSeconds = 10

  func subscribed(refused: [SubscriptionRefusal]) {
    guard !state.withLock({ $0.publishesAll }), let retained,
      let routers = try? retained.routers()
    else { return }
    let due = clock.now().adding(seconds: Self.readingSeconds)
    state.withLock { $0.reading = (due, missing: routers - $0.keptRouters) }
  }

  func correct(_ kept: [IncomingMessage]) {
    guard let retained, !kept.isEmpty else { return }
    do {
      let (publications, routers) = try retained.corrections(of: kept)
      let isNews = state.withLock { state in
        defer { state.correctsTopics = state.correctsTopics || !publications.isEmpty }
        state.keptRouters += routers
        state.reading?.missing -= routers
        state.queue += publications.prefix(max(0, Self.mostCorrections - state.queue.count))
        return !publications.isEmpty && !state.correctsTopics
      }
      guard isNews else { return }
      logger.notice(
        "the broker keeps what is not true any more; it is corrected",
        metadata: ["topic": "\(publications[0].topic)"])
    } catch {
      noteFailure(error, of: .registry, "the registry cannot be read")
    }
  }

  /// A broker that has forgotten a router may have forgotten more: everything is published again.
  func checkReading(now: WireTime) {
    let isMissing = state.withLock { state in
      guard let reading = state.reading, reading.due <= now else { return false }
      state.reading = nil
      return reading.missing > 0
    }
    guard isMissing, !outbox.isRepublishing else { return }
    logger.notice("the broker does not keep all states; they are published again")
    republish()
  }
}
