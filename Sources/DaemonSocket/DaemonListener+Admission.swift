// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DaemonListener {
  /// Whom a listener lets in.
  package struct Admission: Sendable {
    /// Who can reach the socket's name.
    package enum Reach: Sendable, Equatable {
      /// This user, and root.
      case owner
      /// Members of a group, by number.
      case group(UInt32)
      case everybody
    }

    package var reach: Reach
    /// Tells by the number of a user, as the kernel has it, whether its programs are heard.
    package var admits: @Sendable (UInt32) -> Bool
    /// What others are answered, whatever they ask; closed without a word when it is empty.
    package var refusal: [UInt8]
    /// Callers of one user at a time: one user's programs shall not keep all others out.
    package var placesPerUser: Int

    package init(
      _ reach: Reach, refusal: [UInt8] = [], placesPerUser: Int = 8,
      admits: @escaping @Sendable (UInt32) -> Bool
    ) {
      self.reach = reach
      self.admits = admits
      self.refusal = refusal
      self.placesPerUser = placesPerUser
    }

    /// This user and root, nobody else.
    package static let owner = Admission(.owner, placesPerUser: DaemonListener.places) {
      $0 == geteuid() || $0 == 0
    }
  }
}
