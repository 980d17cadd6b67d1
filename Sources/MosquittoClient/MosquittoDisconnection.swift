// SPDX-License-Identifier: Apache-2.0

/// A connection that ended, or could not be made.
package struct MosquittoDisconnection: Sendable {
  /// Why, in words that say what to do.
  package var error: MosquittoError
  /// True when the broker had accepted the connection.
  package var wasConnected: Bool
  /// How many connections in a row have failed or were short-lived, this one included.
  package var failures: Int
  /// When the next attempt is made; nil when there will be none and `run` throws `error`.
  package var retryDelay: Duration?
  /// What the handler threw, when it was the handler that ended it.
  package var cause: (any Error)?

  package var isFatal: Bool { retryDelay == nil }

  package init(
    error: MosquittoError, wasConnected: Bool, failures: Int, retryDelay: Duration?,
    cause: (any Error)? = nil
  ) {
    self.error = error
    self.wasConnected = wasConnected
    self.failures = failures
    self.retryDelay = retryDelay
    self.cause = cause
  }
}
