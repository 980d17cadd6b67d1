import Glibc
import SQLiteDatabase
import SodiumCrypto

/// A refusal: the number that Keychain Services would answer, and words that say what, where and
/// what to do. Never a secret.
package struct KeychainError: Error, Equatable, Sendable, CustomStringConvertible {
  package typealias Status = KeychainStatus

  package let status: Status
  package let message: String
  /// Who holds the store, when that is the reason.
  package let lockHolder: LockHolder?
  /// Whether nothing was done yet and will be once the store is opened again: another process has
  /// changed the ways into it.
  package let asksForReopening: Bool
  /// Whether the same call may go well at another time, without anybody's doing.
  package let isTemporary: Bool
  /// Whether SQLite has met a page that cannot be one.
  let isFileDamaged: Bool
  /// What SQLite said, where it is the reason.
  package let cause: SQLiteError?

  package init(
    _ status: Status, _ message: String, lockHolder: LockHolder? = nil, asksForReopening: Bool = false,
    isTemporary: Bool = false, isFileDamaged: Bool = false, cause: SQLiteError? = nil
  ) {
    self.status = status
    self.message = message
    self.lockHolder = lockHolder
    self.asksForReopening = asksForReopening
    self.isFileDamaged = isFileDamaged
    self.cause = cause
    self.isTemporary = isTemporary || asksForReopening || lockHolder != nil
  }

  /// Whether one item does not open; others may.
  package var isItemDamaged: Bool { status == .decode && !isFileDamaged }

  package var description: String { "\(message) (\(status.rawValue))" }
}

/// What the keychain answers, with the OSStatus numbers of Apple's SecBase.h.
package enum KeychainStatus: Int32, Sendable {
  case unimplemented = -4
  case diskFull = -34
  case io = -36
  /// A call that is invalid.
  case param = -50
  case writePermission = -61
  case allocate = -108
  case userCanceled = -128
  /// There is no store that could be used now: held by another process, or not safe to open.
  case notAvailable = -25291
  case readOnly = -25292
  /// No key slot opens with what was given.
  case authFailed = -25293
  case noSuchKeychain = -25294
  case duplicateKeychain = -25296
  case duplicateItem = -25299
  case itemNotFound = -25300
  case dataTooLarge = -25302
  case noSuchAttribute = -25303
  /// Nothing says where the keychain lies.
  case noDefaultKeychain = -25307
  /// The class of the item is locked.
  case interactionNotAllowed = -25308
  case interactionRequired = -25315
  /// What is on the disk was altered, or is damaged.
  case decode = -26275
  case internalError = -26276
  case missingEntitlement = -34018
}

extension KeychainError {
  /// Runs `body`; whatever it throws becomes a `KeychainError`. `what` completes "while …".
  package static func wrap<R>(_ what: StaticString, _ body: () throws -> R) throws(KeychainError) -> R {
    do { return try body() } catch let error as KeychainError { throw error } catch let error as SQLiteError {
      throw KeychainError(error, while: "\(what)")
    } catch let error as SodiumError { throw KeychainError(error, while: "\(what)") } catch {
      throw KeychainError(.internalError, "\(error) while \(what)")
    }
  }

  init(_ error: SQLiteError, while what: String) {
    self =
      switch error.kind {
      case .full: .init(.diskFull, "the disk is full while \(what): free some space; \(error)", cause: error)
      case .readOnly: .init(.readOnly, "the store cannot be written while \(what): \(error)", cause: error)
      case .busy:
        .init(
          .notAvailable, "another process holds the database while \(what): \(error)", isTemporary: true, cause: error)
      case .corrupt, .notADatabase:
        .init(
          .decode, "the store's file is damaged, found while \(what): restore a backup; \(error)", isFileDamaged: true,
          cause: error)
      case .moved: .init(.io, "\(error) while \(what)", cause: error)
      case .io: .init(.io, "the disk failed while \(what): \(error)", cause: error)
      case .otherVersion: .init(.notAvailable, "\(error)")
      case .interrupted: .init(.userCanceled, "interrupted while \(what)")
      // SQLITE_CONSTRAINT_UNIQUE: the index of primary keys is the only one that can answer so.
      case .constraint where error.code == 2067:
        .init(.duplicateItem, "there is such an item already, found while \(what)")
      case .outOfMemory: .init(.allocate, "not enough memory while \(what)")
      case .misuse: .init(.notAvailable, "\(error) while \(what)")
      case .constraint, .other: .init(.internalError, "\(error) while \(what)")
      }
  }

  init(_ error: SodiumError, while what: String) {
    self =
      switch error {
      case .notAuthentic, .badPadding, .wrongLength, .unusableKey:
        .init(.decode, "the store was altered or is damaged, found while \(what): \(error)")
      case .outOfMemory: .init(.allocate, "not enough memory while \(what)")
      case .refusedParameters(let reason): .init(.authFailed, "\(reason), found while \(what)")
      case .notInitialized, .notHardened: .init(.notAvailable, "\(error) while \(what)")
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
