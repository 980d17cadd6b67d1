// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The address of a socket in the file system.
///
/// An address holds 107 bytes only. A longer path is reached through the directory's descriptor,
/// by its name in /proc: that is short, however deep the directory lies.
package struct SocketAddress: ~Copyable {
  private static let room = 108

  private let directory: Int32
  private let path: String

  package init(_ path: String) throws(SocketError) {
    guard path.utf8.count >= Self.room else {
      self.path = path
      directory = -1
      return
    }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let descriptor = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", path) }
    directory = descriptor
    self.path = "/proc/self/fd/\(descriptor)\(path[slash...])"
  }

  deinit {
    if directory >= 0 { close(directory) }
  }

  package func withAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      room.copyBytes(from: path.utf8.prefix(room.count - 1))
    }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// A new socket, closed in programs that this one starts.
  package static func makeSocket(_ path: String) throws(SocketError) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system("socket", path) }
    return descriptor
  }
}

/// Options that a socket is given before others use it.
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
