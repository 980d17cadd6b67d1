// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// What was found last, and since when and how often in a row.
struct Finding: Sendable {
  /// What a look means, without the details that may change from one to the next.
  enum Standing: Equatable {
    case up(BorderAgentID)
    case stopped(BorderAgentID)
    case gone(BorderAgentID)
    case silent(RouterSilence)

    init(_ look: RouterLook) {
      switch look {
      case .silent(let silence): self = .silent(silence)
      case .report(let report) where report.hasLeft: self = .gone(report.agent)
      case .report(let report) where report.state == .disabled: self = .stopped(report.agent)
      case .report(let report): self = .up(report.agent)
      }
    }

    func continues(_ other: Standing) -> Bool {
      if case .silent(let new) = self, case .silent(let old) = other { return new.isLike(old) }
      return self == other
    }

    var isUp: Bool { if case .up = self { true } else { false } }

    var agent: BorderAgentID? {
      switch self {
      case .up(let agent), .stopped(let agent), .gone(let agent): agent
      case .silent: nil
      }
    }
  }

  private(set) var look: RouterLook?
  private(set) var standing: Standing?
  private(set) var since = Duration.zero
  private(set) var count = 0
  /// When the last look that found it up was over, whatever has been found since then, and in which order.
  private(set) var downSince = Duration.zero
  /// Looks in a row that report the same id.
  private(set) var countOfAgent = 0
  private var pending: OperationalDataset?

  var isStopped: Bool { if case .stopped = standing { true } else { false } }

  /// - Returns: a note for the log, of what begins or ends with this look.
  mutating func take(_ look: RouterLook, at now: Duration) -> RouterNote? {
    let new = Standing(look)
    let old = standing
    countOfAgent = new.agent != nil && new.agent == old?.agent ? countOfAgent + 1 : 1
    if new.isUp || old?.isUp != false { downSince = now }
    let isContinued = old.map(new.continues) == true
    if isContinued {
      count += 1
    } else {
      (since, count) = (now, 1)
    }
    self.look = look
    standing = new
    if !isContinued { return RouterNote(new, after: old) }
    return noteOfPending(look)
  }

  /// A coming change, once.
  private mutating func noteOfPending(_ look: RouterLook) -> RouterNote? {
    guard case .report(let report) = look,
      report.pending?.pendingTimestamp != pending?.pendingTimestamp
    else { return nil }
    pending = report.pending
    return report.pending.map { .pending($0, report.agent) }
  }
}
