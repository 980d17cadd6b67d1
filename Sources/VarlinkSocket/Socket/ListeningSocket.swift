// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Makes the socket that a daemon listens on.
package enum ListeningSocket {
  private static let backlog: Int32 = 16

  package static func make(
    _ path: String, _ reach: SocketReach
  ) throws(SocketError) -> Int32 {
    if reach == .owner {
      unlink(path)
    } else {
      try makeDirectory(SocketDirectory.parent(of: path))
      try removeDeadSocket(path)
    }
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    // On Linux the socket's own mode is what the name gets, so there is no moment with another.
    guard fchmod(descriptor, 0o600) == 0,
      address.withAddress({ bind(descriptor, $0, $1) }) == 0,
      Glibc.listen(descriptor, backlog) == 0,
      fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
      open(path, to: reach)
    else {
      let code = errno
      close(descriptor)
      throw .system("listen", path, code)
    }
    return descriptor
  }

  private static func open(_ path: String, to reach: SocketReach) -> Bool {
    switch reach {
    case .owner: true
    // The group first: never is it open to another.
    case .group(let group): chown(path, uid_t.max, group) == 0 && chmod(path, 0o660) == 0
    case .everybody: chmod(path, 0o666) == 0
    }
  }

  /// Others are to find the socket in it, and must not make another there.
  private static func makeDirectory(_ path: String) throws(SocketError) {
    guard mkdir(path, 0o755) != 0 else {
      // Whatever the mask.
      chmod(path, 0o755)
      return
    }
    guard errno == EEXIST else { throw .system("mkdir", path) }
  }

  /// The place is one that a person has chosen: what lies there may be anybody's.
  private static func removeDeadSocket(_ path: String) throws(SocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SocketError(.taken, "\(path) is there, and is no socket")
    }
    let address = try SocketAddress(path)
    let probe = try SocketAddress.makeSocket(path)
    defer { close(probe) }
    guard address.withAddress({ connect(probe, $0, $1) }) != 0 else {
      throw SocketError(.taken, "another process listens on \(path)")
    }
    guard errno == ECONNREFUSED else { throw .system("connect", path) }
    guard unlink(path) == 0 else { throw .system("unlink", path) }
  }
}
