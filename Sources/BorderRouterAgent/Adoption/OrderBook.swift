// SPDX-License-Identifier: Apache-2.0

import SealedEnvelope

/// Which of the orders that a router is sent is carried out, and when. Pure.
///
/// The daemon sends the same order again: when it has started, when it has a new connection, and when the envelope has
/// expired. A broker, or whoever records its messages, may do so at any time. So each id is remembered until the last
/// envelope that named it has expired, nothing older than what was begun last is begun, and an order that does not
/// work is tried `tries` times. One that comes during another waits; of several the newest one.
package struct OrderBook: Sendable {
  package enum Verdict: Equatable, Sendable {
    /// It waits for the router, or for the end of another one.
    case waits
    /// It is being carried out, or waits already.
    case isKnown
    /// It has been carried out; its answer may have been lost.
    case isDone
    case refused(String)
  }

  package enum Next: Equatable, Sendable {
    case nothing
    case order(AdoptionOrder)
    /// Not begun any more, and why.
    case dropped(AdoptionOrder, String)
  }

  private struct Entry {
    var expiresAt: Int64
    var tries = 0
    var isDone = false
  }

  /// How often one order is begun.
  package static let tries = 3
  private static let late = "it has expired"

  private var entries: [String: Entry] = [:]
  /// Of the order that was begun last.
  private var lastIssued = Int64.min
  /// And since when, by the caller's monotonic clock.
  private var waiting: (order: AdoptionOrder, since: Duration)?
  package private(set) var current: AdoptionOrder?
  /// The one that is begun next, where it may be.
  package var next: AdoptionOrder? { current == nil ? waiting?.order : nil }

  package init() {}

  /// - Parameters:
  ///   - time: Unix seconds.
  ///   - now: from any origin, never falling.
  package mutating func take(_ order: AdoptionOrder, time: Int64, at now: Duration) -> Verdict {
    entries = entries.filter { $0.value.expiresAt >= time }
    guard order.expiresAt > time else { return .refused(Self.late) }
    guard order.issuedAt >= lastIssued else {
      return .refused("it is older than the one that was begun last")
    }
    if let waiting, order.issuedAt < waiting.order.issuedAt {
      return .refused("it is older than the one that waits")
    }
    var entry = entries[order.id] ?? Entry(expiresAt: order.expiresAt)
    entry.expiresAt = max(entry.expiresAt, order.expiresAt)
    entries[order.id] = entry
    guard !entry.isDone else { return .isDone }
    guard current?.id != order.id, waiting?.order != order else { return .isKnown }
    guard entry.tries < Self.tries else {
      return .refused("it has been tried \(Self.tries) times")
    }
    waiting = (order, now)
    return .waits
  }

  /// What is begun now, if anything. Right before the first request, because an order lives for minutes.
  package mutating func next(time: Int64, at now: Duration) -> Next {
    guard current == nil, let (order, since) = waiting else { return .nothing }
    waiting = nil
    // The second one where the clock was set back.
    guard order.expiresAt > time, now - since < .seconds(Envelope.longestLifetime) else {
      return .dropped(order, Self.late)
    }
    guard order.issuedAt >= lastIssued else { return .dropped(order, "a newer one was begun") }
    lastIssued = order.issuedAt
    entries[order.id, default: Entry(expiresAt: order.expiresAt)].tries += 1
    current = order
    return .order(order)
  }

  /// The one that waits is not begun.
  package mutating func dropNext() { waiting = nil }

  /// The current one has ended.
  package mutating func end(isDone: Bool) {
    guard let order = current else { return }
    current = nil
    entries[order.id]?.isDone = isDone
  }
}
