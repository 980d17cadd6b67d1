/// Values in order, each once: an index that finds a first or a last one without looking at all. It lies in groups of
/// pieces, so that a change of what a snapshot shares copies one piece, and the lists that lead to it.
struct SortedList<Element: Comparable & Sendable>: Sendable {
  /// Values of a piece, and pieces of a group.
  private static var most: Int { 64 }
  /// By so many elements a full piece grows.
  private static var room: Int { 8 }

  fileprivate struct Place {
    var group = 0
    var piece = 0
    var index = 0
  }

  /// No group and no piece is empty.
  private var groups: [[[Element]]] = []

  fileprivate subscript(place: Place) -> Element {
    get { groups[place.group][place.piece][place.index] }
    _modify { yield &groups[place.group][place.piece][place.index] }
  }

  /// Where the first one is that is not before a place in the order; behind all groups where there is none.
  private func place(_ isBefore: (Element) -> Bool) -> Place {
    let group = Self.first(of: groups.count) { isBefore(groups[$0].final.final) }
    guard group < groups.count else { return Place(group: group) }
    let piece = Self.first(of: groups[group].count) { isBefore(groups[group][$0].final) }
    let index = Self.first(of: groups[group][piece].count) { isBefore(groups[group][piece][$0]) }
    return Place(group: group, piece: piece, index: index)
  }

  /// The first of so many indices for which a condition does not hold that holds for all before it.
  private static func first(of count: Int, _ isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ new: Element) {
    guard !groups.isEmpty else {
      groups = [[[new]]]
      return
    }
    var place = place { $0 < new }
    if place.group == groups.count {
      place.group -= 1
      place.piece = groups[place.group].count - 1
      place.index = groups[place.group][place.piece].count
    } else if self[place] == new {
      return
    }
    if groups[place.group][place.piece].count == Self.most { divide(&place) }
    Self.insert(new, at: place.index, into: &groups[place.group][place.piece])
  }

  private static func insert(_ new: Element, at index: Int, into piece: inout [Element]) {
    // An array that grows by itself has twice the room.
    if piece.count == piece.capacity { piece.reserveCapacity(piece.count + room) }
    piece.insert(new, at: index)
  }

  /// Divides a full piece, and its group where that is then too long. Values that come in order leave full ones behind.
  private mutating func divide(_ place: inout Place) {
    let kept = place.index == Self.most ? Self.most : Self.most / 2
    groups[place.group].insert(Array(groups[place.group][place.piece][kept...]), at: place.piece + 1)
    // A new array, too: the old one keeps the room that it had.
    if kept < Self.most { groups[place.group][place.piece] = Array(groups[place.group][place.piece][..<kept]) }
    if place.index >= kept { (place.piece, place.index) = (place.piece + 1, place.index - kept) }
    guard groups[place.group].count > Self.most else { return }
    groups.insert(Array(groups[place.group][kept...]), at: place.group + 1)
    groups[place.group] = Array(groups[place.group][..<kept])
    if place.piece >= kept { (place.group, place.piece) = (place.group + 1, place.piece - kept) }
  }

  mutating func remove(_ old: Element) {
    let place = place { $0 < old }
    guard place.group < groups.count, self[place] == old else { return }
    groups[place.group][place.piece].remove(at: place.index)
    if groups[place.group][place.piece].isEmpty { groups[place.group].remove(at: place.piece) }
    if groups[place.group].isEmpty { groups.remove(at: place.group) }
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
    let place = place(isBefore)
    guard place.group < groups.count, isMeant(self[place]) else { return nil }
    body(&self[place])
    return self[place]
  }

  /// From a place in the order on.
  func elements(after isBefore: (Element) -> Bool) -> Elements { Elements(list: self, place: place(isBefore)) }

  /// The first ones from a place in the order on, as long as a condition holds.
  func first(_ most: Int, after isBefore: (Element) -> Bool, while isWanted: (Element) -> Bool) -> [Element] {
    var (found, rest) = ([Element](), elements(after: isBefore))
    while found.count < most, let next = rest.next(), isWanted(next) { found.append(next) }
    return found
  }

  /// The last one that is before a place in the order.
  func last(before isBefore: (Element) -> Bool) -> Element? {
    var place = place(isBefore)
    if place.index > 0 {
      place.index -= 1
      return self[place]
    }
    if place.piece > 0 { return groups[place.group][place.piece - 1].last }
    return place.group > 0 ? groups[place.group - 1].last?.last : nil
  }

  struct Elements: Sequence, IteratorProtocol {
    fileprivate let list: SortedList
    fileprivate var place = Place()

    mutating func next() -> Element? {
      guard place.group < list.groups.count else { return nil }
      let next = list[place]
      place.index += 1
      if place.index == list.groups[place.group][place.piece].count {
        (place.piece, place.index) = (place.piece + 1, 0)
      }
      if place.piece == list.groups[place.group].count { place = Place(group: place.group + 1) }
      return next
    }
  }
}

extension SortedList: Sequence { func makeIterator() -> Elements { Elements(list: self) } }

extension SortedList: Equatable { static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) } }

extension Array {
  /// The last one, where there is one.
  fileprivate var final: Element { self[count - 1] }
}
