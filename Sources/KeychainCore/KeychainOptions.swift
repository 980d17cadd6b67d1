// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a keychain behaves.
package struct KeychainOptions: Sendable {
  /// When deleted secrets are driven out of the write-ahead log.
  package enum Erasure: Sendable {
    /// After each transaction that deleted an item or changed a secret.
    case immediate
    /// When the owner calls `eraseDeletedPages` or `tick`: the daemon does it at most once a
    /// second.
    case deferred
  }

  package var erasure = Erasure.immediate
  /// For passphrase slots that are made.
  package var passwordHash = Argon2id.Parameters.standard
  /// Up to so many items the manifest is verified before `open` returns (some 10 ms); a larger
  /// store is verified by the owner, in the background.
  package var verifiedAtOpening = 2_000
  /// The least time between two writes of the anchor, in nanoseconds.
  package var anchorInterval: UInt64 = 1_000_000_000
  /// Microseconds since 1970, for the dates of items.
  package var now: @Sendable () -> Int64 = { KeychainOptions.systemTime() }
  /// A virtual file system of SQLite, for tests that need a failing disk.
  package var vfs: String?

  package init() {}

  private static func systemTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
