// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What an export came to.
package struct ExportOutcome: Codable, Sendable {
  package var storeID: String
  package var items: Int
  /// Bytes of the file.
  package var bytes: Int
  package var damaged: Int
  /// By class.
  package var notInExport: [String: Int]

  private enum CodingKeys: String, CodingKey {
    case storeID = "storeId"
    case items, bytes, damaged
    case notInExport = "leftOut"
  }

  init(_ report: ExportReport) {
    storeID = report.store.description
    items = report.items
    bytes = report.bytes
    damaged = report.damaged
    notInExport = Accessibility.names(report.notInExport)
  }
}

extension Accessibility {
  /// Stable: scripts read them.
  package var name: String {
    switch self {
    case .whenUnlocked: "when_unlocked"
    case .afterFirstUnlock: "after_first_unlock"
    case .always: "always"
    case .whenUnlockedThisDeviceOnly: "when_unlocked_this_device_only"
    case .afterFirstUnlockThisDeviceOnly: "after_first_unlock_this_device_only"
    case .alwaysThisDeviceOnly: "always_this_device_only"
    case .whenPasscodeSetThisDeviceOnly: "when_passcode_set_this_device_only"
    }
  }

  package static func names(_ counts: [Accessibility: Int]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.name, $0.value) })
  }
}
