// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase

/// The store's failures in words that a person can act upon.
enum StoreFailure {
  /// Whether it is the store that fails, for everybody, and not what one request asks of it.
  static func stopsAll(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError:
      switch error.kind {
      case .constraint, .other: false
      case .full, .readOnly, .busy, .corrupt, .io, .moved, .interrupted, .notADatabase,
        .otherVersion, .misuse, .outOfMemory:
        true
      }
    case let error as KeychainError:
      switch error.status {
      case .diskFull, .io, .readOnly, .writePermission, .allocate, .notAvailable, .noSuchKeychain:
        true
      default: error.isTemporary || error.isFileDamaged
      }
    default: false
    }
  }

  /// Whether one message brought the failure about, so that others can be applied without it.
  static func isOfMessage(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError: error.kind == .constraint || error.kind == .other
    case let error as KeychainError:
      !stopsAll(error) && error.status != .decode && error.status != .interactionNotAllowed
    case is PreferredNetworkDamaged, is LedgerError: false
    default: true
    }
  }

  /// Without the statement that failed.
  static func brief(_ error: any Error) -> String {
    switch error {
    case let error as SQLiteError: error.message
    case let error as KeychainError: error.message
    default: "\(error)"
    }
  }

  /// Whether a page of the store's file is damaged.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError: error.kind == .corrupt || error.kind == .notADatabase
    case let error as KeychainError: error.isFileDamaged
    default: false
    }
  }

  static func damaged(_ tables: [String], path: String) -> String {
    let names = tables.isEmpty ? "" : " (\(tables.joined(separator: ", ")))"
    return "the store in \(path) is damaged\(names). Stop the daemon, put a backup in place with "
      + "`threadkeeper store restore`, and start it"
  }

  static func reason(_ error: any Error, path: String) -> String {
    switch error {
    case let error as SQLiteError:
      switch error.kind {
      case .full: diskFull(path)
      case .readOnly: readOnly(path)
      case .busy: "another program keeps the store in \(path) locked; stop it"
      case .corrupt, .notADatabase: damaged([], path: path)
      case .moved:
        "the store in \(path) was deleted or replaced while the daemon runs. Put its files back, and "
          + "intake resumes by itself; else stop the daemon, run `threadkeeper store restore`, and "
          + "start it"
      case .io: "the disk that holds \(path) fails (\(error.message)); check it"
      default: "the store in \(path) refuses to write: \(error.message)"
      }
    case let error as KeychainError:
      switch error.status {
      case .diskFull: diskFull(path)
      default: error.message
      }
    default: "\(error)"
    }
  }

  private static func diskFull(_ path: String) -> String {
    "the disk that holds \(path) is full; free some space, and intake resumes by itself"
  }

  private static func readOnly(_ path: String) -> String {
    "the store in \(path) cannot be written; make the disk and its files writable again, "
      + "and intake resumes by itself"
  }
}
