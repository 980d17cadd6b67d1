// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Who is at the other end, as the kernel has it (SO_PEERCRED, unix(7)): nobody can claim to be
/// another.
package struct SocketPeer: Sendable, Equatable {
  package let processID: Int32
  package let user: UInt32
  package let group: UInt32

  /// Nil when the kernel does not say.
  package init?(_ descriptor: Int32) {
    // struct ucred: three numbers of 32 bits.
    var credentials: (Int32, UInt32, UInt32) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
      length == MemoryLayout.size(ofValue: credentials)
    else { return nil }
    (processID, user, group) = credentials
  }
}
