// SPDX-License-Identifier: Apache-2.0

import Glibc

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

extension MosquittoError {
  /// libmosquitto has one result for everything that is wrong with TLS; what it was stands only in
  /// the lines that it logs.
  init(tlsLog log: [String], _ configuration: MosquittoConfiguration) {
    let address = configuration.address
    let ca = "`mqtt.tls.ca_file` (\(configuration.tls?.caFile ?? "not set"))"
    func logged(_ text: String) -> Bool { log.contains { $0.contains(text) } }

    if logged("load CA certificates") {
      self.init(.tlsFiles, "\(ca) holds no certificate in PEM form")
    } else if logged("load client certificate") {
      self.init(.tlsFiles, "`mqtt.tls.cert_file` holds no certificate in PEM form")
    } else if logged("are inconsistent") || logged("key values mismatch") {
      self.init(
        .tlsFiles, "`mqtt.tls.cert_file` and `mqtt.tls.key_file` don't belong to each other")
    } else if logged("load client key") {
      self.init(
        .tlsFiles,
        "`mqtt.tls.key_file` holds no private key in PEM form, or it is locked with a passphrase")
    } else if logged("host name verification failed") {
      self.init(
        .tlsHostName,
        "the certificate of \(address) is for another name: set `mqtt.host` to a name that stands "
          + "in the certificate")
    } else if logged("certificate verify failed") {
      self.init(
        .tlsCertificate,
        "the certificate of \(address) is not signed by \(ca), or it has expired")
    } else if logged("certificate required") || logged("alert handshake failure")
      || logged("alert bad certificate") || logged("alert unknown ca")
      || logged("alert certificate")
    {
      self.init(.tlsClientCertificate, Self.refusedCertificate(address, configuration))
    } else if logged("wrong version number") || logged("packet length too long") {
      self.init(
        .tlsHandshake,
        "\(address) does not speak TLS: is `mqtt.port` the broker's TLS port (often 8883)?")
    } else if logged("unexpected eof") || log.isEmpty {
      self = .closedBeforeAnswer(address, configuration)
    } else {
      self.init(.tlsHandshake, "TLS with \(address) failed: \(log.joined(separator: "; "))")
    }
  }

  private static func refusedCertificate(
    _ address: String, _ configuration: MosquittoConfiguration
  ) -> String {
    configuration.tls?.certificateFile == nil
      ? "\(address) wants a client certificate: set `mqtt.tls.cert_file` and `mqtt.tls.key_file`"
      : "\(address) refused the client certificate of `mqtt.tls.cert_file`: "
        + "is it signed by an authority that the broker knows, and still valid?"
  }

  /// A file that can't be opened, asked before the library is, which would only say "invalid".
  static func unreadable(_ setting: String, _ path: String, _ code: Int32) -> MosquittoError {
    MosquittoError(.tlsFiles, "`\(setting)` (\(path)) can't be read: \(errorText(code))")
  }
}
