// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ClientEnrolment
import SealedEnvelope

/// What the intake needs to judge who has signed what.
struct SealedIntake: Sendable {
  let enrolments: ClientEnrolmentStore
  /// The keeper's own keys; none when they are damaged, or were not made before the store was
  /// read-only.
  let identity: Identity?
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
