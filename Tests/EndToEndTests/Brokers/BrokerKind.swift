// SPDX-License-Identifier: Apache-2.0

import Testing

/// A broker as a house may have it.
enum BrokerKind: String, CaseIterable, CustomTestStringConvertible {
  case mosquitto = "Mosquitto, MQTT 5"
  case mosquitto311 = "Mosquitto, MQTT 3.1.1"
  case tls = "Mosquitto with TLS"
  case clientCertificate = "Mosquitto with a certificate for each client"
  case accessList = "Mosquitto with logins and an access list"
  case ejabberd = "ejabberd"

  /// Those that this machine has.
  static let present = allCases.filter { $0 != .ejabberd || DebianTool.ejabberd != nil }

  var testDescription: String { rawValue }

  func start() throws -> any HouseBroker {
    switch self {
    case .mosquitto: try HouseMosquitto()
    case .mosquitto311: try HouseMosquitto(settings: ["protocol: 3.1.1"])
    case .tls: try HouseMosquitto(secured: .password)
    case .clientCertificate: try HouseMosquitto(secured: .certificate)
    case .accessList: try HouseMosquitto(hasLogins: true)
    case .ejabberd: try HouseEjabberd()
    }
  }
}
