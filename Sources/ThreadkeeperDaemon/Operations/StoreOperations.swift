// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import LocalAPI

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens every item and every record of the audit. Says meanwhile how far it is; the outcome comes last.
package struct VerifyStore: StreamOperation {
  package typealias Reply = VerificationStep

  package init() {}

  package func perform(
    _ context: OperationContext, _ replies: VarlinkReplies<Reply>
  ) throws -> Reply {
    VerificationStep(verified: try context.maintenance.verify(replies))
  }
}

/// Sends a copy of the store as a file, a part at a time, and how far it is. The outcome comes last.
package struct BackupStore: StreamOperation {
  package typealias Reply = BackupStep

  package init() {}

  package func perform(
    _ context: OperationContext, _ replies: VarlinkReplies<Reply>
  ) throws -> Reply {
    BackupStep(made: try context.maintenance.backup(for: context.actor, replies))
  }
}

package struct WorkProgress: Codable, Equatable, Sendable {
  package var done: Int
  package var total: Int
}

/// A reply of a verification: how far it is, or what it found.
package struct VerificationStep: Codable, Sendable {
  package var progress: WorkProgress?
  /// The last one.
  package var verified: VerificationOutcome?
}

/// A reply of a backup: how far it is, or a part of what comes of it.
package struct BackupStep: Codable, Sendable {
  package var progress: WorkProgress?
  /// The next bytes of the file, as base64.
  package var data: Data?
  /// The last one.
  package var made: BackupOutcome?
}

/// What a backup came to.
package struct BackupOutcome: Codable, Equatable, Sendable {
  package var storeID: String
  package var items: Int
  /// Of the database in it.
  package var bytes: Int
  /// Of the whole file, where it came from a daemon.
  package var fileBytes: Int?

  private enum CodingKeys: String, CodingKey {
    case storeID = "storeId"
    case items, bytes, fileBytes
  }

  package init(_ trailer: BackupTrailer, fileBytes: Int? = nil) {
    storeID = trailer.store.description
    items = Int(clamping: trailer.items)
    bytes = Int(clamping: trailer.databaseLength)
    self.fileBytes = fileBytes
  }
}

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

extension CommandFailure {
  /// What went wrong with a backup or a verification.
  package init(maintaining error: KeychainError) {
    switch error.status {
    case .duplicateItem:
      self.init(.cannotCreate, error.message, remedy: "`--force` replaces it")
    case .noSuchKeychain, .writePermission:
      self.init(.cannotCreate, error.message)
    case .readOnly:
      self.init(
        .badInput, error.message,
        remedy: "`threadkeeper store verify` says more; keep the backups that you have")
    case .userCanceled:
      self.init(.temporary, error.message)
    default:
      self.init(error)
    }
  }
}
