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

  @Test("Each gets its answer, early or late; others get nothing")
  func callers() async throws {
    let callers = callers
    let places = try ["early", "late", "other"].map { try #require(expect($0)) }
    say(agreed, to: "early")
    #expect(await callers.answer(at: places[0]) == agreed)
    async let late = callers.answer(at: places[1])
    async let other = callers.answer(at: places[2])
    try await eventually("both to wait") { callers.waiting == 2 }
    say(agreed, to: "late")
    #expect(await late == agreed)
    #expect(callers.waiting == 1, "no other caller was answered")
    say(ThreadAnswer(AnswerFailure(.consentDenied, "no")), to: "other")
    #expect(await other?.error?.known == .consentDenied)
    say(agreed, to: "nobody")
    #expect(await callers.answer(at: places[0]) == nil, "each is answered once")
  }

  @Test("Callers of one consent get the same answer; there are two at most, and twelve of all")
  func places() async throws {
    let callers = callers
    let one = try #require(expect("c-1"))
    let two = try #require(expect("c-1"))
    #expect(expect("c-1") == nil)
    for number in 2...10 { #expect(expect("c-\(number)") != nil) }
    let last = try #require(expect("c-11"))
    #expect(expect("c-12") == nil)
    callers.forget(last)
    #expect(expect("c-12") != nil)
    async let first = callers.answer(at: one)
    say(agreed, to: "c-1")
    let both = [await first, await callers.answer(at: two)]
    #expect(both == [agreed, agreed])
    #expect(expect("c-1") != nil, "they have given up their places")
  }

  @Test("A caller that is cancelled waits no more, and gives up its place")
  func cancelled() async throws {
    let callers = callers
    let place = try #require(expect("c-1"))
    #expect(expect("c-1") != nil)
    let waiting = Task { await callers.answer(at: place) }
    waiting.cancel()
    #expect(await waiting.value == nil)
    #expect(expect("c-1") != nil && expect("c-1") == nil)
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
