// SPDX-License-Identifier: Apache-2.0

/// The attributes of an item, used like a dictionary: at most one value for each.
///
/// An array in the order of the attributes' bytes, which is the order on the disk. An item has about ten, and finding
/// one among so few takes less time than hashing it would.
package struct ItemAttributes: Equatable, Sendable {
  package typealias Element = (key: ItemAttribute, value: AttributeValue)

  private var elements: [Element] = []

  package init() {}

  package init(minimumCapacity: Int) { elements.reserveCapacity(minimumCapacity) }

  package var count: Int { elements.count }
  package var isEmpty: Bool { elements.isEmpty }
  package var keys: [ItemAttribute] { elements.map(\.key) }
  package var values: [AttributeValue] { elements.map(\.value) }

  /// Nil: it has no such attribute.
  package subscript(_ attribute: ItemAttribute) -> AttributeValue? {
    get {
      for index in elements.indices where elements[index].key == attribute {
        return elements[index].value
      }
      return nil
    }
    set { updateValue(newValue, forKey: attribute) }
  }

  /// - Parameter value: nil removes the attribute.
  /// - Returns: the value before.
  @discardableResult
  package mutating func updateValue(
    _ value: AttributeValue?, forKey attribute: ItemAttribute
  ) -> AttributeValue? {
    // Mostly they come in order, so the place is sought from the end.
    var place = elements.count
    while place > 0, elements[place - 1].key.rawValue > attribute.rawValue { place -= 1 }
    guard place > 0, elements[place - 1].key == attribute else {
      if let value { elements.insert((attribute, value), at: place) }
      return nil
    }
    let before = elements[place - 1].value
    if let value {
      elements[place - 1].value = value
    } else {
      elements.remove(at: place - 1)
    }
    return before
  }

  package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> ItemAttributes {
    var filtered = ItemAttributes()
    filtered.elements = try elements.filter(isIncluded)
    return filtered
  }

  /// - Parameter combine: chooses between the value here and the other one.
  package func merging(
    _ others: some Sequence<Element>, _ combine: (AttributeValue, AttributeValue) -> AttributeValue
  ) -> ItemAttributes {
    var merged = self
    for (attribute, value) in others {
      merged[attribute] = self[attribute].map { combine($0, value) } ?? value
    }
    return merged
  }

  package static func == (left: ItemAttributes, right: ItemAttributes) -> Bool {
    left.elements.elementsEqual(right.elements) { $0 == $1 }
  }
}

extension ItemAttributes: Sequence {
  package func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}

extension ItemAttributes: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (ItemAttribute, AttributeValue)...) {
    self.elements.reserveCapacity(elements.count + 3)
    for (attribute, value) in elements { self[attribute] = value }
  }
}
