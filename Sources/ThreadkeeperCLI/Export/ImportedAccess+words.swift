// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

/// What `store import` says of who may have what is in a store.
extension ImportedAccess {
  /// How many there are.
  func words(_ count: Int) -> String {
    switch self {
    case .identity: "the daemon's own keys"
    case .enrolment: count == 1 ? "1 enrolled client" : "\(count) enrolled clients"
    case .revocation, .revocationOfEnrolled:
      count == 1 ? "1 client that was revoked" : "\(count) clients that were revoked"
    case .grant: count == 1 ? "1 consent \"always\"" : "\(count) consents \"always\""
    case .localGrant:
      count == 1
        ? "1 consent \"always\" for a user of that machine"
        : "\(count) consents \"always\" for users of that machine"
    case .pending: count == 1 ? "1 request that waited" : "\(count) requests that waited"
    case .history: count == 1 ? "1 decision of then" : "\(count) decisions of then"
    case .adoption:
      count == 1
        ? "1 router that was to have the preferred network"
        : "\(count) routers that were to have the preferred network"
    case .unknown: count == 1 ? "1 item of another kind" : "\(count) items of other kinds"
    }
  }

  /// Why some of them stay out: the same for all of a reason.
  enum Reason: CaseIterable {
    case isDecidedHere, isEnrolledHere, isOfThen, isUnknown

    var heading: String {
      switch self {
      case .isDecidedHere: "Left out, because this store says itself who may have what is in it:"
      case .isEnrolledHere:
        "Revoked where the export was made, and enrolled here with the same keys:"
      case .isOfThen: "Left out, because it is of the daemon that was exported only:"
      case .isUnknown: "Left out, because this version does not know what it is:"
      }
    }

    /// What there is to do about it.
    var remedy: String? {
      switch self {
      case .isDecidedHere:
        "To have a client all the same: `threadkeeper clients enroll` it here. Who needs consent asks again.\n"
      case .isEnrolledHere: "If they should be so here too: `threadkeeper clients revoke` them.\n"
      case .isOfThen: nil
      case .isUnknown: "A newer version may: import the same again with that one.\n"
      }
    }
  }

  var reason: Reason {
    switch self {
    case .identity, .enrolment, .revocation, .grant: .isDecidedHere
    case .revocationOfEnrolled: .isEnrolledHere
    case .localGrant, .pending, .history, .adoption: .isOfThen
    case .unknown: .isUnknown
    }
  }
}
