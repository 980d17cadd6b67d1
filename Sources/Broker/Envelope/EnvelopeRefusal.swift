// SPDX-License-Identifier: Apache-2.0

/// Why an envelope was not opened. The names are stable: they are published, and written into scripts.
package enum EnvelopeRefusal: String, Error, CaseIterable, Sendable {
  case tooLarge = "too_large"
  /// It has not the form of an envelope, outside or inside.
  case notAnEnvelope = "not_an_envelope"
  case unsupportedVersion = "unsupported_version"
  case unsupportedAlgorithm = "unsupported_algorithm"
  /// Sealed to a key that the reader has not.
  case unknownKeyID = "unknown_kid"
  /// Altered, or sealed to another key than it says.
  case cannotOpen = "cannot_open"
  /// Signed by nobody whom the reader believes.
  case unknownIssuer = "unknown_issuer"
  case badSignature = "bad_signature"
  /// Signed for another reader, who has sealed it again.
  case wrongAudience = "wrong_audience"
  /// Signed for another topic.
  case wrongTopic = "wrong_topic"
  case expired
  /// Signed in the future, by more than the clocks may differ.
  case notYetValid = "not_yet_valid"
  /// It came before. Judged by who keeps count: of the ids of requests, or of the order of events.
  case replayed

  package var message: String {
    switch self {
    case .tooLarge: "an envelope has at most \(Envelope.limit) bytes"
    case .notAnEnvelope: "this has not the form of an envelope"
    case .unsupportedVersion: "envelopes of this version are not known here"
    case .unsupportedAlgorithm: "envelopes are sealed with \(Envelope.algorithm)"
    case .unknownKeyID:
      "sealed to a key that is not the recipient's current one; get its enrolment line again"
    case .cannotOpen: "the envelope does not open: it was altered, or sealed to another key"
    case .unknownIssuer: "signed by a key that is not enrolled for this user"
    case .badSignature: "the signature is not that of the enrolled key"
    case .wrongAudience: "signed for another recipient"
    case .wrongTopic: "signed for another topic"
    case .expired: "the envelope is too old; is a clock wrong?"
    case .notYetValid: "the envelope is from the future; is a clock wrong?"
    case .replayed: "this envelope came before"
    }
  }
}
