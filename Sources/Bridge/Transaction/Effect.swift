// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ConsentLedger
import CredentialService
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
  /// A person's decision settles these questions: the answers that they owe.
  case settled([SettledConsent])
  /// To a client; counted as one of the requests that were answered, or refused.
  case answer(Answer, isRefusal: Bool)
  /// To a router that is to use the preferred network.
  case send(AdoptionMessage)
  /// The condition of an alert of a home holds, or, without facts, does not.
  case alert(AlertName, AlertFacts?, home: Int64)
  /// The store has another preferred network for a home, or none; every router is checked again.
  ///
  /// - by: the router that reports it, or the person who chose it.
  case preferred(PreferredChange, by: String?, home: Int64)
  /// The keys of the preferred network may be disputed now, or no more: also where no router is listed under an id whose
  /// credentials are one side of it.
  case checkKeys(home: Int64)
  /// A router is written, and all that is true of it is decided again.
  case router(RouterChange)
  /// A router is taken off the list: its topics are emptied, its alerts resolve, its adoption ends.
  ///
  /// - event: what is published as `router_left`, with all that is known beside the router.
  case unlist(RouterRecord, EventRecord)
  /// What is left of a removed id goes.
  case delete(Ownership.Removal)
  /// A user has sent a dataset unsealed.
  case plaintextSeen(user: String, home: String)
  /// A router came to its home.
  case routerCame(home: Int64)
  /// Something changed that an alert of the home may be about.
  case routersChanged(home: Int64)
  /// A request has stored credentials, perhaps with other keys of the preferred network.
  case keysReported(OperationalDataset, home: Int64)
  /// A network is written, or deleted where no router is on it, and its topic is published again.
  case network(NetworkRecord, home: Int64, isGone: Bool)
  /// The event repeats an earlier one.
  case duplicate
  /// A user may speak for no router any more.
  case routerGone(ofUser: String, home: Int64)
  /// A router that left long ago is forgotten: counted, and logged for the whole batch.
  case routerForgotten
}

/// What a person who reads the log is to know.
enum LogLine {
  /// What was agreed to is not given.
  case notGiven(ConsentRecord, ConsentObstacle)
  /// What a router was asked about has changed.
  case adoptionChanged(BorderAgentID)
}
