// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension KeychainError {
  /// Runs `body`; whatever it throws becomes a `KeychainError`. `what` completes "while …".
  package static func wrap<R>(
    _ what: StaticString, _ body: () throws -> R
  ) throws(KeychainError) -> R {
    do {
      return try body()
    } catch let error as KeychainError {
      throw error
    } catch let error as SQLiteError {
      throw KeychainError(error, while: "\(what)")
    } catch let error as SodiumError {
      throw KeychainError(error, while: "\(what)")
    } catch {
      throw KeychainError(.internalError, "\(error) while \(what)")
    }
  }

  init(_ error: SQLiteError, while what: String) {
    switch error.kind {
    case .full:
      self.init(.diskFull, "the disk is full while \(what): free some space; \(error)")
    case .readOnly:
      self.init(.readOnly, "the store cannot be written while \(what): \(error)")
    case .busy:
      self.init(
        .notAvailable, "another process holds the database while \(what): \(error)",
        isTemporary: true)
    case .corrupt, .notADatabase:
      self.init(
        .decode, "the store's file is damaged, found while \(what): restore a backup; \(error)",
        isFileDamaged: true)
    case .moved:
      self.init(.io, "\(error) while \(what)")
    case .io:
      self.init(.io, "the disk failed while \(what): \(error)")
    case .otherVersion:
      self.init(.notAvailable, "\(error)")
    case .interrupted:
      self.init(.userCanceled, "interrupted while \(what)")
    // SQLITE_CONSTRAINT_UNIQUE: the index of primary keys is the only one that can answer so.
    case .constraint where error.code == 2067:
      self.init(.duplicateItem, "there is such an item already, found while \(what)")
    case .outOfMemory:
      self.init(.allocate, "not enough memory while \(what)")
    case .misuse:
      self.init(.notAvailable, "\(error) while \(what)")
    case .constraint, .other:
      self.init(.internalError, "\(error) while \(what)")
    }
  }

  init(_ error: SodiumError, while what: String) {
    switch error {
    case .notAuthentic, .badPadding, .wrongLength, .unusableKey:
      self.init(.decode, "the store was altered or is damaged, found while \(what): \(error)")
    case .outOfMemory:
      self.init(.allocate, "not enough memory while \(what)")
    case .refusedParameters(let reason):
      self.init(.authFailed, "\(reason), found while \(what)")
    case .notInitialized, .notHardened:
      self.init(.notAvailable, "\(error) while \(what)")
    }
  }

  /// The error of the system call that has just failed.
  static func system(_ what: String, path: String, code: Int32 = errno) -> KeychainError {
    let reason = String(cString: strerror(code))
    let status: Status =
      switch code {
      case ENOSPC, EDQUOT: .diskFull
      case EROFS: .readOnly
      case EACCES, EPERM: .writePermission
      case ENOENT, ENOTDIR: .noSuchKeychain
      default: .io
      }
    return KeychainError(status, "cannot \(what) \(path): \(reason)")
  }
}
