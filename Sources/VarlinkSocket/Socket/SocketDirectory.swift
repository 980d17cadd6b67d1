// SPDX-License-Identifier: Apache-2.0

import Glibc

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
