// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The rules of the preferred network.
  package struct Preferred: Sendable, Equatable {
    package var onMismatch: OnMismatch = .alert
    /// Seconds for which a router that was sent the preferred credentials may take to say that it uses
    /// them.
    package var adoptTimeoutSeconds = 300
    package var followMembers: FollowMembers = .sameNetwork

    package init() {}

    /// What happens when a router is on another network.
    package enum OnMismatch: String, Sendable, Equatable, CaseIterable {
      case alert
      /// That, and a person is asked whether it may be given the preferred credentials.
      case adopt
    }

    /// Which news of a member moves the preferred network with it.
    package enum FollowMembers: String, Sendable, Equatable, CaseIterable {
      /// Only a newer dataset of the same Extended PAN ID.
      case sameNetwork = "same_network"
      /// Of earlier versions. It does what `sameNetwork` does: only a person chooses another network.
      case any
    }
  }
}
