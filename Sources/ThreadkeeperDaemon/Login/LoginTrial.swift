// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import LocalAPI
import Settings
import SodiumCrypto

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
    connection.password = login.text
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

/// User names, by the rule of `mqtt.username`.
package enum Username {
  /// - Throws: `CommandFailure` with status 64, without the name: people mistake one field for another.
  package static func checked(_ name: String) throws(CommandFailure) -> String {
    let text = name.unicodeScalars
    guard (1...256).contains(text.count), !text.contains(where: isUnfit) else {
      throw CommandFailure(
        .usage,
        "a user name has 1 to 256 characters, no control character, none of `/`, `+`, `#`")
    }
    return name
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || ["/", "+", "#"].contains(scalar)
  }
}

/// Passwords as MQTT takes them: 1 to 65,535 bytes (MQTT 5.0, section 3.1.3.6), here of UTF-8
/// without a zero byte.
package enum Password {
  package static let limit = 65_535

  package static func checked(_ bytes: ArraySlice<UInt8>) throws(CommandFailure) -> SecretBytes {
    guard !bytes.isEmpty else {
      throw CommandFailure(.badInput, "the password is empty", code: VarlinkError.invalidCode)
    }
    guard bytes.count <= limit else { throw tooLong }
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
      throw CommandFailure(
        .badInput, "the password is not UTF-8, or has a zero byte", code: VarlinkError.invalidCode)
    }
    return SecretBytes(copying: bytes)
  }

  package static let tooLong = CommandFailure(
    .badInput, "the password has more than \(limit) bytes", code: VarlinkError.invalidCode)
}
