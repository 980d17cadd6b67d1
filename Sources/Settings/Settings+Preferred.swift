// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The rules of the preferred network.
  package struct Preferred: Sendable, Equatable {
    package var onMismatch: OnMismatch = .alert
    package var followMembers: FollowMembers = .sameNetwork

    package init() {}

    /// What happens when a router is on another network.
    package enum OnMismatch: String, Sendable, Equatable, CaseIterable {
      case alert
    }

    /// Which news of a member moves the preferred network with it.
    package enum FollowMembers: String, Sendable, Equatable, CaseIterable {
      /// Only a newer dataset of the same Extended PAN ID.
      case sameNetwork = "same_network"
      /// Any change of a member.
      case any
    }
  }
}
