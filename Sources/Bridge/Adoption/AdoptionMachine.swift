// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// How far the adoption of one router is: whether it is given the credentials of the preferred network. A pure value.
///
/// "Failed" is `denied`, `expired`, `timeout`, `disagreement`, or the reason that the router itself gives
/// (`AdoptionState.reported`); "a key obstacle" is `not_enrolled` or
/// `damaged_enrolment`. "Ends" and "restarts" withdraw a question that waits, note that what was agreed to is not
/// given, and delete the record; then the state is none or `due`.
///
/// | state | event | next state |
/// |---|---|---|
/// | any but none | checked: no mismatch, or the setting is off | none: ends |
/// | none | checked: elsewhere, and raised or with another SSID | `due` |
/// | none | the mismatch is raised | `due` |
/// | `due`, a key obstacle | checked: behind or disputed, not elsewhere | none: ends |
/// | `asked`, `agreed` | checked: behind or disputed, not elsewhere | none: ends |
/// | `asked`, `agreed` | checked: another network, dataset, login or key than asked about | `due`: restarts |
/// | `sent` | checked: another preferred network or key, or not awaited | `due`: restarts |
/// | failed | checked: something else than asked about, or another SSID | `due`: restarts; none if not elsewhere |
/// | `asked`, `agreed`, `sent`, failed | checked: nothing can be sealed | the key obstacle; none if not elsewhere |
/// | any | removed | none: ends |
/// | failed | a person wants to be asked again | `due`: restarts |
/// | `sent`, failed after it | reported: confirmed | none; the record is deleted |
/// | `sent`, failed after it | reported: configured | the same; what it reports is kept |
/// | `sent` | reported: not confirmed, with a reason | that reason |
/// | `sent` | reported: not yet | the same; what it reports is kept |
/// | `sent` | reported: disagreement | `disagreement` |
/// | `sent` | reported: any, and not awaited | the same; nothing counts |
/// | failed after `sent` | reported: not yet, disagreement | the same; nothing counts |
/// | others | reported: any | the same; nothing counts |
/// | any | clock: the setting is off | none: ends |
/// | `due` | clock: the router is online | the ledger is asked |
/// | a key obstacle | clock: another obstacle | that one |
/// | a key obstacle | clock: none any more | the ledger is asked; `due` while the router is away |
/// | `due`, a key obstacle | asked: nothing to adopt | none: ends |
/// | `due`, a key obstacle | asked: no key | the key obstacle |
/// | `due`, a key obstacle | asked: granted before | `agreed` |
/// | `due`, a key obstacle | asked: a question waits | `asked` |
/// | `due`, a key obstacle | asked: refused | `due` |
/// | `asked` | clock: the question is gone | `expired` |
/// | `asked`, `agreed`, `sent`, failed | clock: what was asked about is outdated | the same; checked again |
/// | `asked`, `agreed`, `sent` | clock: the record is gone or does not fit | `due`: restarts |
/// | `asked` | decided: approved | `agreed` |
/// | `asked` | decided: approved, and something else holds now | `due`: restarts; none if the setting is off |
/// | `asked` | decided: denied, expired | `denied`, `expired` |
/// | `asked` of another id, others | decided: approved | the same; noted as not given |
/// | `asked` of another id, others | decided: denied, expired | the same |
/// | `agreed` | clock: no mismatch, or "always" was taken back | `due`: restarts |
/// | `agreed` | clock: a connection | the message is sent |
/// | `agreed` | sent | `sent` |
/// | `sent` | clock: due, and "always" was taken back | `due`: restarts |
/// | `sent` | clock: due | the same; the message is sent again |
/// | `sent` | clock: due, may not have arrived, less than half of the time left | the same; the whole time again |
/// | `sent` | clock: the deadline is later than the setting allows | the same; the deadline moves |
/// | `sent` | clock: the deadline is over, and all reports are received | `timeout` |
///
/// Whatever is not in the table changes nothing.
struct AdoptionMachine: Hashable {
  /// As it is in the router's row.
  private(set) var state: AdoptionState?
  /// What is stored under seal; nil where nothing is, or it is damaged.
  private(set) var record: Adoption?

  init(_ state: AdoptionState?, _ record: Adoption?) {
    self.state = state
    self.record = record
  }

  /// Whether the router's report is waited for. Not when something else is stored for it than it has reported: then
  /// that counts.
  func isAwaited(_ stored: OperationalDataset?) -> Bool {
    state == .sent && record?.phase == .sent && record?.reported == stored
  }

  /// Whether a report of the router changes anything. One that comes after the time to wait is over counts as it would
  /// have in time, where the router uses what it was sent.
  func counts(_ report: AdoptionReport, isAwaited: Bool) -> Bool {
    switch state {
    case .sent: record != nil && isAwaited
    case .timeout, .disagreement, .pendingChange, .refused, .noAnswer, .notAttached:
      record != nil && (report == .confirmed || report == .configured)
    case nil, .due, .asked, .agreed, .notEnrolled, .damagedKeys, .denied, .expired: false
    }
  }

  mutating func handle(_ event: AdoptionEvent) -> [AdoptionEffect] {
    switch event {
    case .checked(let found): return check(found)
    case .mismatchRaised:
      if state == nil { state = .due }
      return []
    case .removed: return end(next: nil)
    case .wantedAgain:
      guard state?.canBeAskedAgain == true else { return [] }
      return (record.map { [.allowAgain($0.consent)] } ?? []) + restart()
    case .reported(let report, let isAwaited, let failure):
      return counts(report, isAwaited: isAwaited) ? reported(report, failure) : []
    case .stored(let dataset, let report): return stored(dataset, after: report)
    case .clock(let found): return clock(found)
    case .asked(let answer): return asked(answer)
    case .decided(let outcome, let consent, let isEnabled, let target):
      return decided(outcome, consent, isEnabled, target)
    case .sent(let sent):
      record = sent
      state = .sent
      return [.save(sent), .publishSent(sent)]
    }
  }

  // MARK: What ends it

  /// Ends what is under way.
  mutating func end(next: AdoptionState?) -> [AdoptionEffect] {
    var effects: [AdoptionEffect] = []
    if let record {
      switch record.phase {
      case .asked: effects = [.withdraw(record.consent), .logChanged]
      case .agreed: effects = [.noteNotGiven(record.consent), .logChanged]
      case .sent: effects = [.logChanged]
      case .over: break
      }
    }
    record = nil
    state = next
    return effects + [.delete]
  }

  /// A person is asked, as soon as can be.
  mutating func restart() -> [AdoptionEffect] { end(next: .due) + [.check] }

  /// It has failed, and does not restart while all is as it is now.
  mutating func fail(as failure: AdoptionState) -> [AdoptionEffect] {
    state = failure
    guard var over = record else { return [.check] }
    over.phase = .over
    record = over
    return [.save(over), .check]
  }

  /// The router has time until then.
  mutating func wait(until deadline: Int64) -> [AdoptionEffect] {
    guard var waiting = record, waiting.deadline != deadline else { return [] }
    waiting.deadline = deadline
    record = waiting
    return [.save(waiting)]
  }

  // MARK: What the router reports

  private mutating func check(_ found: AdoptionCheck) -> [AdoptionEffect] {
    switch AdoptionDecision(state, found) {
    case .keep: []
    case .begin: end(next: .due)
    case .end: end(next: nil)
    case .fail(let obstacle): end(next: obstacle)
    }
  }

  private mutating func reported(
    _ report: AdoptionReport, _ failure: AdoptionState?
  ) -> [AdoptionEffect] {
    switch report {
    case .confirmed:
      record = nil
      state = nil
      return [.delete]
    case .disagreement: state = failure ?? .disagreement
    case .configured, .notYet: if state == .sent, let failure { state = failure }
    }
    return []
  }

  /// The same network may have another timestamp by now, and no person is asked about what the router reports instead.
  private mutating func stored(
    _ dataset: OperationalDataset, after report: AdoptionReport
  ) -> [AdoptionEffect] {
    guard report != .confirmed, var changed = record else { return [] }
    if state?.hasFailed == true { changed.phase = .over }
    changed.reported = dataset
    guard changed != record else { return [] }
    record = changed
    return [.save(changed)]
  }

  // MARK: The question

  private mutating func asked(_ answer: AdoptionAnswer) -> [AdoptionEffect] {
    switch answer {
    case .nothingToAdopt: return end(next: nil) + [.check]
    case .noKey(let obstacle): return replace(by: obstacle)
    case .granted(let adoption): return keep(adoption, .agreed, as: .agreed)
    case .waits(let adoption): return keep(adoption, .asked, as: .asked)
    case .refused:
      guard state != .due else { return [] }
      state = .due
      return [.check]
    }
  }

  /// - Parameter next: an obstacle, or that it is due again.
  mutating func replace(by next: AdoptionState) -> [AdoptionEffect] {
    record = nil
    state = next
    return [.delete, .check]
  }

  private mutating func keep(
    _ adoption: Adoption, _ phase: Adoption.Phase, as next: AdoptionState
  ) -> [AdoptionEffect] {
    var kept = adoption
    kept.phase = phase
    record = kept
    state = next
    return [.save(kept), .check]
  }

  private mutating func decided(
    _ outcome: ConsentRecord.Outcome, _ consent: String, _ isEnabled: Bool,
    _ target: AdoptionTarget?
  ) -> [AdoptionEffect] {
    guard var agreed = record, agreed.phase == .asked, agreed.consent == consent else {
      return outcome == .approved ? [.noteNotGiven(consent)] : []
    }
    switch outcome {
    case .denied: return fail(as: .denied)
    case .expired, .revoked: return fail(as: .expired)
    case .approved: break
    }
    guard isEnabled, let target else {
      return end(next: isEnabled ? .due : nil) + [.check, .noteNotGiven(consent)]
    }
    // Until the clock sends it, the preferred network is kept for the router here only.
    agreed.preferred = target.preferred
    agreed.reported = target.reported
    return keep(agreed, .agreed, as: .agreed)
  }
}
