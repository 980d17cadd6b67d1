import Glibc

/// Connects to a socket, and looks who listens there before anything is sent.
package enum TrustedConnection {
  /// Microseconds of one attempt, after which it looks whether the caller has given up.
  private static let connectPollInterval = 100_000

  /// Waits in system calls.
  ///
  /// - Parameters:
  ///   - admittingOthers: whether a daemon of another user is meant, too.
  ///   - actingForOwner: whether root means the daemon of the user whose directory it is: for commands.
  ///   - isAbandoned: whether the caller has given up meanwhile.
  /// - Returns: the socket, which belongs to the caller; nil when nobody listens there.
  /// - Throws: `SocketError`: `untrusted` when who listens is not to be trusted (`ListenerTrust`), `forbidden` when this
  ///   user may not look there, `timedOut`, `system`. `CancellationError` when the caller has given up.
  package static func open(
    _ path: String, by deadline: ContinuousClock.Instant, admittingOthers: Bool = false, actingForOwner: Bool = false,
    unless isAbandoned: () -> Bool = { false }
  ) throws -> Int32? {
    guard access(path, F_OK) == 0 else {
      // Only what is certainly not there counts as nobody.
      guard errno == ENOENT || errno == ENOTDIR else { throw SocketError.refusal("look at", path, errno) }
      return nil
    }
    guard let descriptor = try connect(path, by: deadline, unless: isAbandoned) else { return nil }
    do {
      guard let peer = SocketPeer(descriptor) else { throw SocketError.system("getsockopt", "the connection") }
      let trust = ListenerTrust(
        caller: geteuid(), listener: peer.user, directories: try SocketDirectory.above(path),
        admitsOthers: admittingOthers, actsForOwner: actingForOwner)
      if let reason = trust.rejectionReason { throw SocketError(.untrusted, "\(path) is not to be trusted: \(reason)") }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func connect(_ path: String, by deadline: ContinuousClock.Instant, unless isAbandoned: () -> Bool)
    throws -> Int32?
  {
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    // Where many wait already and none is taken, connecting waits too: a while at a time.
    var limit = timeval(tv_sec: 0, tv_usec: connectPollInterval)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    while address.withAddress({ Glibc.connect(descriptor, $0, $1) }) != 0 {
      let code = errno
      if code == EAGAIN || code == EINTR, !isAbandoned(), ContinuousClock.now < deadline { continue }
      close(descriptor)
      if isAbandoned() { throw CancellationError() }
      if code == EAGAIN || code == EINTR { throw SocketError.timedOut }
      // The name alone is what a process leaves that was killed.
      if code == ECONNREFUSED || code == ENOENT { return nil }
      throw SocketError.refusal("connect", path, code)
    }
    return descriptor
  }
}

/// Whether the one who listens on a socket may be given a secret.
///
/// Whose directory it is says nothing about that: anybody can make one where others can write, put a
/// socket into it and wait. So only this user and root are believed, in a directory of this user or root.
/// A command that root starts may mean the daemon of another user, which the settings name: only then is the
/// owner of the directory believed too (`actsForOwner`). A program of root's never is that command.
///
/// A daemon that serves other users listens in a directory that only root, or the caller, can have
/// given to it: nobody else may make names anywhere above.
package struct ListenerTrust: Equatable {
  package var caller: UInt32
  package var listener: UInt32
  /// The directories above the socket, the nearest first, up to `/`.
  package var directories: [SocketDirectory]
  /// Whether a daemon of another user is called, too.
  package var admitsOthers = false
  /// Whether root means the daemon of the directory's owner. Without effect for other users.
  package var actsForOwner = false

  /// Why not; nil for who may.
  package var rejectionReason: String? {
    guard let directory = directories.first else { return "it lies in no directory" }
    if directory.isOpenToOthers { return "others may write into its directory" }
    let isOwn = listener == caller || listener == 0
    if isOwn, isTrusted(directory) { return nil }
    if caller == 0, actsForOwner, listener == directory.owner || listener == 0 { return nil }
    if admitsOthers { return reasonToRejectOther(in: directory) }
    return isOwn || !isTrusted(directory)
      ? "its directory belongs to user \(directory.owner)" : "user \(listener) listens there"
  }

  private func isTrusted(_ directory: SocketDirectory) -> Bool { directory.owner == caller || directory.owner == 0 }

  private func reasonToRejectOther(in directory: SocketDirectory) -> String? {
    guard directory.owner == listener || directory.owner == 0 else {
      return "user \(listener) listens there, and its directory belongs to user \(directory.owner)"
    }
    let isVouchedFor = directories.dropFirst().allSatisfy {
      ($0.owner == 0 || $0.owner == caller) && !$0.isOpenToOthers
    }
    return isVouchedFor ? nil : "user \(listener) listens there, in a place where anybody could have made it"
  }
}
