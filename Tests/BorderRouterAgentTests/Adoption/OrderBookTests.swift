// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import TestKit
import Testing
import ThreadDataset

@Suite("Which orders are carried out")
struct OrderBookTests {
  private let dataset: OperationalDataset

  init() throws { dataset = try SampleNetwork.home.dataset(at: 1) }

  private func order(_ id: String, at issuedAt: Int64 = 1_000) throws -> AdoptionOrder {
    try Sample.order(id, dataset, issuedAt: issuedAt)
  }

  private func refusal(_ verdict: OrderBook.Verdict) -> String? {
    if case .refused(let why) = verdict { why } else { nil }
  }

  @Test("An order waits, is begun once, and is not begun again when it is done")
  func once() throws {
    var book = OrderBook()
    let order = try order("a-1")
    #expect(book.take(order, time: 1_000, at: .zero) == .waits)
    #expect(book.take(order, time: 1_000, at: .zero) == .isKnown)
    #expect(book.next(time: 1_000, at: .zero) == .order(order))
    #expect(book.next(time: 1_000, at: .zero) == .nothing)
    #expect(book.take(order, time: 1_001, at: .seconds(1)) == .isKnown)
    book.end(isDone: true)
    #expect(book.take(order, time: 1_002, at: .seconds(2)) == .isDone)
    #expect(book.next(time: 1_002, at: .seconds(2)) == .nothing)
    // With another envelope.
    #expect(book.take(try self.order("a-1", at: 1_200), time: 1_200, at: .seconds(200)) == .isDone)
    #expect(book.take(try self.order("a-1", at: 1_450), time: 1_450, at: .seconds(450)) == .isDone)
  }

  @Test("One that was done is still known when another was done after it")
  func replay() throws {
    var book = OrderBook()
    for id in ["a-1", "a-2"] {
      let order = try order(id)
      #expect(book.take(order, time: 1_000, at: .zero) == .waits)
      #expect(book.next(time: 1_000, at: .zero) == .order(order))
      book.end(isDone: true)
    }
    #expect(book.take(try order("a-1"), time: 1_100, at: .seconds(100)) == .isDone)
    #expect(book.next(time: 1_100, at: .seconds(100)) == .nothing)
  }

  @Test("An older one than was begun last, or than waits, is refused, also when it comes later")
  func older() throws {
    var book = OrderBook()
    let newer = try order("a-2", at: 1_050)
    #expect(book.take(newer, time: 1_050, at: .zero) == .waits)
    #expect(refusal(book.take(try order("a-1"), time: 1_050, at: .zero))?.contains("older") == true)
    #expect(book.next(time: 1_050, at: .zero) == .order(newer))
    book.end(isDone: false)
    #expect(refusal(book.take(try order("a-1"), time: 1_050, at: .zero))?.contains("older") == true)
    #expect(book.next(time: 1_050, at: .zero) == .nothing)
  }

  @Test("One that expires while it waits is dropped, by either clock")
  func expires() throws {
    for (time, now) in [(Int64(1_300), Duration.seconds(10)), (900, .seconds(300))] {
      var book = OrderBook()
      let order = try order("a-1")
      #expect(book.take(order, time: 1_000, at: .zero) == .waits)
      #expect(book.next(time: time, at: now) == .dropped(order, "it has expired"))
      #expect(book.next(time: 1_000, at: .zero) == .nothing)
    }
    var book = OrderBook()
    #expect(refusal(book.take(try order("a-1"), time: 1_300, at: .zero)) == "it has expired")
  }

  @Test("Of those that come during another one the newest is begun when that has ended")
  func during() throws {
    var book = OrderBook()
    _ = book.take(try order("a-1"), time: 1_000, at: .zero)
    _ = book.next(time: 1_000, at: .zero)
    let last = try order("a-3", at: 1_020)
    #expect(book.take(try order("a-2", at: 1_010), time: 1_020, at: .zero) == .waits)
    #expect(book.take(last, time: 1_020, at: .zero) == .waits)
    #expect(book.next(time: 1_020, at: .zero) == .nothing)
    book.end(isDone: true)
    #expect(book.next(time: 1_020, at: .zero) == .order(last))
  }

  @Test("One that does not work is begun three times, whatever its envelopes")
  func tries() throws {
    var book = OrderBook()
    for number in 0..<3 {
      let order = try order("a-1", at: 1_000 + Int64(number) * 200)
      #expect(book.take(order, time: order.issuedAt, at: .zero) == .waits)
      #expect(book.next(time: order.issuedAt, at: .zero) == .order(order))
      book.end(isDone: false)
    }
    #expect(
      refusal(book.take(try order("a-1", at: 1_600), time: 1_600, at: .zero))?.contains("3 times")
        == true)
    #expect(book.take(try order("a-2", at: 1_600), time: 1_600, at: .zero) == .waits)
  }
}
