// SPDX-License-Identifier: Apache-2.0

/// What a broker lets the daemon's login do, and what it lets others do.
package struct AccessReport: Sendable {
  /// One of the daemon's topics: its login publishes there and reads it back.
  package struct Own: Sendable {
    package let topic: ProbeTopic
    package let outcome: ProbeOutcome
  }

  /// What a client can do that is not the daemon, in one home.
  package struct Others: Sendable {
    package let base: String
    /// The daemon answers another user, and this client reads it: secrets leak.
    package let readsAnswers: ProbeOutcome
    /// Another user's event comes to this client: network keys leak.
    package let readsEvents: ProbeOutcome
    /// This client answers another user in the daemon's place.
    package let writesAnswers: ProbeOutcome
    /// This client speaks as another user.
    package let speaksForOthers: ProbeOutcome
    /// This client publishes below `bridge/`: false states.
    package let publishesStates: ProbeOutcome
    /// An event under its own name comes to the daemon; nil without a login.
    package let speaksForItself: ProbeOutcome?
    /// An answer to it comes; nil without a login.
    package let readsOwnAnswers: ProbeOutcome?
  }

  /// A client that is not the daemon.
  package enum Client: Sendable {
    /// The broker does not let it in.
    case refused(MosquittoError)
    /// By home, in the order of the base topics.
    case admitted([Others])
  }

  /// What the broker said when it let the daemon's login in.
  package let session: MosquittoSession
  /// By home, each with every group.
  package let own: [Own]
  /// Whether a message of more than a megabyte came back. Nil with MQTT 5, where each client has a limit of its own, and
  /// where nothing comes back.
  package var passesLarge: Bool?
  /// Filters of the daemon that the broker refused. That it grants one proves nothing.
  package let refusedFilters: [SubscriptionRefusal]
  /// Topics `<base>/in/…` and `<base>/router/<id>/availability` of which the broker keeps a message, and no others.
  package let retained: [String]
  /// `$SYS/broker/…`, as far as the broker has it and lets the login read it.
  package let values: [String: String]
  /// A client without a login and without a certificate.
  package let anonymous: Client
  /// The other login, where one was given.
  package let other: Client?
}

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
