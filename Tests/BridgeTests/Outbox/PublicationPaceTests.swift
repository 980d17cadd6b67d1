// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bridge

@Suite("The pace of publications")
struct PublicationPaceTests {
  private let pace = PublicationPace(fullBatch: 500, portion: 10)

  @Test("Without a burst everything is allowed")
  func quiet() {
    #expect(pace.allowed(1_000) == 1_000)
    pace.batchCommitted(messages: 499)
    #expect(pace.allowed(1_000) == 1_000)
  }

  @Test("After a full batch there is a portion, and then nothing until the next batch")
  func burst() {
    pace.batchCommitted(messages: 500)
    #expect(pace.allowed(4) == 4)
    #expect(pace.allowed(1_000) == 6)
    #expect(pace.allowed(1_000) == 0)
    pace.batchCommitted(messages: 500)
    #expect(pace.allowed(1_000) == 10)
  }

  @Test("A large batch gives a share of its messages")
  func large() {
    pace.batchCommitted(messages: 2_000)
    #expect(pace.allowed(1_000) == 40)
    #expect(pace.allowed(1_000) == 0)
  }

  @Test("Portions that are not taken do not pile up")
  func bounded() {
    for _ in 0..<100 { pace.batchCommitted(messages: 500) }
    #expect(pace.allowed(1_000) == 40)
    #expect(pace.allowed(1_000) == 0)
  }

  @Test("The burst is over with a smaller batch, or when nothing came between two looks")
  func over() {
    pace.batchCommitted(messages: 500)
    pace.batchCommitted(messages: 3)
    #expect(pace.allowed(1_000) == 1_000)
    pace.batchCommitted(messages: 500)
    pace.look()
    #expect(pace.allowed(1_000) == 30)
    pace.look()
    #expect(pace.allowed(1_000) == 1_000)
  }

  @Test("No more is allowed than was asked for", arguments: [0, 1, 9, 10, 11])
  func asked(limit: Int) {
    pace.batchCommitted(messages: 500)
    #expect(pace.allowed(limit) == min(limit, 10))
  }
}
