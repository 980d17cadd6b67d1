import Glibc

/// Makes the socket that a daemon listens on.
package enum ListeningSocket {
  private static let backlog: Int32 = 16

  package static func make(_ path: String, _ reach: SocketReach) throws(SocketError) -> Int32 {
    if reach == .owner {
      unlink(path)
    } else {
      try makeDirectory(SocketDirectory.parent(of: path))
      try removeDeadSocket(path)
    }
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    // On Linux the socket's own mode is what the name gets, so there is no moment with another.
    guard fchmod(descriptor, 0o600) == 0, address.withAddress({ bind(descriptor, $0, $1) }) == 0,
      Glibc.listen(descriptor, backlog) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, open(path, to: reach)
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
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw SocketError(.taken, "\(path) is there, and is no socket") }
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

  /// Those above a path, the nearest first; links are followed.
  ///
  /// - Throws: `system`, `forbidden` when this user may not look there.
  package static func above(_ path: String) throws(SocketError) -> [SocketDirectory] {
    guard let resolved = realpath(parent(of: path), nil) else { throw SocketError.refusal("realpath", path, errno) }
    defer { free(resolved) }
    var place = String(cString: resolved)
    var directories: [SocketDirectory] = []
    while true {
      var status = stat()
      guard stat(place, &status) == 0 else { throw SocketError.refusal("stat", place, errno) }
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

  deinit { if directory >= 0 { close(directory) } }

  package func withAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in room.copyBytes(from: path.utf8.prefix(room.count - 1)) }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
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

/// What went wrong on the socket between a command and the daemon.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable {
    /// The other side is not who it must be.
    case untrusted
    /// This user has no access to the socket.
    case forbidden
    /// It took too long.
    case timedOut
    /// It ended in the middle.
    case closed
    /// The caller has given up after the request had gone out: what came of it is not known.
    case abandoned
    /// The name is another's: what lies there is no socket, or somebody listens.
    case taken
    /// More bytes than one message may have.
    case tooLarge
    /// More than one message, or open files where none are taken.
    case malformed
    case system
  }

  package let reason: Reason
  /// One sentence without a full stop; never what was sent.
  package let message: String

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  package var description: String { message }

  package static let closed = SocketError(.closed, "the other side has closed the connection")

  package static let timedOut = SocketError(.timedOut, "the other side does not answer")

  package static let abandoned = SocketError(.abandoned, "nobody waits for the answer any more")

  package static func system(_ call: String, _ path: String, _ code: Int32 = errno) -> SocketError {
    SocketError(.system, "\(call) failed for \(path): \(String(cString: strerror(code)))")
  }

  /// The same, when it may be that this user has no access.
  package static func refusal(_ call: String, _ path: String, _ code: Int32) -> SocketError {
    guard code == EACCES || code == EPERM else { return .system(call, path, code) }
    return SocketError(.forbidden, "this user has no access to \(path)")
  }
}
