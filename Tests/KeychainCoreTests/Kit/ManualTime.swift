// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that a test sets, in microseconds.
final class ManualTime: Sendable {
  private let value: Mutex<Int64>

  init(_ now: Int64) { value = Mutex(now) }

  var now: Int64 {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}
