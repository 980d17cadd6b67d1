// SPDX-License-Identifier: Apache-2.0

import Glibc

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
