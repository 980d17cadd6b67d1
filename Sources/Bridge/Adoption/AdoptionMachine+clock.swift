// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadCredentialStore

/// What a second that has passed moves on.
extension AdoptionMachine {
  mutating func clock(_ found: AdoptionClock) -> [AdoptionEffect] {
    guard let timeout = found.timeout else { return end(next: nil) + [.check] }
    switch state {
    case nil: return []
    case .due: return found.isRouterOnline ? [.ask] : []
    case .notEnrolled, .damagedKeys:
      if let obstacle = found.obstacle { return obstacle == state ? [] : replace(by: obstacle) }
      // Nothing is in the way any more; perhaps the router is away.
      return found.isRouterOnline ? [.ask] : replace(by: .due)
    case .asked:
      guard record?.phase == .asked else { return restart() }
      if found.isOutdated { return [.check] }
      // A question that is gone, and was not settled, was altered or lost.
      return found.isQuestionWaiting ? [] : fail(as: .expired)
    case .agreed: return send(found, timeout: timeout)
    case .sent: return wait(found, timeout: timeout)
    case .denied, .expired, .timeout, .disagreement, .pendingChange, .refused, .noAnswer,
      .notAttached:
      // Another key is another question.
      return record != nil && found.isOutdated ? [.check] : []
    }
  }

  /// A person has agreed: the message is sent as soon as there is a connection.
  private mutating func send(_ found: AdoptionClock, timeout: Int) -> [AdoptionEffect] {
    guard var sent = record, sent.phase == .agreed else { return restart() }
    if found.isOutdated { return [.check] }
    guard found.hasConnection else { return [] }
    guard let target = found.target, found.holds else { return restart() }
    sent.phase = .sent
    sent.preferred = target.preferred
    sent.reported = target.reported
    sent.id = found.messageID
    sent.deadline = found.now.adding(seconds: timeout).milliseconds
    return [.send(sent)]
  }

  private mutating func wait(_ found: AdoptionClock, timeout: Int) -> [AdoptionEffect] {
    guard found.isAwaited, var waiting = record else { return restart() }
    // The preferred network or the key may have changed, which no event of this router has shown yet.
    if found.isOutdated { return [.check] }
    // What was agreed to for good may have been taken back since.
    guard !found.isDue || found.holds else { return restart() }
    let now = found.now.milliseconds
    var deadline = AdoptionDeadline.limited(waiting.deadline, timeout: timeout, now: found.now)
    if !found.hasArrived {
      // It is not known whether the broker has it, so the router has time from when it is sent the next time.
      // Its report may wait on the broker while the daemon is away.
      guard found.hasConnection, deadline > now || found.isCaughtUp else { return [] }
      let isShort = deadline - now < Int64(timeout) * 500
      if found.isDue, isShort { deadline = found.now.adding(seconds: timeout).milliseconds }
    }
    let changed = wait(until: deadline)
    guard deadline > now else { return found.isCaughtUp ? changed + fail(as: .timeout) : changed }
    waiting.deadline = deadline
    return found.isDue && found.hasConnection ? changed + [.send(waiting)] : changed
  }
}
