// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a keychain behaves.
package struct KeychainOptions: Sendable {
  /// When the work is done that a commit leaves behind: to drive deleted secrets out of the
  /// write-ahead log, and to write the anchor.
  package enum Upkeep: Sendable {
    /// After the commit: the anchor at most once in `anchorInterval`, the log after each transaction
    /// that deleted an item or changed a secret.
    case immediate
    /// The anchor as above. The log when the owner calls `tick`, about a second after a call that
    /// left something: a hundred changes in a row are not a hundred times as much to write.
    case gathered
    /// When the owner calls `tick`, which the daemon does once a second, so that no event waits
    /// for it.
    case deferred
  }

  package var upkeep = Upkeep.immediate
  /// For passphrase slots that are made.
  package var passwordHash = Argon2id.Parameters.standard
  /// The least time between two writes of the anchor after commits, in nanoseconds.
  package var anchorInterval: UInt64 = 1_000_000_000
  /// How long to wait for another process that shares the store, in nanoseconds.
  package var turnLimit: UInt64 = 10_000_000_000
  /// Microseconds since 1970, for the dates of items.
  package var now: @Sendable () -> Int64 = { KeychainOptions.systemTime() }
  /// Who makes the changes, for the audit; nil keeps none. See `Keychain.act`.
  package var auditor: String?
  /// A virtual file system of SQLite, for tests that need a failing disk.
  package var vfs: String?

  package init() {}

  private static func systemTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
