// SPDX-License-Identifier: Apache-2.0

import Broker
import Settings
import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#endif

/// Whether a login is right: only the broker knows.
package struct LoginTrial: Sendable {
  /// The broker has so long to answer.
  private static let limit = Duration.seconds(30)

  let settings: Settings
  let address: BrokerAddress

  package init(settings: Settings, address: BrokerAddress) {
    self.settings = settings
    self.address = address
  }

  /// Connects with it, beside the daemon's own connections.
  ///
  /// - Throws: `CommandFailure` with status 77 when the broker refuses the login, 69 when it is not
  ///   reached, 78 when the settings cannot work; `CancellationError`.
  package func check(_ login: BrokerLogin) async throws {
    var connection = MosquittoConfiguration(settings.mqtt, host: address.host)
    connection.username = login.username
    connection.password = login.password.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    connection.clientID += "-login-\(getpid())-\(UInt16.random(in: 0 ... .max))"
    let failure = await MosquittoClient.attempt(connection, within: Self.limit)
    try Task.checkCancellation()
    if let failure { throw CommandFailure(login: failure, address) }
  }
}

extension CommandFailure {
  fileprivate init(login failure: MosquittoError, _ address: BrokerAddress) {
    switch failure.reason {
    case .credentials, .notAuthorized, .clientIdentifier:
      self.init(.notPermitted, failure.message, remedy: "nothing was stored; try again")
    case .configuration, .protocolVersion, .tlsFiles:
      self.init(.configuration, failure.message, remedy: "nothing was stored")
    default:
      self.init(
        .unavailable, "the broker could not be asked: \(failure.message)",
        remedy: "nothing was stored; --no-validate stores a login without asking the broker")
    }
  }
}
