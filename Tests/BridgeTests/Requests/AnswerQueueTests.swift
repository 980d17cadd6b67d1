// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadRequests

@testable import Bridge

@Suite("Answers on their way")
struct AnswerQueueTests {
  private let queue = AnswerQueue()
  private let start = WireTime(milliseconds: 0)

  private func answer(_ number: Int, bytes: Int = 10, seconds: Int = 30) -> Answer {
    .publication(
      Publication(topic: "\(number)", payload: Array(repeating: 0x20, count: bytes)),
      expires: start.adding(seconds: seconds))
  }

  @Test("They leave in their order, with the time that is left to them")
  func order() {
    queue.add((1...3).map { answer($0) }, now: start)
    let later = start.adding(seconds: 10)
    #expect(queue.next(2, connection: 1, now: later).map(\.topic) == ["1", "2"])
    #expect(queue.next(2, connection: 1, now: later).map(\.messageExpiry) == [20])
    #expect(queue.next(2, connection: 1, now: later).isEmpty)
  }

  @Test("What has expired is not sent any more")
  func expired() {
    queue.add([answer(1, seconds: 5), answer(2, seconds: 30)], now: start)
    #expect(queue.next(9, connection: 1, now: start.adding(seconds: 5)).map(\.topic) == ["2"])
  }

  @Test("No more wait than memory is meant for, in number and in bytes")
  func limits() {
    #expect(queue.add((0..<AnswerQueue.most + 5).map { answer($0) }, now: start) == 5)
    // What has expired makes room.
    #expect(queue.add([answer(1, seconds: 60)], now: start.adding(seconds: 30)) == 0)
    let large = AnswerQueue()
    let bytes = AnswerQueue.mostBytes / 4 - 1
    #expect(large.add((0..<6).map { answer($0, bytes: bytes) }, now: start) == 2)
    #expect(large.next(9, connection: 1, now: start).count == 4)
    #expect(large.add((0..<4).map { answer($0, bytes: bytes) }, now: start) == 0)
    let later = start.adding(seconds: 30)
    #expect(large.add([answer(1, bytes: bytes, seconds: 60)], now: later) == 0)
  }

  @Test("What is dropped is counted, whoever has added it")
  func counted() {
    let monitor = BridgeMonitor()
    let queue = AnswerQueue(monitor: monitor)
    queue.add((0..<AnswerQueue.most + 5).map { answer($0) }, now: start)
    queue.add([answer(1)], now: start)
    #expect(monitor.snapshot.answersDropped == 6)
  }

  @Test("Topic and Correlation Data count too")
  func properties() {
    let bytes = Array(repeating: UInt8(0), count: AnswerQueue.mostBytes / 4)
    let long = Answer.publication(
      Publication(topic: "", payload: [], correlationData: bytes),
      expires: start.adding(seconds: 30))
    #expect(queue.add(Array(repeating: long, count: 6), now: start) == 2)
    #expect(queue.next(9, connection: 1, now: start).count == 4)
    #expect(queue.add(Array(repeating: long, count: 4), now: start) == 0)
  }

  @Test("A message of an adoption is for one connection; what stands behind it leaves on any")
  func adoptions() {
    func message(_ number: Int) -> Answer {
      .adoption(
        AdoptionMessage(
          id: "a-\(number)", connection: 1,
          publication: Publication(topic: "a-\(number)", payload: [1]),
          expires: start.adding(seconds: 300)))
    }
    queue.add([message(1), message(2), answer(3)], now: start)
    #expect(queue.next(1, connection: 1, now: start).map(\.topic) == ["a-1"])
    #expect(queue.next(9, connection: 2, now: start).map(\.topic) == ["3"])
    #expect(queue.next(9, connection: 1, now: start).isEmpty)
  }
}
