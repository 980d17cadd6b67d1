// SPDX-License-Identifier: Apache-2.0

import Broker

/// Tells repetitions from news by the sequence numbers or ids of one user and router.
///
/// A high-water mark and the 64 numbers below it, or the last eight ids.
struct SequenceWindow: Hashable, Sendable {
  enum Verdict: Hashable {
    case news
    /// Came before. Brokers and routers repeat themselves; that is no fault.
    case duplicate
    /// Overtaken by a later one: acting upon it would turn time back.
    case outOfOrder
  }

  static let identifiersKept = 8

  var high: UInt64?
  /// Bit n: the number `high - n` has come.
  var seen: UInt64 = 0
  var identifiers: [String] = []

  var isEmpty: Bool { high == nil && identifiers.isEmpty }

  /// Notes the number or id.
  ///
  /// - Returns: whether it is news, a repetition or out of order.
  mutating func take(_ order: InboundEvent.Order) -> Verdict {
    switch order {
    case .none: return .news
    case .identifier(let identifier):
      if identifiers.contains(identifier) { return .duplicate }
      if identifiers.count == Self.identifiersKept { identifiers.removeFirst() }
      identifiers.append(identifier)
      return .news
    case .sequence(let number): return take(number)
    }
  }

  private mutating func take(_ number: UInt64) -> Verdict {
    guard let mark = high else {
      high = number
      seen = 1
      return .news
    }
    if number > mark {
      let step = number - mark
      seen = step < 64 ? seen << step | 1 : 1
      high = number
      return .news
    }
    let distance = mark - number
    if distance < 64, seen & (1 << distance) == 0 {
      seen |= 1 << distance
      return .outOfOrder
    }
    return distance < 64 ? .duplicate : .outOfOrder
  }
}
