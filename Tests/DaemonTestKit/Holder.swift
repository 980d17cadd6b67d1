// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

/// Holds something until it is let go.
package final class Holder: Sendable {
  private let isHeld = Mutex(false)
  private let goOn = DispatchSemaphore(value: 0)

  package init() {}

  package func start(_ hold: @escaping @Sendable (_ wait: () -> Void) -> Void) async throws {
    Thread { [self] in
      hold {
        isHeld.withLock { $0 = true }
        goOn.wait()
      }
    }.start()
    try await eventually { isHeld.withLock { $0 } }
  }

  package func letGo() { goOn.signal() }
}
