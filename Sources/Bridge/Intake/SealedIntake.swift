// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment

/// What the intake needs to check signatures.
struct SealedIntake: Sendable {
  let enrolments: ClientEnrolmentStore
  private let given: Identity?

  /// - Parameter identity: the daemon's own keys; nil: those of the enrolments.
  init(enrolments: ClientEnrolmentStore, identity: Identity? = nil) {
    self.enrolments = enrolments
    given = identity
  }

  /// None while none were needed, or when they are damaged.
  var identity: Identity? { given ?? enrolments.identity }
}
