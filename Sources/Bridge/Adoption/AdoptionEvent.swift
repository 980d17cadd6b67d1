// SPDX-License-Identifier: Apache-2.0

import Broker
import ConsentLedger
import ThreadCredentialStore
import ThreadDataset

/// What can move a router's adoption on.
enum AdoptionEvent {
  /// The router was checked against the preferred network.
  case checked(AdoptionCheck)
  /// The alert about its mismatch was raised.
  case mismatchRaised
  /// It left, or was removed.
  case removed
  /// A person wants to be asked again.
  case wantedAgain
  /// It has reported a dataset.
  ///
  /// - isAwaited: see `AdoptionMachine.isAwaited`.
  /// - failure: why it does not use what it was sent, where it reports that and that is final.
  case reported(AdoptionReport, isAwaited: Bool, failure: AdoptionState? = nil)
  /// What it has reported is applied.
  ///
  /// - dataset: what is stored for it now.
  case stored(OperationalDataset, after: AdoptionReport)
  /// A second passed.
  case clock(AdoptionClock)
  /// What the consent ledger answers to the question.
  case asked(AdoptionAnswer)
  /// A person has decided, or the time to decide is over.
  ///
  /// - consent: the id of the question.
  /// - target: what is to be given now; nil where there is nothing to adopt, or something else was asked about.
  case decided(ConsentRecord.Outcome, consent: String, isEnabled: Bool, target: AdoptionTarget?)
  /// The message was sealed and handed to the connection.
  case sent(Adoption)
}

/// Two datasets of a router that is on another network.
struct AdoptionTarget: Hashable {
  /// What is to be given.
  let preferred: OperationalDataset
  /// What the router reports that it uses.
  let reported: OperationalDataset
}

/// Whether a person could be asked about a router.
enum AdoptionAnswer {
  /// It is not on another network any more.
  case nothingToAdopt
  /// Nothing can be sealed for the login that it would be sent to. No person is asked about what could not be sent.
  case noKey(AdoptionState)
  /// "Always" was approved for it before.
  case granted(Adoption)
  /// A question waits.
  case waits(Adoption)
  /// Too many questions wait, or the same was denied a moment ago.
  case refused
}

/// What is known of a router when it is checked against the preferred network.
struct AdoptionCheck {
  /// Whether the setting asks for adoption.
  let isEnabled: Bool
  let check: PreferredCheck
  /// What the adoption is about; nil where nothing is stored of it that counts.
  let before: AdoptionSituation?
  /// Nil without a preferred network, or a dataset of the router.
  let now: AdoptionSituation?
  /// Whether the mismatch has lasted as long as its alert is held: a migration asks no person.
  let isRaised: Bool
  /// The Wi-Fi has got another name. That asks at once, and again, unless a question waits: any login may report
  /// it, and must not have people asked again and again.
  let isSSIDNew: Bool
}

/// What is known of a router when a second has passed. Only what matters in its state is looked up; the rest changes
/// nothing.
struct AdoptionClock {
  let now: WireTime
  /// Seconds in which a router that was sent the preferred credentials has to report that it uses them; nil: the
  /// setting does not ask for adoption.
  let timeout: Int?
  /// A router that is away could not answer.
  var isRouterOnline = true
  /// Why nothing can be sealed for the login that it would be sent to; nil: something can.
  var obstacle: AdoptionState?
  /// Whether a person was asked about something else than holds now.
  var isOutdated = false
  var isQuestionWaiting = true
  /// What is to be given now; nil where there is nothing to adopt.
  var target: AdoptionTarget?
  /// Whether that by which it is given still counts: "always" can be taken back.
  var holds = true
  /// Whether the router's report is waited for; see `AdoptionMachine.isAwaited`.
  var isAwaited = true
  var hasConnection = false
  /// Whether the connection was not handed the message yet, or it is over there.
  var isDue = false
  /// Whether the broker is known to have the message.
  var hasArrived = false
  /// Whether all that routers have published is received by now.
  var isCaughtUp = false
  /// Names the message, if it is sent now.
  var messageID = ""
}
