// SPDX-License-Identifier: Apache-2.0

/// How far it is with giving a router the preferred network's credentials. The raw values are stored.
package enum AdoptionState: String, Hashable, Sendable, CaseIterable {
  /// A person is to be asked, as soon as can be.
  case due
  /// A person is asked.
  case asked
  /// A person has agreed; the message waits for a connection to the broker.
  case agreed
  /// The router was sent the credentials and has not said yet that it uses them.
  case sent

  // What came of it, as `reason` of an alert.
  /// Nothing can be sealed for the login that speaks for the router.
  case notEnrolled = "not_enrolled"
  /// Nothing can be sealed for it, because what is stored of its keys, or of the daemon's, cannot be read.
  case damagedKeys = "damaged_enrolment"
  case denied
  /// Nobody has decided in time.
  case expired
  /// The router was sent the credentials, and goes on saying what it said before.
  case timeout
  /// The router was sent the credentials, and says that it uses other ones.
  case disagreement

  // The same, as the router's publisher reports it.
  /// Another change was pending on the router for as long as the order lived.
  case pendingChange = "pending_change"
  /// The router has refused a step.
  case refused
  /// The router did not answer a step.
  case noAnswer = "no_answer"
  /// It was not attached with them in time.
  case notAttached = "not_attached"

  /// What an `announce` or `dataset` may give as its reason.
  package static let reported: [AdoptionState] = [
    .pendingChange, .refused, .noAnswer, .notAttached,
  ]

  /// Whether a person was asked about a key, which has to count still.
  package var needsKey: Bool {
    switch self {
    case .due, .notEnrolled, .damagedKeys: false
    case .asked, .agreed, .sent, .denied, .expired, .timeout, .disagreement, .pendingChange,
      .refused, .noAnswer, .notAttached:
      true
    }
  }

  package var hasFailed: Bool {
    switch self {
    case .due, .asked, .agreed, .sent: false
    default: true
    }
  }

  /// Whether the router was sent the credentials, and its report that it uses them may still come.
  package var mayBeConfirmed: Bool {
    switch self {
    case .sent, .timeout, .disagreement, .pendingChange, .refused, .noAnswer, .notAttached: true
    case .due, .asked, .agreed, .notEnrolled, .damagedKeys, .denied, .expired: false
    }
  }

  /// Whether a person can have the question asked again.
  package var canBeAskedAgain: Bool { hasFailed && needsKey }

  /// `asked`, `agreed`, `sent` or `failed`, as it is published.
  package var published: String? {
    switch self {
    case .due: nil
    case .asked, .agreed, .sent: rawValue
    default: "failed"
    }
  }
}
