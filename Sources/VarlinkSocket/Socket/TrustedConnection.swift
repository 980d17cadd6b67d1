// SPDX-License-Identifier: Apache-2.0

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
    _ path: String, by deadline: ContinuousClock.Instant, admittingOthers: Bool = false,
    actingForOwner: Bool = false, unless isAbandoned: () -> Bool = { false }
  ) throws -> Int32? {
    guard access(path, F_OK) == 0 else {
      // Only what is certainly not there counts as nobody.
      guard errno == ENOENT || errno == ENOTDIR else {
        throw SocketError.refusal("look at", path, errno)
      }
      return nil
    }
    guard let descriptor = try connect(path, by: deadline, unless: isAbandoned) else { return nil }
    do {
      guard let peer = SocketPeer(descriptor) else {
        throw SocketError.system("getsockopt", "the connection")
      }
      let trust = ListenerTrust(
        caller: geteuid(), listener: peer.user, directories: try SocketDirectory.above(path),
        admitsOthers: admittingOthers, actsForOwner: actingForOwner)
      if let reason = trust.rejectionReason {
        throw SocketError(.untrusted, "\(path) is not to be trusted: \(reason)")
      }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func connect(
    _ path: String, by deadline: ContinuousClock.Instant, unless isAbandoned: () -> Bool
  ) throws -> Int32? {
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    // Where many wait already and none is taken, connecting waits too: a while at a time.
    var limit = timeval(tv_sec: 0, tv_usec: connectPollInterval)
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    while address.withAddress({ Glibc.connect(descriptor, $0, $1) }) != 0 {
      let code = errno
      if code == EAGAIN || code == EINTR, !isAbandoned(), ContinuousClock.now < deadline {
        continue
      }
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
