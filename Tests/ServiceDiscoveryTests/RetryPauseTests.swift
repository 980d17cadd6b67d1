// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServiceDiscovery

struct RetryPauseTests {
  @Test("Pauses double from 1 second to 30, and begin again after a reset")
  func doubling() {
    var pause = RetryPause()
    #expect((0..<7).map { _ in pause.next() } == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    pause.reset()
    #expect(pause.next() == .seconds(1))
  }
}
