// SPDX-License-Identifier: Apache-2.0

/// What became of a message from one login to another, or to the same one.
package enum ProbeOutcome: Sendable, Equatable {
  /// It came: the one may publish there, and the other read there. Nothing else proves either.
  case delivered
  /// The broker refused the message. Only MQTT 5 can say so.
  case refused(MosquittoError)
  /// The broker refused the subscription. Mosquitto 2.0 never does: it grants every filter, and drops what the login may
  /// not read.
  case unreadable(MosquittoError)
  /// The broker took the message and it did not come: one of the two is not allowed there.
  case lost
  /// Nothing is known, and why.
  case notChecked(String)

  /// Whether it came; nil when that is not known.
  package var isDelivered: Bool? {
    switch self {
    case .delivered: true
    case .refused, .unreadable, .lost: false
    case .notChecked: nil
    }
  }
}
