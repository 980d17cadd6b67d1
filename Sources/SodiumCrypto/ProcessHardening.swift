// SPDX-License-Identifier: Apache-2.0

import CLibSodium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Keeps the memory of this process out of files that others may read.
package enum ProcessHardening {
  /// Forbids core dumps, and other processes of this user to attach to this one. Children that
  /// this process starts keep the limit, not the second part.
  package static func forbidCoreDumps() throws(SodiumError) {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else {
      throw .notHardened(errno: errno)
    }
    #if os(Linux)
      guard threadkeeper_forbid_dumping() == 0 else { throw .notHardened(errno: errno) }
    #endif
  }

  /// Whether core dumps are forbidden now.
  package static var areCoreDumpsForbidden: Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_max == 0
    else { return false }
    #if os(Linux)
      return threadkeeper_dumpable() == 0
    #else
      return true
    #endif
  }
}
