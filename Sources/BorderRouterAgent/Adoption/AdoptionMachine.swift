import Broker
import Home
import Logging
import ThreadDataset
import Wire

/// The way of one router to another dataset, step by step. Pure: the caller does the requests and brings the looks.
///
/// | state | what comes | what follows |
/// |---|---|---|
/// | none | an order, the router uses the dataset | `finished`, as it is there already |
/// | none | an order, a change to another dataset is pending | `finished`, failed; nothing was changed |
/// | none | an order, alone, Thread runs | `disable`: *disabling* |
/// | none | an order, alone, Thread is disabled | `PUT active`: *setting* |
/// | none | an order, pending | `PUT pending`: *scheduling* |
/// | disabling | 200 | `look`: *checking* |
/// | disabling | anything else | *restoring*; whether Thread was disabled is not known |
/// | checking | a look: no change to another dataset is pending | `PUT active`: *setting* |
/// | checking | another look | *restoring* |
/// | setting | 200, 201 | `enable`: *enabling* |
/// | setting | 409: Thread runs; anything else | *restoring* |
/// | enabling | 200 | *waiting*, `attachLimit` |
/// | enabling | anything else | *restoring* |
/// | scheduling | 200, 201 | *waiting*, until the delay and `attachLimit` are over |
/// | scheduling | 409, 412, 504: the leader's verdict, in time | *postponed*, `schedulePause` |
/// | scheduling | anything else | `finished`, failed; nothing was changed |
/// | postponed | a look: the same change is pending on it | *waiting*, until that delay and `attachLimit` are over |
/// | postponed | a look: it may be scheduled, after the pause | `PUT pending`: *scheduling* |
/// | postponed | another look, in time | nothing |
/// | postponed | the `scheduleLimit` is over | `finished`, failed; nothing was changed |
/// | waiting | a look: it uses the dataset, with another router in its partition | `finished` |
/// | waiting | a look: it uses the dataset, alone for less than `aloneLimit` | nothing |
/// | waiting | a look: it uses the dataset, alone for longer | `finished`, with a warning |
/// | waiting | another look, in time | nothing |
/// | waiting | the time is over, alone | *restoring* |
/// | waiting | the time is over, pending | `finished`, failed; a pending change can't be taken back |
/// | restoring | a look: something is not as it was | the request for it; the next look shows what it has done |
/// | restoring | a look: all is as it was | `finished`, failed |
/// | restoring | the `restoreLimit` is over | `finished`, failed, with what to do by hand |
///
/// *Restoring* goes by what the looks show, so a request that fails is tried again with the next one. A router that was
/// stopped stays stopped then; one that has no complete dataset to go back to is stopped.
struct AdoptionMachine: Sendable {
  enum Event: Equatable, Sendable {
    case ordered(AdoptionOrder, RouterReport)
    /// The status of the last request; nil: no answer.
    case answered(Int?)
    case looked(RouterLook)
  }

  enum Effect: Equatable, Sendable {
    case request(HTTPRequest)
    /// Look at the router now.
    case look
    case log(RouterNote)
    /// Publish where the router is now, whatever has become of it. Nil: it uses the dataset; else why not, one of
    /// `AdoptionState.reported`.
    case finished(AdoptionState?)
  }

  struct Failure: Equatable {
    let code: AdoptionState
    let text: String
  }

  enum State: Equatable {
    case none
    case disabling
    case checking
    case setting
    case enabling
    case scheduling(until: Duration)
    case postponed(Failure, until: Duration, next: Duration)
    case waiting(until: Duration)
    case restoring(failure: Failure, until: Duration)
  }

  /// For a router to be attached on its new network; real ones took up to 25 s.
  static let attachLimit = Duration.seconds(90)
  /// For its leader to take a pending dataset, which may have another change under way, or be out of reach. An order
  /// lives for 300 s, and the delay and `attachLimit` follow.
  static let scheduleLimit = Duration.seconds(90)
  /// The longest delay of a change that is pending already and is waited for: as long as an order lives.
  static let longestDelay: UInt32 = 300_000
  /// Between two tries of that.
  static let schedulePause = Duration.seconds(10)
  /// For a router that is attached to find another one of its network: a real one that could not receive any was the leader
  /// of its own partition after 15 s.
  static let aloneLimit = Duration.seconds(60)
  /// For a router to be as it was: time to start again, or to be switched on again.
  static let restoreLimit = Duration.seconds(300)

  private(set) var state = State.none
  private var order: AdoptionOrder?
  private var before: RouterReport?
  private var isPending = false
  /// Whether the last adoption has ended with a router that could not be put back.
  private(set) var isStranded = false
  /// The verdict of its leader that was logged last.
  private var verdict: Failure?
  private var aloneSince: Duration?
  /// Whether Thread was asked to run.
  private var hasEnabled = false
  /// The last request of restoring is the old dataset.
  private var givesBack = false
  /// And it was taken.
  private var isGivenBack = false

  /// Whether an adoption is under way.
  var isBusy: Bool { state != .none }
  /// Whether it has begun to change the router, which is neither as it was nor as ordered.
  var isChanging: Bool {
    switch state {
    case .none, .postponed, .waiting: false
    case .disabling, .checking, .setting, .enabling, .scheduling, .restoring: true
    }
  }

  /// While Thread is disabled: whether that is for a moment only. Not on a router that was stopped before, and not
  /// where it has no dataset to go back to.
  var enablesAgain: Bool {
    guard let before, before.state != .disabled else { return false }
    return state == .disabling || before.active != nil
  }

  mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch event {
    case .ordered(let order, let report): isBusy ? [] : begin(order, report, at: now)
    case .answered(let status): answered(status, at: now)
    case .looked(let look): looked(look, at: now)
    }
  }

  private mutating func begin(_ order: AdoptionOrder, _ report: RouterReport, at now: Duration) -> [Effect] {
    self = Self()
    (self.order, before) = (order, report)
    let network = order.dataset.extendedPANID.map { "\($0)" } ?? ""
    let begins = note(.info, "adopting network \(network)")
    switch AdoptionPlan(order.dataset, for: report) {
    case .nothing: return finish(.info, Self.isThere, nil)
    case .refused(let why): return finish(.warning, why, .pendingChange)
    case .alone where report.state == .disabled:
      state = .setting
      return [begins, .request(.setActive(order.dataset))]
    case .alone:
      state = .disabling
      return [begins, .request(.setThread(enabled: false))]
    case .pending(let dataset):
      (state, isPending) = (.scheduling(until: now + Self.scheduleLimit), true)
      return [begins, .request(.setPending(dataset))]
    }
  }

  private mutating func answered(_ status: Int?, at now: Duration) -> [Effect] {
    switch state {
    case .none, .checking, .postponed, .waiting: return []
    case .disabling:
      guard status == 200 else { return restore(Self.failure("disable Thread", status), at: now) }
      state = .checking
      return [.look]
    case .setting:
      guard status == 200 || status == 201 else {
        let why = status == 409 ? "Thread runs on it" : nil
        return restore(Self.failure("set the dataset", status, why), at: now)
      }
      (state, hasEnabled) = (.enabling, true)
      return [.request(.setThread(enabled: true))]
    case .enabling:
      guard status == 200 else { return restore(Self.failure("enable Thread", status), at: now) }
      state = .waiting(until: now + Self.attachLimit)
      return []
    case .scheduling(let limit):
      guard status == 200 || status == 201 else { return notScheduled(status, until: limit, at: now) }
      return scheduled(within: AdoptionPlan.delay, at: now)
    case .restoring:
      if givesBack, status == 200 || status == 201 { isGivenBack = true }
      return []
    }
  }

  private mutating func looked(_ look: RouterLook, at now: Duration) -> [Effect] {
    guard let order else { return [] }
    let report: RouterReport? = if case .report(let report) = look, report.agent == order.agent { report } else { nil }
    switch state {
    case .none, .disabling, .setting, .enabling, .scheduling: return []
    case .postponed(let failure, let limit, let next):
      return postponed(order, report, failure, until: limit, next: next, at: now)
    case .checking:
      guard let report else { return restore(Failure(code: .noAnswer, text: "it does not report itself"), at: now) }
      if let why = AdoptionPlan.obstacle(to: order.dataset, for: report) {
        return restore(Failure(code: .pendingChange, text: why), at: now)
      }
      state = .setting
      return [.request(.setActive(order.dataset))]
    case .waiting(let limit):
      if let report, report.uses(order.dataset) { return attached(report, at: now) }
      guard now >= limit else { return [] }
      let failure = Failure(
        code: .notAttached, text: "it does not use the dataset that it was given, or is not attached")
      return isPending ? finish(.warning, failure.text, failure.code) : restore(failure, at: now)
    case .restoring(let failure, let limit): return restoring(report, failure, isLate: now >= limit)
    }
  }

  /// To be attached alone is no success yet, and no failure: it may be the only router of the network.
  private mutating func attached(_ report: RouterReport, at now: Duration) -> [Effect] {
    let place = "it is on network \(report.network.map { "\($0)" } ?? ""), as \(report.state.word)"
    guard report.isAlone else { return finish(.info, place, nil) }
    let since = aloneSince ?? now
    aloneSince = since
    guard now - since >= Self.aloneLimit else { return [] }
    return finish(
      .warning,
      place + ", and alone: it reaches no other router of that network. Unless it is the only one, bring it within "
        + "radio range of another", nil)
  }

  // MARK: By the leader of its network

  private mutating func scheduled(within delay: UInt32, at now: Duration) -> [Effect] {
    state = .waiting(until: now + Self.attachLimit + .milliseconds(Int64(delay)))
    return [note(.info, "its whole network changes in \(delay / 1_000) s")]
  }

  /// Versions of ot-br-posix after September 2026 (pull request 3582) hand a pending dataset to the leader, and answer
  /// with its verdict, which may be another one a little later.
  private mutating func notScheduled(_ status: Int?, until limit: Duration, at now: Duration) -> [Effect] {
    let why: String? =
      switch status {
      case 409: "another change is pending on its network, or its leader has a newer dataset"
      case 412: "it is detached"
      case 504: "its leader does not answer"
      default: nil
      }
    var failure = Self.failure("set the pending dataset", status, why)
    if status == 409 { failure = Failure(code: .pendingChange, text: failure.text) }
    guard why != nil, now < limit else { return finish(.warning, failure.text, failure.code) }
    state = .postponed(failure, until: limit, next: now + Self.schedulePause)
    defer { verdict = failure }
    return failure == verdict ? [] : [note(.warning, failure.text + "; it is tried again")]
  }

  private mutating func postponed(
    _ order: AdoptionOrder, _ report: RouterReport?, _ failure: Failure, until limit: Duration, next: Duration,
    at now: Duration
  ) -> [Effect] {
    // Its answer was lost, or another router of this network was given the same order.
    if let pending = report?.pending, pending.essentialDifferences(from: order.dataset).isEmpty {
      let delay = pending.delayTimer ?? AdoptionPlan.delay
      guard delay <= Self.longestDelay else {
        return finish(.warning, "the same change is pending, and takes effect in \(delay / 1_000) s", .pendingChange)
      }
      return scheduled(within: delay, at: now)
    }
    switch report.map({ AdoptionPlan(order.dataset, for: $0) }) {
    case .some(.nothing): return finish(.info, Self.isThere, nil)
    case .some(.pending(let dataset)) where now >= next:
      state = .scheduling(until: limit)
      return [.request(.setPending(dataset))]
    default: return now < limit ? [] : finish(.warning, failure.text, failure.code)
    }
  }

  // MARK: Back to what was before

  private mutating func restore(_ failure: Failure, at now: Duration) -> [Effect] {
    state = .restoring(failure: failure, until: now + Self.restoreLimit)
    return [note(.warning, failure.text + "; it is put back"), .look]
  }

  private mutating func restoring(_ report: RouterReport?, _ failure: Failure, isLate: Bool) -> [Effect] {
    guard let before, let order else { return [] }
    if let report {
      let request = AdoptionRestoration.step(
        from: report, to: before, without: order.dataset, isGivenBack: isGivenBack, hasEnabled: hasEnabled)
      guard let request else {
        let isStopped = before.active == nil && report.hasNew(order.dataset, besides: before)
        return finish(
          .warning,
          failure.text
            + (isStopped
              ? "; Thread is stopped on it, because it had no complete dataset to go back to"
              : "; it has its previous dataset, and Thread as before"),
          failure.code)
      }
      if !isLate {
        givesBack = request.path == HTTPRequest.setActive(order.dataset).path
        return [.request(request)]
      }
    }
    guard isLate else { return [] }
    isStranded = true
    return finish(
      .warning,
      failure.text + "; it could not be put back: give it its dataset by hand, and enable Thread: " + Self.byHand,
      failure.code)
  }

  private mutating func finish(_ level: RouterNote.Level, _ text: String, _ failure: AdoptionState?) -> [Effect] {
    state = .none
    return [note(level, text), .finished(failure)]
  }

  private func note(_ level: RouterNote.Level, _ text: String) -> Effect {
    .log(RouterNote(level, (order.map { "\($0.agent): " } ?? "") + text))
  }

  /// `ot-ctl thread start` alone fails where REST has disabled Thread, which takes the interface down, too. Only root
  /// may use the socket of `ot-ctl`.
  static let byHand = "`sudo ot-ctl ifconfig up`, then `sudo ot-ctl thread start`"

  private static let isThere = "it uses the dataset that it shall adopt already"

  /// - Parameter why: what the status says, where that is known.
  private static func failure(_ step: String, _ status: Int?, _ why: String? = nil) -> Failure {
    let words =
      switch (status, why) {
      case (nil, _): "no answer"
      case (let status?, let why?): "\(status): \(why)"
      case (let status?, nil): "\(status)"
      }
    return Failure(code: status == nil ? .noAnswer : .refused, text: "it does not \(step) (\(words))")
  }
}

/// How a router is given a dataset, so that no other router gets it.
///
/// There are two ways, and the wrong one hands the preferred network's key to routers without consent:
///
/// - *Alone*: Thread is disabled, the active dataset set, Thread enabled. The router leaves the network that it is on,
///   which stays as it is, and is on the other one a second later. Right for every other network, and for every dataset
///   with other keys, also where the Extended PAN ID is the same: whoever shares the router's present network does not
///   have these keys. Right, too, for a router whose Thread is stopped, or that is detached.
/// - *Pending*: the leader gives the dataset to every member of the router's present network, and after the delay all
///   change at once. Right only for a newer dataset of that very network, with the same keys: its members have them
///   already, and one that changed alone (its channel, say) would be cut off from them. It has to be complete, or the
///   leader invents what is missing, the key included; to have a later Active Timestamp, or the leader ignores it; and
///   a Pending Timestamp, or only the leader changes. A coming change to other keys is not overtaken: that would undo
///   what somebody else has begun.
///
/// *Refused* is everything else: while a change to another dataset is pending, nothing is done, and an order waits. It
/// outlives disabling, setting and enabling, and would undo the move later, or take the new network's routers along.
///
/// An active dataset is never set while Thread runs: on a router that is not the leader the whole network would get it,
/// 300 s later. REST answers 409 there.
enum AdoptionPlan: Equatable, Sendable {
  /// It uses the dataset.
  case nothing
  case alone
  /// With the pending dataset.
  case pending(OperationalDataset)
  /// With the reason.
  case refused(String)

  /// Milliseconds until a pending dataset takes effect. 30 s is the least that OpenThread takes; sleepy devices need
  /// time to get it.
  static let delay: UInt32 = 60_000

  init(_ target: OperationalDataset, for report: RouterReport) {
    guard !report.uses(target) else {
      self = .nothing
      return
    }
    guard report.state.isAttached, let active = report.active, report.network == target.extendedPANID,
      active.extendedPANID == target.extendedPANID, Self.hasSameKeys(active, target),
      report.pending.map({ Self.hasSameKeys($0, target) }) != false, let current = active.activeTimestamp,
      let new = target.activeTimestamp, new > current, !report.hasUnreadablePending,
      let pending = Self.pending(target, new, after: report.pending?.pendingTimestamp)
    else {
      self = Self.obstacle(to: target, for: report).map { .refused($0) } ?? .alone
      return
    }
    self = .pending(pending)
  }

  /// Why it can't be moved alone: a change to another dataset is pending.
  static func obstacle(to target: OperationalDataset, for report: RouterReport) -> String? {
    let isOther = report.pending.map { !$0.essentialDifferences(from: target).isEmpty }
    guard isOther == true || report.hasUnreadablePending else { return nil }
    return "a change to another dataset is pending on it; nothing is done until that has landed"
  }

  private static func hasSameKeys(_ one: OperationalDataset, _ other: OperationalDataset) -> Bool {
    one.networkKey == other.networkKey && one.pskc == other.pskc
  }

  private static func pending(_ target: OperationalDataset, _ active: Timestamp, after last: Timestamp?)
    -> OperationalDataset?
  {
    let timestamp = max(active, last?.later() ?? active)
    guard let pending = try? target.replacing(.pendingTimestamp(timestamp), .delayTimer(delay)),
      pending.kind == .pending
    else { return nil }
    return pending
  }
}
