// SPDX-License-Identifier: Apache-2.0

/// Who may call a method. Each class may call what those below it may.
package enum VarlinkAccess: Int, Sendable, Comparable {
  /// Whoever is let in.
  case admitted
  /// Who may look at what shows no secret.
  case reader
  /// A member of a team.
  case team
  /// The daemon's own user, and root.
  case owner

  package static func < (left: VarlinkAccess, right: VarlinkAccess) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What a server makes of the user at the other end of a new connection.
package enum VarlinkVerdict: Sendable, Equatable {
  case admitted(VarlinkAccess)
  /// The connection is answered with this, and closed. Nothing of it is read.
  case refused(VarlinkError)
}

/// Who has called.
package struct VarlinkCaller: Sendable {
  /// As the kernel has it.
  package let peer: SocketPeer
  package let access: VarlinkAccess
  /// The connection that the call came over.
  package let session: VarlinkSession

  package init(
    peer: SocketPeer, access: VarlinkAccess, session: VarlinkSession = VarlinkSession()
  ) {
    self.peer = peer
    self.access = access
    self.session = session
  }
}
