// SPDX-License-Identifier: Apache-2.0

/// What the broker said when it accepted the connection.
package struct MosquittoSession: Sendable, Equatable {
  /// False: the broker knows nothing of us. What was queued for an older session is lost.
  package var sessionPresent: Bool
  package var protocolVersion: MosquittoConfiguration.ProtocolVersion
  /// How many unacknowledged publications the broker takes, where it said so.
  package var serverReceiveMaximum: UInt16?
  /// How many publications this client will have under way.
  package var publishWindow: Int
  /// False: the broker keeps no retained message, and the library clears the flag in silence.
  package var isRetainAvailable: Bool
  /// Largest packet that the broker takes, in bytes, where it said so.
  package var maximumPacketSize: UInt32?
  /// Seconds that the broker keeps the session, where it differs from what was asked for.
  package var sessionExpiry: UInt32?
  /// Seconds between pings, where the broker wants it otherwise.
  package var serverKeepAlive: UInt16?
  /// The highest quality of service that the broker takes: 2 where it does not say.
  package var maximumQoS: UInt8 = 2
  /// Whether filters with `+` and `#` may be subscribed to.
  package var areWildcardsAvailable = true
  /// Whether there are shared subscriptions.
  package var areSharesAvailable = true

  package init(
    sessionPresent: Bool, protocolVersion: MosquittoConfiguration.ProtocolVersion,
    serverReceiveMaximum: UInt16? = nil, publishWindow: Int, isRetainAvailable: Bool = true,
    maximumPacketSize: UInt32? = nil, sessionExpiry: UInt32? = nil, serverKeepAlive: UInt16? = nil
  ) {
    self.sessionPresent = sessionPresent
    self.protocolVersion = protocolVersion
    self.serverReceiveMaximum = serverReceiveMaximum
    self.publishWindow = publishWindow
    self.isRetainAvailable = isRetainAvailable
    self.maximumPacketSize = maximumPacketSize
    self.sessionExpiry = sessionExpiry
    self.serverKeepAlive = serverKeepAlive
  }
}
