// SPDX-License-Identifier: Apache-2.0

import CTestSandbox
import Foundation

/// Keeps the tests away from the store, the sockets and the home directory of whoever runs them. See
/// CTestSandbox.h: it is set up before the first test runs.
package enum TestSandbox {
  /// What every program that a test starts has in its environment, unless the test says otherwise.
  package static let environment: [String: String] = {
    let own = ProcessInfo.processInfo.environment
    return [
      "DBUS_SYSTEM_BUS_ADDRESS", "HOME", "THREADKEEPER_SYSTEM_ROOT",
      // Where the programs report to as well, when `make sanitize` runs.
      "ASAN_OPTIONS", "TSAN_OPTIONS", profile,
    ].reduce(into: uncounted) { $0[$1] = own[$1] ?? $0[$1] }
  }()

  /// What a program needs in its environment that cannot write where `make test` counts the lines that it runs, as
  /// another user: without a place, and where it cannot write, it complains on its error stream.
  package static let uncounted = [profile: "/dev/null"]
  private static let profile = "LLVM_PROFILE_FILE"

  /// Fails this process at its end if there is something at `path` then that is not there now.
  package static func watch(_ path: String) { test_sandbox_watch(path) }
}
