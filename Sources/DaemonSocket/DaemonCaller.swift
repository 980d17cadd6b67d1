// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A command's end of the socket.
package enum DaemonCaller {
  /// Sends a request to the daemon that listens at `path`, and waits for its answer.
  ///
  /// - Parameters:
  ///   - descriptors: open files that the daemon may use; they stay open here.
  ///   - seconds: how long the whole call may take.
  ///   - admittingOthers: whether a daemon of another user is meant, too.
  ///   - actingForOwner: whether root means the daemon of the user whose directory it is: for commands.
  /// - Returns: nil when nobody listens there.
  /// - Throws: `stranger` when who listens is neither this user nor root: a password goes to nobody
  ///   else. See `ListenerTrust`, also for daemons of others. `forbidden` when this user may not look there. `abandoned` when
  ///   the task is cancelled after it has connected, `CancellationError` before.
  package static func ask(
    _ request: [UInt8], passing descriptors: [Int32] = [], at path: String, within seconds: Int,
    admittingOthers: Bool = false, actingForOwner: Bool = false
  ) async throws -> [UInt8]? {
    let call = Call(passing: descriptors)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        OwnThread.start {
          continuation.resume(
            with: Result {
              try call.make(
                request, at: path, within: seconds, admittingOthers: admittingOthers,
                actingForOwner: actingForOwner)
            })
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

    func make(
      _ request: [UInt8], at path: String, within seconds: Int, admittingOthers: Bool,
      actingForOwner: Bool
    ) throws -> [UInt8]? {
      let deadline = ContinuousClock.now + .seconds(seconds)
      let found = try TrustedConnection.open(
        path, by: deadline, admittingOthers: admittingOthers, actingForOwner: actingForOwner
      ) { state.withLock { $0.isAbandoned } }
      guard let found else { return nil }
      let connection = try DaemonConnection(found)
      let isAbandoned = state.withLock {
        $0.connection = connection
        return $0.isAbandoned
      }
      if isAbandoned { throw CancellationError() }
      do {
        // Who sends a caller away may have answered and closed before it heard all.
        do {
          try connection.send(request, passing: descriptors, by: deadline)
        } catch {
          guard error == .closed else { throw error }
        }
        return try connection.receive(by: deadline)
      } catch {
        if state.withLock({ $0.isAbandoned }) { throw DaemonSocketError.abandoned }
        throw error
      }
    }
  }
}
