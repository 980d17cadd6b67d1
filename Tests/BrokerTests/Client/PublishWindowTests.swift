import Testing

@testable import Broker

@Suite("Publications under way") struct PublishWindowTests {
  private var window = PublishWindow(maximum: 4)
  private let start = ContinuousClock.now

  private func at(_ second: Int) -> ContinuousClock.Instant { start + .seconds(second) }

  private mutating func add(_ identifier: Int, _ second: Int = 0, qos: QualityOfService = .atLeastOnce) {
    window.add(
      Publication(topic: "t/\(identifier)", payload: [], qos: qos, token: UInt64(1_000_000 + identifier)),
      identifier: UInt16(identifier), at: at(second))
  }

  /// - Returns: the token less what `add` puts before the identifier.
  private mutating func acknowledge(_ identifier: Int) -> Int? {
    window.acknowledge(UInt16(identifier)).map { Int($0.token) - 1_000_000 }
  }

  @Test("The oldest is the first that is not acknowledged, whatever was acknowledged before it") mutating func oldest()
  {
    add(9, 0, qos: .atMostOnce)
    #expect(window.oldest == nil)
    for number in 1...4 { add(number, number) }
    #expect(window.oldest == at(1) && window.room == 0 && window.isInOrder)
    #expect(acknowledge(2) == 2)
    #expect(!window.isInOrder)
    #expect(acknowledge(3) == 3)
    #expect(window.oldest == at(1))
    add(5, 5)
    #expect(acknowledge(1) == 1)
    #expect(window.oldest == at(4) && window.isInOrder)
    #expect(acknowledge(4) == 4)
    #expect(window.oldest == at(5) && window.isInOrder)
    #expect(acknowledge(7) == nil)
    #expect(acknowledge(5) == 5)
    #expect(window.oldest == nil && window.room == 4)
  }

  @Test("An acknowledgement counts once, and only for what is under way") mutating func unknown() {
    #expect(acknowledge(1) == nil)
    add(1)
    add(2)
    #expect(acknowledge(0) == nil)
    #expect(acknowledge(3) == nil)
    #expect(acknowledge(2) == 2)
    #expect(acknowledge(2) == nil)
    #expect(acknowledge(1) == 1)
    #expect(acknowledge(1) == nil)
    #expect(window.isEmpty && window.isInOrder && window.room == 4)
  }

  @Test("After 65,535 identifiers the next is 1 again") mutating func wraparound() {
    var identifiers = Array(1...65_535) + Array(1...40)
    identifiers.append(contentsOf: 41...1_000)
    for (place, identifier) in identifiers.enumerated() {
      add(identifier, place)
      guard place >= 3 else { continue }
      #expect(window.oldest == at(place - 3) && window.room == 0)
      #expect(acknowledge(identifiers[place - 3]) == identifiers[place - 3])
    }
    #expect(window.isInOrder && window.room == 1)
  }

  @Test("SUBSCRIBE and QoS 0 take identifiers of their own") mutating func gaps() {
    add(10, 1)
    add(11, 2, qos: .atMostOnce)
    // 12 up to 99 went to others.
    add(100, 3)
    add(101, 4)
    #expect(window.room == 1)
    #expect(acknowledge(11) == nil, "it was written, not acknowledged")
    #expect(acknowledge(50) == nil)
    #expect(window.written(11)?.topic == "t/11")
    #expect(window.written(11) == nil)
    #expect(window.written(10) == nil)
    #expect(acknowledge(10) == 10)
    #expect(window.oldest == at(3) && window.isInOrder)
    #expect(acknowledge(101) == 101)
    #expect(acknowledge(100) == 100)
    #expect(window.isEmpty)
    add(65_000, 5)
    #expect(window.oldest == at(5))
  }

  @Test("One whose acknowledgement got lost stays the oldest while thousands come and go") mutating func lost() {
    add(65_000, 0)
    for number in 1...5_000 {
      let identifier = (65_000 + number - 1) % 65_535 + 1
      add(identifier, number)
      #expect(acknowledge(identifier) == identifier)
    }
    #expect(window.oldest == at(0) && window.room == 3 && !window.isInOrder)
    #expect(acknowledge(65_000) == 65_000)
    #expect(window.isEmpty && window.isInOrder)
  }

  @Test("When all other identifiers were used, the one that got lost is given up") mutating func usedUp() {
    add(1, 0)
    add(2, 1)
    for number in 3...65_535 {
      add(number, number)
      #expect(acknowledge(number) == number)
    }
    add(1, 70_000)
    #expect(window.oldest == at(1) && window.room == 2)
    #expect(acknowledge(2) == 2)
    #expect(window.oldest == at(70_000) && window.isInOrder)
    #expect(acknowledge(1) == 1)
    #expect(window.isEmpty && window.room == 4)
  }

  @Test("The entry of an acknowledgement says which topic was refused") mutating func refused() {
    add(1)
    let entry = window.acknowledge(1)
    #expect(entry?.topic == "t/1")
    #expect(window.isEmpty)
  }
}
