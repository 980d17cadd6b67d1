// SPDX-License-Identifier: Apache-2.0

/// What one client, and all of them, may take of the daemon.
package struct PageLimits: Sendable {
  /// Connections at a time. Beyond, the one that has waited longest without a request makes room.
  package var connections = 256
  /// Of them those that only `/healthz` and `/readyz` keep.
  package var healthChecks = 8
  /// Of them those from one address other than loopback and the trusted proxy.
  package var connectionsOfPeer = 64
  /// Of them those that follow events; the others are left for monitoring.
  package var viewers = 224
  /// The shortest pause before the state is read again for them, in milliseconds: at most two changes a second are sent.
  package var shortestPauseMilliseconds: Int64 = 500
  /// The longest, in seconds. Where reading takes long, the pause is long.
  package var longestPauseSeconds: Int64 = 15
  /// From the connection to the end of its request, in seconds. A browser needs less than one.
  package var requestSeconds: Int64 = 10
  /// For which nothing that was written leaves, in seconds: then the client does not read.
  package var stallSeconds: Int64 = 10
  /// From the end of the answer to the client's end of the connection, in seconds.
  package var lingerSeconds: Int64 = 2
  /// For the last bytes of each answer when the daemon ends, in milliseconds.
  package var stopMilliseconds: Int64 = 1_000
  /// All headers of a request, in bytes.
  package var headerBytes = 16_384
  package var headerFields = 64
  /// The body of a request, in bytes.
  package var bodyBytes = 4_096

  package init() {}
}
