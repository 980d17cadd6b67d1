// SPDX-License-Identifier: Apache-2.0

/// What all answers of the daemon to commands have in common.
package enum DaemonAnswerForm {
  package enum Status: String, Codable, Sendable {
    case ok, error
  }

  package struct Failure: Codable, Sendable {
    /// Stable: `refused`, `unavailable`, `conflict`, `invalid_payload`, `ending`,
    /// `store`, `too_large`; about consent those of `ConsentRefusal`.
    package var code: String
    package var message: String
    package var help: String?
    /// The exit status that the command should end with.
    package var exit: Int32

    init(_ failure: CommandFailure) {
      code =
        switch failure.status {
        case .notPermitted: DaemonAnswerForm.refused
        case .unavailable: "unavailable"
        case .configuration: "conflict"
        case .usage: "invalid_payload"
        case .temporary: DaemonAnswerForm.ending
        default: DaemonAnswerForm.store
        }
      message = failure.message
      help = failure.remedy
      exit = failure.status.rawValue
    }
  }

  /// The daemon ends before it has done what it was asked for.
  package static let ending = "ending"

  /// As over MQTT.
  package static let tooLarge = "too_large"

  /// Whoever asks may not have it; of a login: the broker refuses it.
  package static let refused = "refused"

  /// The store cannot do it.
  package static let store = "store"

  static let unknown = CommandFailure(
    .usage, "the running daemon does not know this request",
    remedy: "is it of another version? Start it again")

  package static let unreadable = CommandFailure(
    .software, "the running daemon gives an answer that cannot be read",
    remedy: "is it of another version? Start it again")
}
