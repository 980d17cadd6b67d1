// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The rules of the preferred network.
  package struct Preferred: Sendable, Equatable {
    package var onMismatch: OnMismatch = .alert

    package init() {}

    /// What happens when a router is on another network.
    package enum OnMismatch: String, Sendable, Equatable, CaseIterable {
      case alert
      /// That, and a person is asked whether it may be given the preferred credentials.
      case adopt
    }
  }
}
