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

/// Who can reach a socket's name.
package enum SocketReach: Sendable, Equatable {
  /// This user, and root.
  case owner
  /// Members of a group, by number.
  case group(UInt32)
  case everybody
}

/// A directory on the way to a socket.
package struct SocketDirectory: Equatable {
  package var owner: UInt32
  package var mode: UInt32

  /// A sticky bit does not help: who comes first makes the name.
  package var isOpenToOthers: Bool { mode & 0o022 != 0 }

  package init(owner: UInt32, mode: UInt32) {
    self.owner = owner
    self.mode = mode
  }

  /// Those above a path, the nearest first; links are followed.
  ///
  /// - Throws: `system`, `forbidden` when this user may not look there.
  package static func above(_ path: String) throws(SocketError) -> [SocketDirectory] {
    guard let resolved = realpath(parent(of: path), nil) else {
      throw SocketError.refusal("realpath", path, errno)
    }
    defer { free(resolved) }
    var place = String(cString: resolved)
    var directories: [SocketDirectory] = []
    while true {
      var status = stat()
      guard stat(place, &status) == 0 else {
        throw SocketError.refusal("stat", place, errno)
      }
      directories.append(SocketDirectory(owner: status.st_uid, mode: status.st_mode))
      if place == "/" { return directories }
      place = parent(of: place)
    }
  }

  package static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
