// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// What follows from what a component has decided, beside what it has written itself. `EffectApplier` applies
/// all of them, in their order.
///
/// Indirect where a value is large: an effect is passed on a few times.
enum Effect {
  /// A row of the outbox.
  indirect case event(EventRecord)
  indirect case log(LogLine)
  /// A person is asked: event, overview and log.
  indirect case question(PendingConsent)
  /// A question waits no more: event, log, what it means for a router, and the answers that it owes.
  indirect case ended(EndedConsent)
  /// A person wants to be asked again whether a router gets the preferred credentials.
  indirect case askAgain(RouterRecord)
  /// To a client; counted as one of the requests that were answered, or refused.
  indirect case answer(Answer, isRefusal: Bool)
  /// To the publisher of an event: what became of it. Not a request, so not counted.
  indirect case eventAnswer(Answer)
  /// To a router that is to use the preferred network.
  indirect case send(AdoptionMessage)
  /// The condition of an alert holds, or, without facts, does not.
  ///
  /// - about: see `Alerts.set`.
  indirect case alert(AlertName, AlertFacts?, about: String = "", home: Int64)
  /// An alert was raised, updated or resolved: event and log.
  indirect case alertChanged(AlertChange.News)
  /// The store has another preferred network for a home, or none; every router is checked again.
  ///
  /// - by: the router that reports it, or the person who chose it.
  indirect case preferred(PreferredChange, by: String?, home: Int64)
  /// The keys of the preferred network may be disputed now, or no more: also where no router is listed under an id
  /// whose credentials are one side of it.
  case checkKeys(home: Int64)
  /// All that is true of a home is decided again when the transaction ends.
  case checkHome(home: Int64)
  /// Home Assistant may be asked other questions now.
  case checkButtons(home: Int64)
  /// A router is written, and all that is true of it is decided again.
  case router(RouterChange)
  /// A router is taken off the list: its topics are emptied, its alerts resolve, its adoption ends.
  ///
  /// - event: what is published as `router_left`, with all that is known beside the router.
  indirect case unlist(RouterRecord, EventRecord)
  /// A router is put into a table that was created again.
  indirect case restore(RouterRecord)
  /// A router is counted for its network, whose table was created again.
  indirect case countNetwork(of: RouterRecord)
  /// The next routers of a home are checked against the preferred network.
  ///
  /// - after: the id of the last one that was checked; 0: from the first one.
  case recheckRouters(home: Int64, after: Int64)
  /// What is left of a removed id goes.
  indirect case delete(Ownership.Removal)
  /// A user has sent a dataset unsealed.
  case plaintextSeen(user: String, home: String)
  /// A router came to its home.
  case routerCame(home: Int64)
  /// Something changed that an alert of the home may be about.
  case routersChanged(home: Int64)
  /// A request has stored credentials, perhaps with other keys of the preferred network.
  indirect case keysReported(OperationalDataset, home: Int64)
  /// A network is written, or deleted where no router is on it, and its topic is published again.
  indirect case network(NetworkRecord, home: Int64, isGone: Bool)
  /// What is published of a network changes, although its counts stay the same.
  case networkShown(ExtendedPANID, home: Int64)
  /// The event repeats an earlier one.
  case duplicate
  /// A user may publish for no router any more.
  case routerGone(ofUser: String, home: Int64)
  /// A router that left long ago is forgotten: counted, and logged for the whole batch.
  case routerForgotten
}

/// A line of the log.
enum LogLine {
  /// What was agreed to is not given.
  case notGiven(ConsentRecord, ConsentObstacle)
  /// What a router was asked about has changed.
  case adoptionChanged(BorderAgentID)
}
