// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bridge

@Suite("How many messages are taken in at once")
struct BatchPaceTests {
  @Test("A connection begins with one message, and doubles up to 2000 while batches are fast")
  func doubles() {
    var pace = BatchPace()
    var limits = [pace.limit]
    for _ in 0..<12 {
      pace.applied(pace.limit, in: .milliseconds(10))
      limits.append(pace.limit)
    }
    #expect(limits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2000, 2000])
    pace.connected()
    #expect(pace.limit == 1)
  }

  @Test("A batch of more than a second halves it, down to one; a batch that is not full leaves it")
  func halves() {
    var pace = BatchPace()
    for _ in 0..<3 { pace.applied(pace.limit, in: .zero) }
    pace.applied(3, in: .zero)
    #expect(pace.limit == 8)
    var limits: [Int] = []
    for _ in 0..<4 {
      pace.applied(pace.limit, in: .seconds(2))
      limits.append(pace.limit)
    }
    #expect(limits == [4, 2, 1, 1])
  }
}
