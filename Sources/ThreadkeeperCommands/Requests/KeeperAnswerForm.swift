// SPDX-License-Identifier: Apache-2.0

/// What all answers of the keeper to commands have in common.
enum KeeperAnswerForm {
  enum Status: String, Codable, Sendable {
    case ok, error
  }

  struct Failure: Codable, Sendable {
    /// Stable: `refused`, `unavailable`, `conflict`, `invalid_payload`, `ending`,
    /// `store`, `too_large`; about consent those of `ConsentRefusal`.
    var code: String
    var message: String
    var help: String?
    /// The exit status that the command should end with.
    var exit: Int32

    init(_ failure: CommandFailure) {
      code =
        switch failure.status {
        case .notPermitted: KeeperAnswerForm.refused
        case .unavailable: "unavailable"
        case .configuration: "conflict"
        case .usage: "invalid_payload"
        case .temporary: KeeperAnswerForm.ending
        default: KeeperAnswerForm.store
        }
      message = failure.message
      help = failure.remedy
      exit = failure.status.rawValue
    }
  }

  /// The keeper ends before it has done what it was asked for.
  static let ending = "ending"

  /// As over MQTT.
  static let tooLarge = "too_large"

  /// Whoever asks may not have it; of a login: the broker refuses it.
  static let refused = "refused"

  /// The store cannot do it.
  static let store = "store"

  static let unreadable = CommandFailure(
    .software, "the running keeper gives an answer that cannot be read",
    remedy: "is it of another version? Start it again")
}
