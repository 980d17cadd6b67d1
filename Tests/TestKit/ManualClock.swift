// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import Synchronization

/// A clock that goes when a test turns it.
package final class ManualClock: Clock {
  private let time: Mutex<WireTime>

  /// 2026-11-21T04:36:00Z unless told.
  package init(_ time: WireTime = WireTime(milliseconds: 1_795_235_760_000)) {
    self.time = Mutex(time)
  }

  package func now() -> WireTime { time.withLock { $0 } }

  package func advance(seconds: Int) {
    time.withLock { $0 = $0.adding(seconds: seconds) }
  }
}
