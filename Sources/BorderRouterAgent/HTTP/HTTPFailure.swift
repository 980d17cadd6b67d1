// SPDX-License-Identifier: Apache-2.0

/// Why a request has no answer.
package enum HTTPFailure: Error, Equatable, Sendable {
  /// Nothing accepts the connection: refused, no way there, no answer in time, or no such host. With the system's
  /// words.
  case unreachable(String)
  /// The connection is accepted, and no whole answer comes in time. On loopback also when it is not refused.
  case timeout
  /// What came is no answer of HTTP/1.1, is cut off, or has more than the limits allow.
  case garbage(String)
  /// On this machine, and a program of another user than the router's listens there. Nothing was sent.
  case untrusted(String)
  /// On this machine, and the system does not show who listens there. Nothing was sent.
  case unchecked(String)
  /// The agent stops.
  case stopped
}
