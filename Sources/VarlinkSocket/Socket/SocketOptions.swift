// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a socket is told before others use it.
package enum SocketOptions {
  /// SO_PASSRIGHTS of asm-generic/socket.h.
  private static let passRights: Int32 = 83

  /// Has the kernel refuse open files (`SCM_RIGHTS`) at the sender, with EPERM. Connections have it from the socket that
  /// listens.
  ///
  /// - Returns: false where the kernel cannot (Linux before 6.16).
  static func refuseDescriptors(_ socket: Int32) -> Bool {
    var no: Int32 = 0
    return setsockopt(socket, SOL_SOCKET, passRights, &no, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// Of open files of this process; 0 where the system does not say.
  package static var openFileLimit: UInt {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return UInt(limit.rlim_cur)
  }
}
