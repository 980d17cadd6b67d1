// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// What goes wrong with the broker is told in words of the daemon's settings, which a client does not have.
extension BrokerOptions {
  private static let names = [
    (
      "give them with `threadkeeper login`, or set `mqtt.username` and `mqtt.password`",
      "give them with `--username` and `--password-file`"
    ),
    (", and does it want a client certificate (`mqtt.tls.cert_file`, `mqtt.tls.key_file`)?", "?"),
    (": set `mqtt.protocol: 3.1.1`", ", and this command speaks nothing else"),
    ("`mqtt.protocol`", "MQTT 5"), (" (`mqtt.keep_alive`)", ""),
    ("`mqtt.tls.ca_file`", "`--cafile`"), ("`mqtt.host`", "`--host`"),
    ("`mqtt.port`", "`--port`"), ("`mqtt.username`", "`--username`"),
    ("`mqtt.password`", "`--password-file`"), ("`mqtt.base_topic`", "`--base-topic`"),
  ]

  /// The same in words of these options.
  static func words(_ error: MosquittoError) -> String {
    if error.reason == .tlsClientCertificate {
      return "the broker wants a client certificate, and this command has none to show"
    }
    return names.reduce(error.message) { $0.replacing($1.0, with: $1.1) }
  }
}
