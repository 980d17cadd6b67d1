// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import KeychainCore

/// What an export came to, for the socket and for scripts.
struct ExportOutcome: Codable, Sendable {
  var storeID: String
  var items: Int
  /// Octets of the file.
  var octets: Int
  var damaged: Int
  /// By class.
  var leftOut: [String: Int]

  init(_ report: ExportReport) {
    storeID = report.store.description
    items = report.items
    octets = report.octets
    damaged = report.damaged
    leftOut = Accessibility.names(report.leftOut)
  }
}

/// What an import came to, or would come to.
struct ImportOutcome: Codable, Sendable {
  /// The store that was exported.
  var storeID: String
  /// When. RFC 3339.
  var created: String
  /// Of the export.
  var items: Int
  var added: Int
  var unchanged: Int
  var kept: Int
  var replaced: Int
  var conflicts: Int
  /// That stay out though nothing is wrong with them, by what they are.
  var leftOut: [String: Int]
  /// What the export does not have.
  var notInExport: [String: Int]
  var damagedThere: Int
  /// Homes that the settings do not name: what is of them waits until they do.
  var unknownHomes: [String]
  var imported: Bool

  init(
    _ report: ImportReport, leftOut: [ImportedAccess: Int], unknownHomes: [String]
  ) {
    storeID = report.store.description
    created = WireTime(milliseconds: report.created / 1_000).description
    items = report.items
    added = report.added
    unchanged = report.unchanged
    kept = report.kept
    replaced = report.replaced
    conflicts = report.conflicts
    self.leftOut = Dictionary(
      uniqueKeysWithValues: leftOut.map { ($0.key.rawValue, $0.value) })
    notInExport = Accessibility.names(report.leftOut)
    damagedThere = report.damaged
    self.unknownHomes = unknownHomes
    imported = report.isDone
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

  fileprivate static func names(_ counts: [Accessibility: Int]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.name, $0.value) })
  }

  /// For people: a line for each class.
  static func lines(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }
      .map { "  \($0.value) \($0.key.split(separator: "_").joined(separator: " "))\n" }.joined()
  }
}
