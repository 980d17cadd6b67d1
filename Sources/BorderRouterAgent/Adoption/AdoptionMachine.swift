// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

/// The way of one router to another dataset, step by step. Pure: the caller does the requests and brings the looks.
///
/// | state | what comes | what follows |
/// |---|---|---|
/// | none | an order, the router uses the dataset | `finished`, as it is there already |
/// | none | an order, alone, Thread runs | `disable`: *disabling* |
/// | none | an order, alone, Thread is disabled | `PUT active`: *setting* |
/// | none | an order, pending | `PUT pending`: *scheduling* |
/// | disabling | 200 | `PUT active`: *setting* |
/// | disabling | anything else | `enable`: *restoring*; whether Thread was disabled is not known |
/// | setting | 200, 201 | `enable`: *enabling* |
/// | setting | 409: Thread runs; anything else | Thread as it was before: *restoring* |
/// | enabling | 200 | *waiting*, `attachLimit` |
/// | enabling | anything else | the old dataset: *restoring* |
/// | scheduling | 200, 201 | *waiting*, until the delay and `attachLimit` are over |
/// | scheduling | anything else | `finished`, failed; nothing was changed |
/// | waiting | a look: it uses the dataset | `finished` |
/// | waiting | another look, in time | nothing |
/// | waiting | the time is over, alone | the old dataset: *restoring* |
/// | waiting | the time is over, pending | `finished`, failed; a pending change can't be taken back |
/// | restoring | an answer | the next step; after the last one `finished`, failed |
///
/// *Restoring* disables Thread, sets the old dataset and enables Thread again, as far as each of them is needed. A
/// router that was stopped stays stopped then.
package struct AdoptionMachine: Sendable {
  package enum Event: Equatable, Sendable {
    case ordered(AdoptionOrder, RouterReport)
    /// The status of the last request; nil: no answer.
    case answered(Int?)
    case looked(RouterLook)
  }

  package enum Effect: Equatable, Sendable {
    case request(HTTPRequest)
    case log(RouterNote)
    /// Publish where the router is now, whatever has become of it.
    case finished
  }

  enum State: Equatable {
    case none
    case disabling
    case setting
    case enabling
    case scheduling
    case waiting(until: Duration)
    /// What is still to be done.
    case restoring([HTTPRequest], failure: String)
  }

  /// For a router to be attached on its new network; real ones took up to 25 s.
  package static let attachLimit = Duration.seconds(90)

  private(set) var state = State.none
  private var order: AdoptionOrder?
  private var before: RouterReport?
  private var isPending = false
  /// What is said when restoring has worked.
  private var restored = ""

  package init() {}

  /// Whether an adoption is under way.
  package var isBusy: Bool { state != .none }
  /// Whether requests are under way that have to be finished.
  package var isChanging: Bool {
    if case .waiting = state { false } else { isBusy }
  }

  package mutating func handle(_ event: Event, at now: Duration) -> [Effect] {
    switch event {
    case .ordered(let order, let report): isBusy ? [] : begin(order, report)
    case .answered(let status): answered(status, at: now)
    case .looked(let look): looked(look, at: now)
    }
  }

  private mutating func begin(_ order: AdoptionOrder, _ report: RouterReport) -> [Effect] {
    (self.order, before, isPending) = (order, report, false)
    let network = order.dataset.extendedPANID.map { "\($0)" } ?? ""
    let begins = note(.info, "adopting network \(network)")
    switch AdoptionPlan(order.dataset, for: report) {
    case .nothing: return finish(.info, "it uses the dataset that it shall adopt already")
    case .alone where report.state == .disabled:
      state = .setting
      return [begins, .request(.setActive(order.dataset))]
    case .alone:
      state = .disabling
      return [begins, .request(.setThread(enabled: false))]
    case .pending(let dataset):
      (state, isPending) = (.scheduling, true)
      return [begins, .request(.setPending(dataset))]
    }
  }

  private mutating func answered(_ status: Int?, at now: Duration) -> [Effect] {
    guard let order else { return [] }
    switch state {
    case .none, .waiting: return []
    case .disabling:
      guard status == 200 else {
        return restore([.setThread(enabled: true)], Self.failure("disable Thread", status))
      }
      state = .setting
      return [.request(.setActive(order.dataset))]
    case .setting:
      guard status == 200 || status == 201 else {
        // Nobody knows whether it was set where there is no answer.
        let steps = status == nil ? restoration : wasStopped ? [] : [.setThread(enabled: true)]
        return restore(steps, Self.failure("set the dataset", status))
      }
      state = .enabling
      return [.request(.setThread(enabled: true))]
    case .enabling:
      guard status == 200 else {
        return restore(restoration, Self.failure("enable Thread", status))
      }
      state = .waiting(until: now + Self.attachLimit)
      return []
    case .scheduling:
      guard status == 200 || status == 201 else {
        return finish(.warning, Self.failure("set the pending dataset", status))
      }
      state = .waiting(
        until: now + Self.attachLimit + .milliseconds(Int64(AdoptionPlan.delay)))
      return [note(.info, "its whole network changes in \(AdoptionPlan.delay / 1_000) s")]
    case .restoring(let steps, let failure):
      guard status == 200 || status == 201 else {
        return finish(
          .warning,
          failure + "; it could not be put back: give it its dataset and enable Thread by hand"
        )
      }
      return restore(steps, failure)
    }
  }

  private mutating func looked(_ look: RouterLook, at now: Duration) -> [Effect] {
    guard case .waiting(let limit) = state, let order else { return [] }
    if case .report(let report) = look, report.agent == order.agent, report.uses(order.dataset) {
      let network = order.dataset.extendedPANID.map { "\($0)" } ?? ""
      return finish(.info, "it is on network \(network), as \(report.state.rawValue)")
    }
    guard now >= limit else { return [] }
    let failure = "it does not use the dataset that it was given, or is not attached"
    return isPending ? finish(.warning, failure) : restore(restoration, failure)
  }

  // MARK: Back to what was before

  private var wasStopped: Bool { before?.state == .disabled }

  /// Of a router that has, or may have, the new dataset. One that had no complete one can't be given it back.
  private var restoration: [HTTPRequest] {
    let disable = HTTPRequest.setThread(enabled: false)
    guard let old = before?.active else { return [disable] }
    return [disable, .setActive(old)] + (wasStopped ? [] : [.setThread(enabled: true)])
  }

  private mutating func restore(_ steps: [HTTPRequest], _ failure: String) -> [Effect] {
    if case .restoring = state {
    } else {
      restored =
        before?.active == nil && !steps.isEmpty
        ? "; Thread is stopped on it" : "; it is as it was before"
    }
    guard let next = steps.first else { return finish(.warning, failure + restored) }
    state = .restoring(Array(steps.dropFirst()), failure: failure)
    return [.request(next)]
  }

  private mutating func finish(_ level: RouterNote.Level, _ text: String) -> [Effect] {
    state = .none
    return [note(level, text), .finished]
  }

  private func note(_ level: RouterNote.Level, _ text: String) -> Effect {
    .log(RouterNote(level, (order.map { "\($0.agent): " } ?? "") + text))
  }

  private static func failure(_ step: String, _ status: Int?) -> String {
    let why =
      switch status {
      case nil: "no answer"
      case 409: "409: Thread runs on it"
      case let status?: "\(status)"
      }
    return "it does not \(step) (\(why))"
  }
}
