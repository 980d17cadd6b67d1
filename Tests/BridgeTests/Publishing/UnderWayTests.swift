import Testing
import ThreadDataset

@testable import Bridge

@Suite("What the broker has not acknowledged") struct UnderWayTests {
  private var underWay = UnderWay()

  private func place(_ number: Int) -> RetainedPlace {
    RetainedPlace(home: 0, subject: .router(BorderAgentID(high: UInt64(number) + 1, low: 0)))
  }

  private mutating func row(of token: UInt64) -> Int64? {
    guard case .message(let row)? = underWay.remove(token) else { return nil }
    return row
  }

  @Test("Each comes back once, whatever came back before it") mutating func once() {
    let tokens = (0..<1_000).map { underWay.add(.message(row: $0)) }
    #expect(tokens == Array(1...1_000))
    for token in tokens.reversed() { #expect(row(of: token) == Int64(token) - 1) }
    for token in [0, 1, 500, 1_000, 1_001, 1 << 62, 1 << 63] as [UInt64] { #expect(underWay.remove(token) == nil) }
    #expect(underWay.next == 1_001)
  }

  @Test("One that does not come back keeps its token while thousands do") mutating func lost() {
    let lost = underWay.add(.state(place(7)))
    for row in 0..<5_000 as Range<Int64> {
      let token = underWay.add(.message(row: row))
      #expect(self.row(of: token) == row)
    }
    guard case .state(let found)? = underWay.remove(lost) else {
      Issue.record("it is not there any more")
      return
    }
    #expect(found == place(7))
    #expect(underWay.next == 5_002)
  }

  @Test("When nothing more comes back, the states are due again, in their order") mutating func ends() {
    let tokens = [
      underWay.add(.state(place(3))), underWay.add(.message(row: 1)), underWay.add(.state(place(1))),
      underWay.add(.state(place(2))),
    ]
    _ = underWay.remove(tokens[2])
    #expect(underWay.removeAll() == [place(3), place(2)])
    for token in tokens { #expect(underWay.remove(token) == nil) }
    #expect(underWay.add(.message(row: 2)) == 5, "tokens of before are not used again")
    #expect(underWay.removeAll() == [])
  }
}
