// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Broker

@Suite("Publications that the broker has not acknowledged")
struct PublishWindowTests {
  @Test("The oldest is the first that is not acknowledged, whatever was acknowledged before it")
  func oldest() {
    var window = PublishWindow(maximum: 4)
    let start = ContinuousClock.now
    func at(_ second: Int) -> ContinuousClock.Instant { start + .seconds(second) }
    func add(_ identifier: UInt16, _ second: Int, qos: QualityOfService = .atLeastOnce) {
      window.add(
        Publication(topic: "t", payload: [], qos: qos), identifier: identifier, at: at(second))
    }
    add(9, 0, qos: .atMostOnce)
    #expect(window.oldest == nil)
    for number in 1...4 { add(UInt16(number), number) }
    #expect(window.oldest == at(1) && window.room == 0 && window.isInOrder)
    _ = window.acknowledge(2)
    #expect(!window.isInOrder)
    _ = window.acknowledge(3)
    #expect(window.oldest == at(1))
    // The identifier of one that is acknowledged is used again.
    add(2, 5)
    _ = window.acknowledge(1)
    #expect(window.oldest == at(4) && window.isInOrder)
    _ = window.acknowledge(4)
    #expect(window.oldest == at(5) && window.isInOrder)
    _ = window.acknowledge(7)
    _ = window.acknowledge(2)
    #expect(window.oldest == nil && window.room == 4)
  }
}
