// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import LocalAPI

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens every item, every record and every line of the audit.
package struct VerifyStore: Operation {
  package init() {}

  package func perform(_ context: OperationContext) throws -> VerificationOutcome {
    let outcome = try VerificationOutcome(verifying: context.keychain)
    if !outcome.isWell {
      context.logger.error(
        "a verification found damage",
        metadata: [
          "condition": "\(outcome.condition)", "rows": "\(outcome.damagedRows.count)",
          "records": "\(outcome.damagedRecords.count)",
        ])
    }
    return outcome
  }
}

/// Deletes the records of a home that cannot be read: a person gives up what was in them, and the home counts as whole
/// again.
package struct ForgetDamaged: Operation {
  /// A second call finds none.
  package static let isRepeatable = false

  package var home: String

  package init(home: String) { self.home = home }

  /// Also what `store forget-damaged --json` prints.
  package struct Reply: Codable, Sendable {
    package var home: String
    /// How many there were.
    package var records: Int
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let home = try context.settings.home(named: home)
    let count = try context.bridge.loop.forgetDamage(of: home, actor: context.actor)
    if count > 0 {
      context.logger.notice(
        "damaged records are deleted",
        metadata: ["home": "\(home)", "records": "\(count)", "by": "\(context.actor)"])
    }
    return Reply(home: home, records: count)
  }
}

/// Sends a copy of the store as a file, a part at a time. The outcome comes last.
package struct BackupStore: StreamOperation {
  package init() {}

  /// A part of what comes of it.
  package struct Reply: Codable, Sendable {
    /// The next bytes of the file, as base64.
    package var data: Data?
    /// The last one.
    package var made: BackupOutcome?
  }

  package func perform(
    _ context: OperationContext, _ replies: VarlinkReplies<Reply>
  ) throws -> Reply {
    Reply(made: try context.backups.make(for: context.actor, replies))
  }
}

/// What a backup came to.
package struct BackupOutcome: Codable, Equatable, Sendable {
  package var storeId: String
  package var items: Int
  /// Of the database in it.
  package var bytes: Int
  /// Of the whole file.
  package var fileBytes: Int

  init(_ trailer: BackupTrailer, fileBytes: Int) {
    storeId = trailer.store.description
    items = Int(clamping: trailer.items)
    bytes = Int(clamping: trailer.databaseLength)
    self.fileBytes = fileBytes
  }
}

/// What a verification of the whole store found.
package struct VerificationOutcome: Codable, Equatable, Sendable {
  /// Items and records that there are.
  package var items: Int
  package var matchesManifest: Bool
  package var damagedRows: [Int64]
  /// The numbers of records that do not open.
  package var damagedRecords: [Int64]
  /// Items whose secret was not opened, because the store is locked.
  package var locked: Int
  package var condition: String
  /// What is wrong with the audit; nil: nothing.
  package var auditProblem: String?

  package var isWell: Bool {
    auditProblem == nil && matchesManifest && damagedRows.isEmpty && damagedRecords.isEmpty
      && condition == StoreCondition.healthy.words
  }

  package init(verifying keychain: Keychain) throws(KeychainError) {
    let found = try keychain.verify(.everything)
    auditProblem = try keychain.auditProblem()
    items = found.items + found.records
    matchesManifest = found.matchesManifest
    damagedRows = keychain.quarantine.sorted()
    damagedRecords = found.unreadableRecords.map(\.id.rawValue)
    locked = found.locked
    condition = keychain.condition.words
  }
}

extension CommandFailure {
  /// What went wrong with a backup.
  package init(backup error: KeychainError) {
    switch error.status {
    case .duplicateItem:
      self.init(.cannotCreate, error.message, remedy: "`--force` replaces it")
    case .noSuchKeychain, .writePermission:
      self.init(.cannotCreate, error.message)
    case .readOnly:
      self.init(
        .badInput, error.message,
        remedy: "`threadkeeper store verify` says more; keep the backups that you have")
    default:
      self.init(error)
    }
  }
}
