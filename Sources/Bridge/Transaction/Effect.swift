// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// What follows from what a component has decided, beside what it has written itself. `BatchApplier` applies all of
/// them, in their order.
enum Effect {
  /// A row of the outbox.
  case event(EventRecord)
  case log(LogLine)
  /// A person is asked: event, overview and log.
  case question(PendingConsent)
  /// A question waits no more: event, log, what it means for a router, and the answers that it owes.
  case ended(EndedConsent)
  /// To a router that is to use the preferred network.
  case send(AdoptionMessage)
  /// The condition of an alert of a home holds, or, without facts, does not.
  case alert(AlertName, AlertFacts?, home: Int64)
  /// The store has another preferred network for a home, or none; every router is checked again.
  ///
  /// - by: the router that reports it, or the person who chose it.
  case preferred(PreferredChange, by: String?, home: Int64)
  /// A router is written, and all that is true of it is decided again.
  case router(RouterChange)
}

/// What a person who reads the log is to know.
enum LogLine {
  /// What was agreed to is not given.
  case notGiven(ConsentRecord, ConsentObstacle)
  /// What a router was asked about has changed.
  case adoptionChanged(BorderAgentID)
}

/// A change of a router that leaves its dataset as it is.
struct RouterChange {
  var router: RouterRecord
  /// As it is in its row.
  let stored: RouterRecord
  /// What the router's alerts name as the reason.
  let trigger: String
  /// What is published about it; without a type, only its state.
  var event: EventRecord

  init(_ router: RouterRecord, stored: RouterRecord, trigger: String, now: WireTime) {
    self.router = router
    self.stored = stored
    self.trigger = trigger
    event = EventRecord(time: now, home: stored.home)
    event.router = stored.agent
  }
}
