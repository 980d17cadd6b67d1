import Testing

@testable import Home

@Suite("Sorted lists") struct SortedListTests {
  /// How many there is room for, in lists that are all short.
  private func room(_ list: SortedList<Int>) throws -> Int {
    let groups = try #require(Mirror(reflecting: list).descendant("groups") as? [[[Int]]])
    #expect(groups.count < 10 && groups.allSatisfy { 1...64 ~= $0.count })
    #expect(groups.joined().allSatisfy { 1...64 ~= $0.count })
    return groups.joined().reduce(0) { $0 + $1.capacity }
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
    for bound in 0...10_000 {
      let next = (bound + 2) / 3 * 3
      #expect(list.last { $0 < bound } == (bound == 0 ? nil : next - 3))
      let first = list.first(2, after: { $0 < bound }, while: { _ in true })
      #expect(first == [next, next + 3].filter { $0 < 10_000 })
    }
    for number in 0..<10_000 { list.remove(number) }
    #expect(list.elementsEqual([]) && list.last { _ in true } == nil)
    list.insert(1)
    #expect(list.elementsEqual([1]))
  }
}
