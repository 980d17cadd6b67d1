// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
