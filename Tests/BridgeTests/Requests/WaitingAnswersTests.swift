import Broker
import Synchronization
import Testing
import ThreadRequests

@testable import Bridge
@testable import Home

@Suite("Answers that wait for the connection") struct AnswerQueueTests {
  private let queue = AnswerQueue()
  private let now = WireTime(milliseconds: 1_700_000_000_000)

  private func message(
    _ name: String = "x", seconds: Int = 30, bytes: Int = 10, order: UInt64? = nil, connection: Int64 = 1
  ) -> WaitingMessage {
    WaitingMessage(
      Publication(topic: name, payload: [UInt8](repeating: 0, count: bytes)), expires: now.adding(seconds: seconds),
      order: order.map { .init(home: "home", message: $0, connection: connection) })
  }

  private func next(_ limit: Int = 100, _ connection: Int64 = 1, after seconds: Int = 0) -> [Publication] {
    queue.next(limit, connection: connection, at: now.adding(seconds: seconds))
  }

  @Test("Each has the seconds that are left to it, and none comes late") func expiry() {
    _ = queue.add([message("a"), message("b", seconds: 10), message("c")], at: now)
    #expect(next(1).map(\.topic) == ["a"])
    #expect(next(after: 10).map(\.topic) == ["c"])
    _ = queue.add([message("d")], at: now)
    #expect(next(after: 29).map(\.messageExpiry) == [1])
  }

  @Test("The message of an adoption is for its connection only, and is known when it has arrived") func orders() {
    _ = queue.add([message("a", order: 7), message("b", order: 8, connection: 2)], at: now)
    let sent = next()
    #expect(sent.map(\.topic) == ["a"])
    #expect(queue.settled(sent[0].token, isDelivered: true)?.message == 7)
    #expect(queue.settled(sent[0].token, isDelivered: true) == nil)
    #expect(queue.settled(1, isDelivered: true) == nil)
  }

  @Test("What the broker refuses, or another connection had, has not arrived") func refused() {
    _ = queue.add([message(order: 7), message(order: 8)], at: now)
    let sent = next()
    #expect(queue.settled(sent[0].token, isDelivered: false) == nil)
    _ = next(1, 2)
    #expect(queue.settled(sent[1].token, isDelivered: true) == nil)
  }

  @Test("Too many are dropped, and the home of an adoption is named") func full() {
    let many = [WaitingMessage](repeating: message(), count: AnswerQueue.most)
    #expect(queue.add(many, at: now) == .init())
    #expect(queue.add([message(), message(order: 1)], at: now) == .init(count: 2, homes: ["home"]))
    // What is over makes room.
    #expect(queue.add([message(seconds: 60)], at: now.adding(seconds: 30)).count == 0)
    #expect(next(after: 30).count == 1)
  }

  @Test("Their bytes are limited, too") func bytes() {
    let large = message(bytes: AnswerQueue.mostBytes / 2)
    #expect(queue.add([large, large], at: now).count == 1)
    _ = next(1)
    #expect(queue.add([large], at: now).count == 0)
  }
}

@Suite("Callers that wait for a person") struct WaitingCallersTests {
  private let callers = WaitingCallers()

  private func reserve(_ transaction: String? = nil, isOwnUser: Bool = false, isThere: Bool = true)
    throws(AnswerFailure) -> WaitingCallers.Place
  { try callers.reserve(transaction: transaction, isOwnUser: isOwnUser, isThere: { isThere }) }

  @Test("There are twelve places, four of them for the daemon's own user and root") func places() throws {
    let first = try reserve()
    for _ in 1..<8 { _ = try reserve() }
    #expect(throws: AnswerFailure(.rateLimited, "too many wait for consent already")) { try reserve() }
    for _ in 0..<4 { _ = try reserve(isOwnUser: true) }
    #expect(throws: AnswerFailure.self) { try reserve(isOwnUser: true) }
    callers.forget(first)
    _ = try reserve()
  }

  @Test("Two wait for one question, each is woken and gets its own transaction") func deliver() throws {
    let woken = Atomic(0)
    let question = ConsentID(1)
    let places = try ["a", "b"].map { transaction in
      try callers.reserve(
        transaction: transaction, isOwnUser: false, isThere: { true }, wake: { woken.add(1, ordering: .relaxed) })
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

  @Test("Nobody waits who has hung up, or has given up") func gone() throws {
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
