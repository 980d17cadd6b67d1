import Broker
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

@Suite("What a router's agent is sent") struct AdoptionOrderTests {
  private let topic = "threadkeeper/out/hub/dataset/set"
  private let agent = String(repeating: "1", count: 32)
  private let now: Int64 = 1_800_000_000
  private let own: Identity
  private let daemon: Identity

  init() throws {
    own = try Identity()
    daemon = try Identity()
  }

  private var keys: AgentKeys { AgentKeys(own: own, daemon: daemon.keys) }

  private func message(
    _ body: String, from sender: Identity? = nil, to reader: Identity? = nil, id: String = "a-1",
    on topic: String? = nil
  ) throws -> IncomingMessage {
    let envelope = try Envelope.seal(
      Array(body.utf8), to: (reader ?? own).keys, from: sender ?? daemon,
      at: .init(topic: self.topic, order: .identifier(id), now: now, lifetime: 300)
    ).json()
    return IncomingMessage(
      topic: topic ?? self.topic, payload: Array("{\"sealed\":".utf8) + envelope + Array(",\"v\":1}".utf8))
  }

  private func body(dataset: String? = nil) throws -> String {
    let hex = try dataset ?? SampleNetwork.home.dataset(at: 1).hex
    return "{\"border_agent_id\":\"\(agent)\",\"dataset\":\"\(hex)\",\"id\":\"a-1\"}"
  }

  private func refusal(_ message: IncomingMessage, now: Int64? = nil) -> String? {
    do throws(AdoptionOrder.Refusal) {
      _ = try AdoptionOrder(message, keys: keys, now: now ?? self.now)
      return nil
    } catch { return error.description }
  }

  @Test("What the daemon has sealed and signed is opened") func opened() throws {
    let order = try AdoptionOrder(message(body()), keys: keys, now: now)
    #expect(order.id == "a-1" && "\(order.agent)" == agent)
    #expect(order.issuedAt == now && order.expiresAt == now + 300)
    #expect(order.dataset == (try SampleNetwork.home.dataset(at: 1)))
  }

  @Test("Another signer, reader or topic, and what is too late, are refused with the reason") func refused() throws {
    let stranger = try Identity()
    #expect(refusal(try message(body(), from: stranger))?.hasPrefix("unknown_issuer") == true)
    #expect(refusal(try message(body(), to: stranger))?.hasPrefix("unknown_kid") == true)
    #expect(refusal(try message(body(), on: "threadkeeper/out/attic/dataset/set"))?.hasPrefix("wrong_topic") == true)
    #expect(refusal(try message(body()), now: now + 400)?.hasPrefix("expired") == true)
  }

  @Test("Plain text is refused, whatever it says, and so is a retained message") func plain() throws {
    #expect(refusal(IncomingMessage(topic: topic, payload: Array(try body().utf8))) == "it is not sealed")
    var retained = try message(body())
    retained.isRetained = true
    #expect(refusal(retained) == "it is a retained message")
  }

  @Test("A field that is missing, another id than the envelope's, and an unfit dataset are refused") func fields()
    throws
  {
    #expect(refusal(try message("{}")) != nil)
    #expect(refusal(try message(body(), id: "a-2")) != nil)
    let home = try SampleNetwork.home.dataset(at: 1)
    for dataset in ["", "zz", home.removing(.networkKey).hex, try home.replacing(.delayTimer(1)).hex] {
      let refusal = try #require(refusal(try message(body(dataset: dataset))))
      #expect(!refusal.contains(SampleNetwork.home.networkKey))
    }
  }
}

@Suite("Which orders are carried out") struct OrderBookTests {
  private let dataset: OperationalDataset

  init() throws { dataset = try SampleNetwork.home.dataset(at: 1) }

  private func order(_ id: String, at issuedAt: Int64 = 1_000) throws -> AdoptionOrder {
    try Sample.order(id, dataset, issuedAt: issuedAt)
  }

  private var book = OrderBook()

  /// One that comes so many seconds after 1,000, by both clocks.
  @discardableResult private mutating func take(_ order: AdoptionOrder, after seconds: Int64 = 0) -> OrderBook.Verdict {
    book.take(order, time: 1_000 + seconds, at: .seconds(seconds))
  }

  @discardableResult private mutating func next(after seconds: Int64 = 0) -> OrderBook.Next {
    book.next(time: 1_000 + seconds, at: .seconds(seconds))
  }

  private func refusal(_ verdict: OrderBook.Verdict) -> String? {
    if case .refused(let why) = verdict { why } else { nil }
  }

  @Test("An order waits, is begun once, and is not begun again when it is done") mutating func once() throws {
    let order = try order("a-1")
    #expect(take(order) == .waits)
    #expect(take(order) == .isKnown)
    #expect(next() == .order(order))
    #expect(next() == .nothing)
    #expect(take(order, after: 1) == .isKnown)
    book.end(isDone: true)
    #expect(take(order, after: 2) == .isDone)
    #expect(next(after: 2) == .nothing)
    // With another envelope.
    #expect(take(try self.order("a-1", at: 1_200), after: 200) == .isDone)
    #expect(take(try self.order("a-1", at: 1_450), after: 450) == .isDone)
  }

  @Test("One that was done is still known when another was done after it") mutating func replay() throws {
    for id in ["a-1", "a-2"] {
      let order = try order(id)
      #expect(take(order) == .waits)
      #expect(next() == .order(order))
      book.end(isDone: true)
    }
    #expect(take(try order("a-1"), after: 100) == .isDone)
    #expect(next(after: 100) == .nothing)
  }

  @Test("An older one than was begun last, or than waits, is refused, also when it comes later") mutating func older()
    throws
  {
    let newer = try order("a-2", at: 1_050)
    #expect(take(newer, after: 50) == .waits)
    #expect(refusal(take(try order("a-1"), after: 50))?.contains("older") == true)
    #expect(next(after: 50) == .order(newer))
    book.end(isDone: false)
    #expect(refusal(take(try order("a-1"), after: 50))?.contains("older") == true)
    #expect(next(after: 50) == .nothing)
  }

  @Test("One that expires while it waits is dropped, by either clock") mutating func expires() throws {
    for (time, now) in [(Int64(1_300), Duration.seconds(10)), (900, .seconds(300))] {
      book = OrderBook()
      let order = try order("a-1")
      #expect(take(order) == .waits)
      #expect(book.next(time: time, at: now) == .dropped(order, "it has expired"))
      #expect(next() == .nothing)
    }
    book = OrderBook()
    #expect(refusal(take(try order("a-1"), after: 300)) == "it has expired")
  }

  @Test("Of those that come during another one the newest is begun when that has ended") mutating func during() throws {
    take(try order("a-1"))
    next()
    let last = try order("a-3", at: 1_020)
    #expect(take(try order("a-2", at: 1_010), after: 20) == .waits)
    #expect(take(last, after: 20) == .waits)
    #expect(next(after: 20) == .nothing)
    book.end(isDone: true)
    #expect(next(after: 20) == .order(last))
  }

  @Test("One that does not work is begun three times, whatever its envelopes") mutating func tries() throws {
    for number in 0..<3 {
      let seconds = Int64(number) * 200
      let order = try order("a-1", at: 1_000 + seconds)
      #expect(take(order, after: seconds) == .waits)
      #expect(next(after: seconds) == .order(order))
      book.end(isDone: false)
    }
    #expect(refusal(take(try order("a-1", at: 1_600), after: 600))?.contains("3 times") == true)
    #expect(take(try order("a-2", at: 1_600), after: 600) == .waits)
  }
}
