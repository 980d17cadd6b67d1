// SPDX-License-Identifier: Apache-2.0

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
