// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What an export came to, for the socket and for scripts.
struct ExportOutcome: Codable, Sendable {
  var storeID: String
  var items: Int
  /// Octets of the file.
  var octets: Int
  var damaged: Int
  /// By class.
  var notInExport: [String: Int]

  private enum CodingKeys: String, CodingKey {
    case storeID, items, octets, damaged
    case notInExport = "leftOut"
  }

  init(_ report: ExportReport) {
    storeID = report.store.description
    items = report.items
    octets = report.octets
    damaged = report.damaged
    notInExport = Accessibility.names(report.notInExport)
  }
}

extension Accessibility {
  /// Stable: scripts read them.
  var name: String {
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

  static func names(_ counts: [Accessibility: Int]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.name, $0.value) })
  }

  /// For people: a line for each class.
  static func lines(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }
      .map { "  \($0.value) \($0.key.split(separator: "_").joined(separator: " "))\n" }.joined()
  }
}
