import Testing

@testable import Home

@Suite("Sorted lists") struct SortedListTests {
  /// How many there is room for.
  private func room(_ list: SortedList<Int>) throws -> Int {
    let pieces = try #require(Mirror(reflecting: list).descendant("pieces") as? [[Int]])
    return pieces.reduce(0) { $0 + $1.capacity }
  }

  @Test(
    "In whatever order they come, they are in their order, each once, and there is room for a few more",
    arguments: [1, 9_999, 7_919]) func order(_ step: Int) throws
  {
    var list = SortedList<Int>()
    for _ in 0..<2 { for number in 0..<10_000 { list.insert(number * step % 10_000) } }
    #expect(list.elementsEqual(0..<10_000))
    #expect(try room(list) < 13_000)
    for number in 0..<10_000 where number % 3 != 0 { list.remove(number) }
    #expect(list.elementsEqual(stride(from: 0, to: 10_000, by: 3)))
    #expect(list.last { $0 < 7 } == 6)
    #expect(
      list.first(2) {
        $0 < 7
      } while: { _ in
        true
      } == [9, 12])
  }
}
