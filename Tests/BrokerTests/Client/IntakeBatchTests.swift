// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Broker

@Suite("A batch on its way to the daemon")
struct IntakeBatchTests {
  @Test(
    "Everything that a publisher can make large counts",
    arguments: [
      IncomingMessage(topic: "t", payload: Array(repeating: 0, count: 999)),
      IncomingMessage(topic: String(repeating: "t", count: 1_000), payload: []),
      IncomingMessage(
        topic: "t", payload: [], correlationData: Array(repeating: 0, count: 999)),
      IncomingMessage(
        topic: "t", payload: [], responseTopic: String(repeating: "r", count: 999)),
    ])
  func bytes(_ message: IncomingMessage) {
    var batch = IntakeBatch(maximumMessages: 500, maximumBytes: 2_000)
    batch.append(message)
    #expect(batch.bytes == 1_000 && !batch.isFull)
    batch.append(message)
    #expect(batch.isFull)
    batch.clear()
    #expect(batch.bytes == 0 && batch.isEmpty)
  }
}
