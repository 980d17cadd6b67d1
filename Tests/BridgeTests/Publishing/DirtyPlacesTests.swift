import Testing
import ThreadDataset

@testable import Bridge

@Suite("Topics whose states have changed") struct DirtyPlacesTests {
  private func place(_ number: Int) -> RetainedPlace {
    RetainedPlace(home: 0, subject: .router(BorderAgentID(high: UInt64(number) + 1, low: 0)))
  }

  @Test("They come in the order in which they began to differ, each once, with the last row about them") func order() {
    var places = DirtyPlaces()
    for number in 0..<3_000 { places.add(place(number), row: Int64(number)) }
    places.add(place(0), row: 9_000)
    var found: [Int64] = []
    while let first = places.first {
      #expect(first == place(found.count))
      let row = places.lastRow(of: first)
      #expect(places.removeFirst() == row)
      found.append(row)
    }
    #expect(found == [9_000] + Array(1..<3_000))
  }
}
