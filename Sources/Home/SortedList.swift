/// Values in order, each once: an index that finds a first or a last one without looking at all. It lies in pieces, so
/// that a change of what a snapshot shares copies one of them, and the list of pieces.
struct SortedList<Element: Comparable & Sendable>: Sendable {
  private static var most: Int { 128 }
  /// By so many elements a full piece grows.
  private static var room: Int { 16 }

  /// None is empty.
  private var pieces: [[Element]] = []

  /// Where the first one is that is not before a place in the order.
  private func position(_ isBefore: (Element) -> Bool) -> (piece: Int, index: Int) {
    let piece = pieces.firstIndex(after: { isBefore($0[$0.count - 1]) })
    guard piece < pieces.count else { return (piece, 0) }
    return (piece, pieces[piece].firstIndex(after: isBefore))
  }

  mutating func insert(_ new: Element) {
    var (piece, index) = position { $0 < new }
    if piece == pieces.count {
      // Those that come in order fill each piece.
      if piece == 0 || pieces[piece - 1].count == Self.most {
        pieces.append([new])
        return
      }
      (piece, index) = (piece - 1, pieces[piece - 1].count)
    }
    if index < pieces[piece].count, pieces[piece][index] == new { return }
    if pieces[piece].count == Self.most {
      // Both are new arrays: one keeps the room that it had.
      let half = Self.most / 2
      pieces.insert(Array(pieces[piece][half...]), at: piece + 1)
      pieces[piece] = Array(pieces[piece][..<half])
      if index > half { (piece, index) = (piece + 1, index - half) }
    }
    // An array that grows by itself has twice the room.
    if pieces[piece].count == pieces[piece].capacity { pieces[piece].reserveCapacity(pieces[piece].count + Self.room) }
    pieces[piece].insert(new, at: index)
  }

  mutating func remove(_ old: Element) {
    let (piece, index) = position { $0 < old }
    guard piece < pieces.count, pieces[piece][index] == old else { return }
    pieces[piece].remove(at: index)
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  /// Replaces one; nil: there is none.
  mutating func replace(_ old: Element?, _ new: Element?) {
    // Not as optional values, which are copied to be compared.
    if let old, let new, old == new { return }
    if let old { remove(old) }
    if let new { insert(new) }
  }

  /// Changes one in its place, where it is there: its order stays.
  ///
  /// - Returns: what it is then; nil where it is not there.
  mutating func change(
    after isBefore: (Element) -> Bool, where isMeant: (Element) -> Bool, _ body: (inout Element) -> Void
  ) -> Element? {
    let (piece, index) = position(isBefore)
    guard piece < pieces.count, isMeant(pieces[piece][index]) else { return nil }
    body(&pieces[piece][index])
    return pieces[piece][index]
  }

  /// From a place in the order on.
  func elements(after isBefore: (Element) -> Bool) -> Elements {
    let (piece, index) = position(isBefore)
    return Elements(list: self, piece: piece, index: index)
  }

  /// The first ones from a place in the order on, as long as a condition holds.
  func first(_ most: Int, after isBefore: (Element) -> Bool, while isWanted: (Element) -> Bool) -> [Element] {
    var (found, rest) = ([Element](), elements(after: isBefore))
    while found.count < most, let next = rest.next(), isWanted(next) { found.append(next) }
    return found
  }

  /// The last one that is before a place in the order.
  func last(before isBefore: (Element) -> Bool) -> Element? {
    let (piece, index) = position(isBefore)
    if index > 0 { return pieces[piece][index - 1] }
    return piece > 0 ? pieces[piece - 1].last : nil
  }

  struct Elements: Sequence, IteratorProtocol {
    fileprivate let list: SortedList
    fileprivate var piece: Int
    fileprivate var index: Int

    mutating func next() -> Element? {
      guard piece < list.pieces.count else { return nil }
      let next = list.pieces[piece][index]
      index += 1
      if index == list.pieces[piece].count { (piece, index) = (piece + 1, 0) }
      return next
    }
  }
}

extension SortedList: Sequence { func makeIterator() -> Elements { Elements(list: self, piece: 0, index: 0) } }

extension SortedList: Equatable { static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) } }

extension Array {
  /// Where those end that come first, by a condition that holds for them only.
  fileprivate func firstIndex(after isFirst: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isFirst(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
