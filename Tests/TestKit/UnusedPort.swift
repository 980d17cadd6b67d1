// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import Synchronization

/// Ports that nobody takes before the test that asked does: below those that the kernel gives to
/// connections and to whoever asks for any, and none twice in a process.
package enum UnusedPort {
  struct NoneLeft: Error {}

  private static let range: Range<UInt16> = 20_000..<30_000
  private static let last = Mutex(UInt16(Int(getpid()) * 97 % range.count))

  package static func next() throws -> UInt16 {
    for _ in range {
      let port = last.withLock { last in
        last = (last + 1) % UInt16(range.count)
        return range.lowerBound + last
      }
      if LoopbackPort.isFree(port) { return port }
    }
    throw NoneLeft()
  }
}
