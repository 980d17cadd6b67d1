// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DaemonListener {
  /// Whom a listener lets in.
  package struct Admission: Sendable {
    package typealias Reach = SocketReach

    package enum Verdict: Sendable, Equatable {
      case admitted
      /// It is told so, whatever it asks, and not heard; closed without a word when that is empty.
      case refused(answer: [UInt8])
    }

    package var reach: Reach
    /// Judges a call by the number of its user, as the kernel has it.
    package var judge: @Sendable (UInt32) -> Verdict
    /// Connections of one user at a time.
    package var placesPerUser: Int
    /// Connections of all users at a time. See `CallerPlaces`.
    package var places: Int
    /// What is answered to a connection that finds no place, or loses it before its request has come; nothing when it
    /// is empty.
    package var noPlace: [UInt8] = []
    /// Whether open files may come with a request.
    package var takesDescriptors = false
    /// What is answered to a request that has not the form of a message; nothing when it is empty.
    package var complaint: @Sendable (DaemonSocketError) -> [UInt8] = { _ in [] }

    package init(
      _ reach: Reach, placesPerUser: Int = 8, judge: @escaping @Sendable (UInt32) -> Verdict
    ) {
      self.reach = reach
      self.judge = judge
      self.placesPerUser = placesPerUser
      places = CallerPlaces.total(descriptors: SocketOptions.openFileLimit)
    }

    /// Two users at the most, whose descriptors come with their requests.
    private static let ownerPlaces = 16

    /// This user and root, nobody else.
    package static var owner: Admission {
      var admission = Admission(.owner, placesPerUser: ownerPlaces) {
        $0 == geteuid() || $0 == 0 ? .admitted : .refused(answer: [])
      }
      admission.places = ownerPlaces
      admission.takesDescriptors = true
      return admission
    }
  }
}
