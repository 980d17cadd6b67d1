// SPDX-License-Identifier: Apache-2.0

import Bridge
import Home
import HomeStore
import Synchronization
import Testing
import ThreadRequests

@Suite("Callers that wait for a person")
struct WaitingCallersTests {
  private let callers = WaitingCallers()

  private func reserve(
    _ transaction: String? = nil, isOwnUser: Bool = false, isThere: Bool = true
  ) throws(AnswerFailure) -> WaitingCallers.Place {
    try callers.reserve(
      transaction: transaction, isOwnUser: isOwnUser, isThere: { isThere })
  }

  @Test("There are twelve places, four of them for the daemon's own user and root")
  func places() throws {
    let first = try reserve()
    for _ in 1..<8 { _ = try reserve() }
    #expect(throws: AnswerFailure(.rateLimited, "too many wait for consent already")) {
      try reserve()
    }
    for _ in 0..<4 { _ = try reserve(isOwnUser: true) }
    #expect(throws: AnswerFailure.self) { try reserve(isOwnUser: true) }
    callers.forget(first)
    _ = try reserve()
  }

  @Test("Two wait for one question, each is woken and gets its own transaction")
  func deliver() throws {
    let woken = Atomic(0)
    let question = ConsentID(1)
    let places = try ["a", "b"].map { transaction in
      try callers.reserve(
        transaction: transaction, isOwnUser: false, isThere: { true },
        wake: { woken.add(1, ordering: .relaxed) })
    }
    for place in places { try callers.wait(at: place, for: question) }
    let third = try reserve()
    #expect(throws: AnswerFailure.self) { try callers.wait(at: third, for: question) }
    #expect(callers.transactions(of: question) == ["a", "b"])

    callers.deliver(.success(AnswerData()), for: ConsentID(2))
    #expect(callers.answer(at: places[0]) == nil)
    callers.deliver(.success(AnswerData()), for: question)
    callers.deliver(.failure(AnswerFailure(.conflict, "too late")), for: question)
    #expect(places.map { callers.answer(at: $0)?.transaction } == ["a", "b"])
    #expect(places.allSatisfy { callers.answer(at: $0)?.status == .ok })
    #expect(woken.load(ordering: .relaxed) == 0)
    callers.wake()
    callers.wake()
    #expect(woken.load(ordering: .relaxed) == 2)
  }

  @Test("Nobody waits who has hung up, or has given up")
  func gone() throws {
    let question = ConsentID(1)
    let gone = try reserve(isThere: false)
    #expect(!callers.isAwaited(question))
    try callers.wait(at: gone, for: question)
    callers.look()
    #expect(!callers.isAwaited(question))
    let there = try reserve()
    try callers.wait(at: there, for: question)
    callers.look()
    #expect(callers.isAwaited(question))
    callers.forget(there)
    #expect(!callers.isAwaited(question))
  }
}
