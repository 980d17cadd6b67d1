import Testing
import ThreadDataset

@testable import Bridge

@Suite("Topics whose states have changed") struct DirtyPlacesTests {
  private func place(_ number: Int) -> RetainedPlace {
    RetainedPlace(home: 0, subject: .router(BorderAgentID(high: UInt64(number) + 1, low: 0)))
  }

  /// How many it has room for, in its list and in its dictionary.
  private func room(_ places: DirtyPlaces) throws -> [Int] {
    let parts = Mirror(reflecting: places)
    let entries = try #require(parts.descendant("entries") as? [DirtyPlaces.Entry])
    let rows = try #require(parts.descendant("lastRows") as? [RetainedPlace: Int64])
    return [entries.capacity, rows.capacity]
  }

  @Test("They come in the order in which they began to differ, each once, with the last row about them") func order() {
    var places = DirtyPlaces()
    for number in 0..<3_000 { places.add(place(number), row: Int64(number)) }
    places.add(place(0), row: 9_000)
    var found: [Int64] = []
    while let first = places.first {
      found.append(first.lastRow)
      places.removeFirst()
    }
    #expect(found == [9_000] + Array(1..<3_000))
  }

  @Test(
    "After a burst, what it needed room for is given back; after a few, they are kept for the next",
    arguments: [(20_000, false), (100, true)]) func room(_ burst: Int, isKept: Bool) throws
  {
    var places = DirtyPlaces()
    for number in 0..<burst { places.add(place(number), row: 1) }
    let most = try room(places)
    while places.first != nil { places.removeFirst() }
    #expect(try room(places) == (isKept ? most : [0, 0]))
  }
}
