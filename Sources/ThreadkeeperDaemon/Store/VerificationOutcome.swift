// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What a verification of the whole store found.
package struct VerificationOutcome: Codable, Equatable, Sendable {
  /// That there should be.
  package var items: Int
  package var matchesManifest: Bool
  package var damagedRows: [Int64]
  /// Items whose secret was not opened, because the store is locked.
  package var locked: Int
  package var condition: String
  /// What is wrong with the audit; nil: nothing.
  package var auditProblem: String?

  package var isWell: Bool {
    auditProblem == nil && matchesManifest && damagedRows.isEmpty
      && condition == StoreCondition.healthy.words
  }

  /// Opens every item and every record of the audit.
  ///
  /// - Parameter progress: gets the items and records that were opened; what it throws ends the verification.
  package init(
    verifying keychain: Keychain, progress: (_ done: Int, _ total: Int) throws -> Void
  ) throws(KeychainError) {
    let records = Int(clamping: try keychain.lastAuditRecord())
    let found = try keychain.verify(.everything) { try progress($0, $1 + records) }
    auditProblem = try keychain.auditProblem { record in
      let done = found.items + Int(clamping: record)
      try progress(done, max(done, found.items + records))
    }
    items = found.items
    matchesManifest = found.matchesManifest
    damagedRows = keychain.quarantine.sorted()
    locked = found.locked
    condition = keychain.condition.words
  }
}
