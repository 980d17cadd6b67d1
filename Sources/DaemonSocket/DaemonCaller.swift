// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// A command's end of the socket.
package enum DaemonCaller {
  /// Sends a request to the daemon that listens at `path`, and waits for its answer.
  ///
  /// - Parameters:
  ///   - descriptors: open files that the daemon may use; they stay open here.
  ///   - seconds: how long the answer may take.
  /// - Returns: nil when nobody listens there.
  /// - Throws: `stranger` when who listens is neither this user nor root: a password goes to nobody
  ///   else. See `ListenerTrust`. `forbidden` when this user may not look there. `abandoned` when
  ///   the task is cancelled after the request has gone out, `CancellationError` before.
  package static func ask(
    _ request: [UInt8], passing descriptors: [Int32] = [], at path: String, within seconds: Int
  ) async throws -> [UInt8]? {
    let call = Call(passing: descriptors)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Result { try call.make(request, at: path, within: seconds) })
        }
      }
    } onCancel: {
      call.abandon()
    }
  }

  /// One call, which another thread may end.
  private final class Call: Sendable {
    private struct State {
      var connection: DaemonConnection?
      var isAbandoned = false
    }

    private let state = Mutex(State())
    private let descriptors: [Int32]

    init(passing descriptors: [Int32]) { self.descriptors = descriptors }

    func abandon() {
      state.withLock {
        $0.isAbandoned = true
        $0.connection?.abort()
      }
    }

    func make(_ request: [UInt8], at path: String, within seconds: Int) throws -> [UInt8]? {
      guard let connection = try DaemonCaller.connect(path) else { return nil }
      connection.wait(atMost: seconds)
      let isAbandoned = state.withLock {
        $0.connection = connection
        return $0.isAbandoned
      }
      if isAbandoned { throw CancellationError() }
      do {
        try connection.send(request, passing: descriptors)
        return try connection.receive()
      } catch {
        if state.withLock({ $0.isAbandoned }) { throw DaemonSocketError.abandoned }
        throw error
      }
    }
  }

  private static func connect(_ path: String) throws(DaemonSocketError) -> DaemonConnection? {
    guard access(path, F_OK) == 0 else {
      // Only what is certainly not there counts as nobody.
      guard errno == ENOENT || errno == ENOTDIR else { throw refusal("look at", path, errno) }
      return nil
    }
    let address = try SocketAddress(path)
    let descriptor = try SocketAddress.makeSocket(path)
    guard address.withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      // The name alone is what a process leaves that was killed.
      if code == ECONNREFUSED || code == ENOENT { return nil }
      throw refusal("connect", path, code)
    }
    let connection = try DaemonConnection(descriptor)
    var directory = stat()
    guard stat(parent(of: path), &directory) == 0 else { throw .system("stat", path) }
    let trust = ListenerTrust(
      caller: geteuid(), listener: connection.peer.user, directoryOwner: directory.st_uid,
      directoryMode: directory.st_mode)
    if let objection = trust.objection {
      throw DaemonSocketError(.stranger, "\(path) is not to be trusted: \(objection)")
    }
    return connection
  }

  private static func refusal(
    _ call: String, _ path: String, _ code: Int32
  ) -> DaemonSocketError {
    guard code == EACCES || code == EPERM else { return .system(call, path, code) }
    return DaemonSocketError(.forbidden, "this user has no access to \(path)")
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
