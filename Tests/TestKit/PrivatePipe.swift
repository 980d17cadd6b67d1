// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A pipe of which no child inherits an end that it is not given. (A pair of sockets: the library's
/// `pipe` has no way to say so at once.)
package final class PrivatePipe: Sendable {
  package let reading: Int32
  package let writing: Int32
  private let open: Mutex<Set<Int32>>

  package init() throws {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    (reading, writing) = (ends[0], ends[1])
    open = Mutex(Set(ends))
  }

  deinit {
    closeReading()
    closeWriting()
  }

  /// Of an end that only a child still needs.
  package func closeReading() { close(reading) }
  package func closeWriting() { close(writing) }

  private func close(_ end: Int32) {
    open.withLock { open in
      if open.remove(end) != nil { Foundation.close(end) }
    }
  }
}
