// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How long a service manager waits for a sign of life before it restarts this process: `WatchdogSec=` of systemd, in
/// the variables of sd_watchdog_enabled(3).
package enum WatchdogLimit {
  /// - Returns: nil where there is no watchdog, or where it watches another process.
  package static func duration(
    environment: [String: String], process: Int32 = getpid()
  ) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init), microseconds > 0
    else { return nil }
    if let watched = environment["WATCHDOG_PID"], Int32(watched) != process { return nil }
    return .microseconds(microseconds)
  }
}
