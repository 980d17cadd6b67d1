// SPDX-License-Identifier: Apache-2.0

import Glibc
import SQLiteDatabase
import SodiumCrypto

/// Space that is kept for deleting: SQLite writes what a transaction changes into its log first, also where that frees
/// space, so on a full disk nothing could be deleted. A file beside the database, which nobody reads.
final class SpaceReserve: Sendable {
  /// Bytes: a transaction that deletes something writes some ten pages of 4 KiB.
  private static let length = 512 << 10

  private let path: String
  /// Nil: whether the file is there is not known.
  private let isThere = Locked<Bool?>(nil)

  init(_ path: String) { self.path = path }

  /// Makes the file if it is not there, and if there is room for it.
  func refill() {
    isThere.withLock { isThere in
      if isThere == nil { isThere = StoreLocation.length(of: path) == Self.length }
      guard isThere == false else { return }
      let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      // It fills no holes: where blocks are shared or compressed, it may be worth less.
      isThere = posix_fallocate(descriptor, 0, off_t(Self.length)) == 0
      if isThere == false { unlink(path) }
    }
  }

  /// Gives the space back to the disk; false where none is kept.
  func release() -> Bool {
    isThere.withLock { isThere in
      guard isThere != false else { return false }
      isThere = false
      return unlink(path) == 0
    }
  }
}

extension Keychain {
  /// Of a daemon: a command ends sooner than a disk is full.
  func keepReserve() {
    if access == .readWrite, options.defersUpkeep { reserve.refill() }
  }

  /// Runs a transaction that deletes something: on a full disk once more, with the space that is kept for that.
  package func deleting<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error where Self.isDiskFull(error) && reserve.release() {
      defer {
        // At once: what is written next does not get it.
        _ = try? database.checkpointTruncate()
        reserve.refill()
      }
      return try body()
    }
  }

  private static func isDiskFull(_ error: any Error) -> Bool {
    (error as? KeychainError)?.status == .diskFull || (error as? SQLiteError)?.kind == .full
  }
}
