// SPDX-License-Identifier: Apache-2.0

/// What went wrong between this client and its broker. All wording is in
/// `MosquittoError+Wording.swift` and its neighbour for TLS.
package struct MosquittoError: Error, Sendable, Equatable {
  package var reason: Reason
  /// One sentence for a person: what happened, what to do, which setting. Never a password.
  package var message: String

  package init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }

  /// The kind, for code and for metrics; the raw value is stable.
  package enum Reason: String, Sendable, CaseIterable {
    // Nobody reached.
    case unknownHost = "unknown_host"
    case nothingListens = "nothing_listens"
    case unreachable
    case noAnswer = "no_answer"
    // TLS.
    case tlsFiles = "tls_files"
    case tlsCertificate = "tls_certificate"
    case tlsHostName = "tls_host_name"
    case tlsClientCertificate = "tls_client_certificate"
    case tlsHandshake = "tls_handshake"
    // The broker said no.
    case credentials
    case notAuthorized = "not_authorized"
    case clientIdentifier = "client_identifier"
    case protocolVersion = "protocol_version"
    case brokerUnavailable = "broker_unavailable"
    case subscription
    // The connection ended.
    case closedByBroker = "closed_by_broker"
    case connectionLost = "connection_lost"
    case keepAlive = "keep_alive"
    case sessionTakenOver = "session_taken_over"
    case protocolError = "protocol_error"
    case handler
    // One publication.
    case topic
    case packetTooLarge = "packet_too_large"
    case quota
    case unsupported
    case refused
    // This side.
    case configuration
    case system
  }

  /// True when trying again can't help.
  package var isFatal: Bool { reason == .configuration }
}

extension MosquittoError: CustomStringConvertible {
  package var description: String { message }
}
