// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol

#if canImport(Glibc)
  import Glibc
#endif

/// Time is an input: it comes from here, and tests turn it by hand.
package protocol Clock: Sendable {
  func now() -> WireTime
}

/// The machine's wall clock.
package struct SystemClock: Clock {
  package init() {}

  package func now() -> WireTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WireTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
