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

extension Rejection {
  /// An envelope was refused: the code is that of the envelope's own rules.
  init(_ refusal: EnvelopeRefusal) {
    let code: Code =
      switch refusal {
      case .tooLarge: .tooLarge
      case .notAnEnvelope: .notAnEnvelope
      case .unsupportedVersion: .unsupportedVersion
      case .unsupportedAlgorithm: .unsupportedAlgorithm
      case .unknownKeyID: .unknownKeyID
      case .cannotOpen: .cannotOpen
      case .unknownIssuer: .unknownIssuer
      case .badSignature: .badSignature
      case .wrongAudience: .wrongAudience
      case .wrongTopic: .wrongTopic
      case .expired: .expired
      case .notYetValid: .notYetValid
      case .replayed: .replayed
      }
    self.init(code, field: "sealed", message: refusal.message)
  }
}
