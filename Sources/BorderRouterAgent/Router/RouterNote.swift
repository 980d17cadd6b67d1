import Broker
import Home
import Logging
import ThreadDataset
import Wire

/// A line of the log about one router. Holds no secret.
struct RouterNote: Equatable, Sendable {
  typealias Level = Logger.Level

  let level: Level
  let text: String

  init(_ level: Level, _ text: String) { (self.level, self.text) = (level, text) }

  /// What begins.
  init?(_ standing: Finding.Standing, after old: Finding.Standing?) {
    switch standing {
    case .silent(let silence): self.init(.warning, silence.description)
    case .stopped(let agent): self.init(.warning, "\(agent): Thread is stopped on it")
    case .empty(let agent): self.init(.warning, "\(agent): it has no network: no dataset, and Thread is disabled")
    case .up(let agent):
      guard let old, old.agent == nil else { return nil }
      self.init(.info, "\(agent): it answers again")
    }
  }

  static func pending(_ dataset: OperationalDataset, _ agent: BorderAgentID) -> RouterNote {
    let network = dataset.extendedPANID.map(\.description) ?? "unknown"
    let delay = dataset.delayTimer.map { " in \($0 / 1_000) s" } ?? ""
    return RouterNote(.info, "\(agent): a change of its whole network is pending\(delay): network \(network)")
  }

  static func elsewhere(_ agent: BorderAgentID) -> RouterNote {
    RouterNote(.info, "\(agent): it has another address now, and is published from there")
  }

  /// Where it is now.
  init(_ report: RouterReport) {
    self.init(
      report.state == .detached ? .warning : .info,
      "\(report.agent): it is \(Self.place(report.state, report.network))\(Self.aim(of: report))")
  }

  /// What it is configured for, where it is not there.
  private static func aim(of report: RouterReport) -> String {
    guard let aim = report.active?.extendedPANID, aim != report.network else { return "" }
    return ", and configured for \(aim)"
  }

  private static func place(_ state: ThreadState, _ network: ExtendedPANID?) -> String {
    "\(state.word)" + (network.map { " on network \($0)" } ?? "")
  }

  /// What is published.
  init(_ event: RouterEvent) {
    let place = event.threadState.map { ", " + Self.place($0, event.network) } ?? ""
    let news =
      switch event.kind {
      case .announce:
        event.flaw.map { "announced, with a dataset that is not right: \($0)" } ?? "announced"
          + (event.dataset == nil ? " without a dataset" : "")
      case .dataset: "its dataset is published"
      case .leave: "it has left the home"
      case .heartbeat: "heartbeat"
      case .offline: "it is offline" + (event.reason.map { ": \($0.word)" } ?? "")
      case .ssid, .credentials, .sightings: "\(event.kind.word)"
      }
    self.init(event.kind == .offline || event.flaw != nil ? .warning : .info, "\(event.agent): \(news)\(place)")
  }
}

/// What was found last, and since when and how often in a row.
struct Finding: Sendable {
  /// What a look means, without the details that may change from one to the next.
  enum Standing: Equatable {
    case up(BorderAgentID)
    case stopped(BorderAgentID)
    case empty(BorderAgentID)
    case silent(RouterSilence)

    init(_ look: RouterLook) {
      switch look {
      case .silent(let silence): self = .silent(silence)
      case .report(let report) where report.hasNoNetwork: self = .empty(report.agent)
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
      case .up(let agent), .stopped(let agent), .empty(let agent): agent
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
    if isContinued { count += 1 } else { (since, count) = (now, 1) }
    self.look = look
    standing = new
    if !isContinued { return RouterNote(new, after: old) }
    return noteOfPending(look)
  }

  /// A coming change, once.
  private mutating func noteOfPending(_ look: RouterLook) -> RouterNote? {
    guard case .report(let report) = look, report.pending?.pendingTimestamp != pending?.pendingTimestamp else {
      return nil
    }
    pending = report.pending
    return report.pending.map { .pending($0, report.agent) }
  }
}
