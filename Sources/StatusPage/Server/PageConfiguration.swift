// SPDX-License-Identifier: Apache-2.0

/// Where the server listens, and for whom.
package struct PageConfiguration: Sendable {
  /// An IP address of this machine.
  package var address: String
  /// TCP port; 0: one that is free.
  package var port: Int
  /// Host names under which clients reach it, beside `localhost` and IP addresses.
  package var names: [String]
  /// What a client has to show, in ASCII. Nil: whoever reaches it may look, and nobody may change anything.
  package var token: String?
  /// IP address of a proxy that lets in only users that it knows. Whoever comes from there may look, and everybody else
  /// needs the token.
  package var trustedProxy: String?
  /// Whether whoever comes from there may also change something.
  package var trustedProxyChanges: Bool
  /// The shared library that speaks HTTP.
  package var library = "libmicrohttpd.so.12"
  package var limits = PageLimits()

  package init(
    address: String, port: Int, names: [String] = [], token: String? = nil,
    trustedProxy: String? = nil, trustedProxyChanges: Bool = false
  ) {
    self.address = address
    self.port = port
    self.names = names
    self.token = token
    self.trustedProxy = trustedProxy
    self.trustedProxyChanges = trustedProxyChanges
  }
}

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
  /// For the daemon to make the reply, in seconds: a disk may hang, and a client that has left is not noticed meanwhile.
  package var replySeconds: Int64 = 60
  /// For an answer, or one event, to leave, in seconds: then the client does not read.
  package var stallSeconds: Int64 = 10
  /// For the last bytes of each answer when the daemon ends, in milliseconds.
  package var stopMilliseconds: Int64 = 1_000
  /// The first line and all headers of a request, in bytes.
  package var headerBytes = 16_384
  /// The body of a request, in bytes.
  package var bodyBytes = 4_096
  /// Of a larger one so much is read, because a client that is still sending does not look for an answer.
  package var discardedBytes = 1_048_576

  package init() {}
}
