// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// The library itself.
package enum Sodium {
  /// Prepares libsodium: it picks the fastest code for this processor and opens the random source.
  /// Calling it again costs nothing, from any thread.
  package static func initialize() throws(SodiumError) {
    guard sodium_init() >= 0 else { throw .notInitialized }
  }
}
