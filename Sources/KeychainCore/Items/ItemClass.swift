// SPDX-License-Identifier: Apache-2.0

/// The classes of items that are stored. An identity is a certificate joined to its key, and no
/// row of its own. The raw values are part of the format.
package enum ItemClass: UInt8, CaseIterable, Sendable {
  case genericPassword = 1
  case internetPassword = 2
  case certificate = 3
  case key = 4

  /// As `kSecClass` has it.
  package var code: String {
    switch self {
    case .genericPassword: "genp"
    case .internetPassword: "inet"
    case .certificate: "cert"
    case .key: "keys"
    }
  }

  package init?(code: String) {
    guard let match = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = match
  }

  /// What no two items may have in common, in the order in which it is hashed: part of the format.
  package var primaryKey: [ItemAttribute] {
    switch self {
    case .genericPassword:
      [.account, .service, .accessGroup, .synchronizable]
    case .internetPassword:
      [
        .account, .securityDomain, .server, .protocolType, .authenticationType, .port, .path,
        .accessGroup, .synchronizable,
      ]
    case .certificate:
      [.certificateType, .issuer, .serialNumber, .accessGroup, .synchronizable]
    case .key:
      [
        .keyClass, .applicationLabel, .applicationTag, .keyCreator, .keyType, .keySize,
        .effectiveKeySize, .startDate, .endDate, .accessGroup, .synchronizable,
      ]
    }
  }
}
