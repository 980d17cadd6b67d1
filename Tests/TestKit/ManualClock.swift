// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import Synchronization

/// A clock that moves only when a test sets it.
package final class ManualClock: Clock {
  private let time: Mutex<Int64>

  /// - Parameter microseconds: since 1970; 2026-11-21T04:36:00Z by default.
  package init(microseconds: Int64 = 1_795_235_760_000_000) { time = Mutex(microseconds) }

  package func now() -> WireTime { WireTime(milliseconds: microseconds / 1_000) }

  package var microseconds: Int64 { time.withLock { $0 } }

  package func advance(seconds: Int) { advance(microseconds: Int64(seconds) * 1_000_000) }

  package func advance(microseconds: Int64) { time.withLock { $0 += microseconds } }
}
