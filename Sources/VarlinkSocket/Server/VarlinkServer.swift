// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemThreads

/// A service on a Unix socket.
///
/// One thread takes connections, and each connection has one: it reads a call, waits for the answer, writes it, and
/// reads the next. So calls of a connection are answered in their order, no thread of Swift's waits in a system call,
/// and who is slow, silent or never reads holds up nothing but the own connection. `CallerPlaces` bounds the
/// connections of a user and of all.
///
/// Open files that come along are not taken: where the kernel can, the sender gets EPERM (`SocketOptions`), and
/// otherwise the kernel closes them, in the thread of the connection.
package final class VarlinkServer: Sendable {
  private let connections: ServerConnections
  private let loop: AcceptLoop

  /// Listens from now on. What an earlier process left under that name is removed: of a socket for this user only, the
  /// caller must know, by a lock, that it is no other's.
  ///
  /// - Parameters:
  ///   - judge: by the user at the other end, as the kernel has it; called for each connection, by one thread.
  ///   - onTrouble: called when connections cannot be taken for a moment.
  /// - Throws: `taken` when a socket for others would be in the way of somebody else's; `system`.
  package init(
    path: String, reach: SocketReach = .owner, limits: VarlinkLimits = .owner,
    service: VarlinkService,
    judge: @escaping @Sendable (SocketPeer) -> VarlinkVerdict = VarlinkServer.ownerOnly,
    onTrouble: @escaping @Sendable (SocketError) -> Void = { _ in }
  ) throws(SocketError) {
    let wakeup = try Wakeup()
    let listener = try ListeningSocket.make(path, reach)
    connections = ServerConnections(
      service: service, limits: limits, judge: judge,
      passesDescriptors: !(limits.refusesDescriptors && SocketOptions.refuseDescriptors(listener)))
    loop = AcceptLoop(
      path: path, listener: listener, wakeup: wakeup, connections: connections,
      onTrouble: onTrouble)
    SystemThread.run { [loop] in loop.run() }
  }

  deinit { stop() }

  /// This user and root, nobody else.
  package static let ownerOnly: @Sendable (SocketPeer) -> VarlinkVerdict = {
    $0.user == geteuid() || $0.user == 0 ? .admitted(.owner) : .refused(.permissionDenied)
  }

  /// Takes no more connections.
  package func stop() { loop.stop() }

  /// Takes no more connections, cancels the calls that are being answered, and returns when all connections have ended;
  /// after `limit` all the same. What has come by now is answered.
  package func finish(within limit: Duration = .seconds(10)) async {
    stop()
    connections.endAll()
    let deadline = ContinuousClock.now + limit
    while !connections.isEmpty, ContinuousClock.now < deadline {
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }
}
