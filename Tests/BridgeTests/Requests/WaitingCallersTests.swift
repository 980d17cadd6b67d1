// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization
import TestKit
import Testing
import ThreadRequests

@testable import Bridge

@Suite("Callers that wait for what a person decides", .timeLimit(.minutes(30)))
struct WaitingCallersTests {
  private let queue = AnswerQueue()
  private var callers: WaitingCallers { queue.callers }
  private let agreed = ThreadAnswer(AnswerData())

  private func expect(_ consent: String, isOwnUser: Bool = true) -> WaitingCallers.Place? {
    callers.expect(consent, nil, isOwnUser: isOwnUser) { true }
  }

  @Test(
    "Other users have eight of the twelve places, so that the daemon's own user always finds one")
  func reserved() {
    for number in 1...8 { #expect(expect("c-\(number)", isOwnUser: false) != nil) }
    #expect(expect("c-9", isOwnUser: false) == nil)
    for number in 9...12 { #expect(expect("c-\(number)") != nil) }
    #expect(expect("c-13") == nil)
  }

  private func say(_ answer: ThreadAnswer, to consent: String) {
    queue.add([.caller(id: consent, answer)], now: WireTime(milliseconds: 0))
  }

  @Test("Each gets its answer, and is woken; others get nothing")
  func answers() throws {
    let woken = Mutex<[String]>([])
    func expect(_ consent: String) throws -> WaitingCallers.Place {
      try #require(
        callers.expect(consent, nil) {
          true
        } wake: {
          woken.withLock { $0 += [consent] }
        })
    }
    let (one, other) = (try expect("one"), try expect("other"))
    #expect(callers.answer(at: one) == nil && callers.answer(at: other) == nil)
    say(agreed, to: "one")
    #expect(callers.answer(at: one) == agreed && callers.answer(at: other) == nil)
    #expect(woken.withLock { $0 } == ["one"])
    say(ThreadAnswer(AnswerFailure(.consentDenied, "no")), to: "one")
    #expect(callers.answer(at: one) == agreed, "each is answered once")
    say(agreed, to: "nobody")
    say(ThreadAnswer(AnswerFailure(.consentDenied, "no")), to: "other")
    #expect(callers.answer(at: other)?.error?.known == .consentDenied)
    #expect(woken.withLock { $0 } == ["one", "other"])
  }

  @Test("Callers of one consent get the same answer; there are two at most, and twelve of all")
  func places() throws {
    let one = try #require(expect("c-1"))
    let two = try #require(expect("c-1"))
    #expect(expect("c-1") == nil)
    for number in 2...10 { #expect(expect("c-\(number)") != nil) }
    let last = try #require(expect("c-11"))
    #expect(expect("c-12") == nil)
    callers.forget(last)
    #expect(expect("c-12") != nil)
    say(agreed, to: "c-1")
    #expect(callers.answer(at: one) == agreed && callers.answer(at: two) == agreed)
    callers.forget(one)
    #expect(callers.answer(at: one) == nil && expect("c-1") != nil, "it has given up its place")
  }

  @Test("A consent is awaited while one of its callers is there")
  func awaited() throws {
    let isThere = Mutex([true, true])
    let places = try (0..<2).map { number in
      try #require(callers.expect("c-1", nil) { isThere.withLock { $0[number] } })
    }
    #expect(callers.isAwaited("c-1") && !callers.isAwaited("c-2"))
    isThere.withLock { $0[0] = false }
    #expect(callers.isAwaited("c-1"))
    isThere.withLock { $0 = [true, false] }
    callers.forget(places[0])
    #expect(!callers.isAwaited("c-1"), "who has given up counts no more")
    callers.forget(places[1])
    #expect(!callers.isAwaited("c-1"))
  }
}
