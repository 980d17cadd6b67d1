// SPDX-License-Identifier: Apache-2.0

extension Settings {
  /// The broker and how to speak to it.
  package struct MQTT: Sendable, Equatable {
    package var host: Host = .embedded
    /// TCP port; for the embedded broker, on 127.0.0.1.
    package var port: UInt16 = 1883
    package var username: String?
    package var password: SecretText?
    /// Without one, the client ids carry the store's identity.
    package var clientID: String?
    package var baseTopic: String = "threadkeeper"
    package var protocolVersion: ProtocolVersion = .v5
    /// Without it the connection is not encrypted.
    package var tls: TLS?

    package init() {}

    package enum Host: Sendable, Equatable {
      /// A private broker that the daemon starts.
      case embedded
      /// A host name or an IP address.
      case named(String)
    }

    package enum ProtocolVersion: String, Sendable, Equatable {
      case v5 = "5"
      case v311 = "3.1.1"
    }

    package struct TLS: Sendable, Equatable {
      /// PEM file with the authorities that may vouch for the broker.
      package var caFile: String
      /// PEM file with the client's certificate; comes with `keyFile`.
      package var certFile: String?
      package var keyFile: String?

      package init(caFile: String, certFile: String? = nil, keyFile: String? = nil) {
        self.caFile = caFile
        self.certFile = certFile
        self.keyFile = keyFile
      }
    }
  }
}
