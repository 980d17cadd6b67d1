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

/// When the secret of an item can be had. The raw values are part of the format.
package enum Accessibility: UInt8, CaseIterable, Sendable {
  case whenUnlocked = 0
  case afterFirstUnlock = 1
  case always = 2
  case whenUnlockedThisDeviceOnly = 3
  case afterFirstUnlockThisDeviceOnly = 4
  case alwaysThisDeviceOnly = 5
  case whenPasscodeSetThisDeviceOnly = 6

  /// As `kSecAttrAccessible` has it.
  package var code: String {
    switch self {
    case .whenUnlocked: "ak"
    case .afterFirstUnlock: "ck"
    case .always: "dk"
    case .whenUnlockedThisDeviceOnly: "aku"
    case .afterFirstUnlockThisDeviceOnly: "cku"
    case .alwaysThisDeviceOnly: "dku"
    case .whenPasscodeSetThisDeviceOnly: "akpu"
    }
  }

  package init?(code: String) {
    guard let match = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = match
  }

  /// Bound to a file outside of the store, and left in the backup by a restore elsewhere.
  package var isThisDeviceOnly: Bool { rawValue >= 3 }

  /// The root key that wraps the class keys; for this device only, together with the device key.
  var wrapper: KeyPurpose {
    switch self {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .session
    case .afterFirstUnlock, .always, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly:
      .master
    }
  }

  var keyPurpose: KeyPurpose { KeyPurpose(rawValue: KeyPurpose.firstClass + rawValue) }
}
