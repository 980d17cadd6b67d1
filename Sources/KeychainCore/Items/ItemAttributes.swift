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

  /// Nil: it has no such attribute.
  package subscript(_ attribute: ItemAttribute) -> AttributeValue? {
    get {
      for index in elements.indices where elements[index].key == attribute { return elements[index].value }
      return nil
    }
    set {
      // Mostly they come in order, so the place is sought from the end.
      var place = elements.count
      while place > 0, elements[place - 1].key.rawValue > attribute.rawValue { place -= 1 }
      let isThere = place > 0 && elements[place - 1].key == attribute
      switch newValue {
      case let value? where isThere: elements[place - 1].value = value
      case let value?: elements.insert((attribute, value), at: place)
      case nil: if isThere { elements.remove(at: place - 1) }
      }
    }
  }

  package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> ItemAttributes {
    var filtered = ItemAttributes()
    filtered.elements = try elements.filter(isIncluded)
    return filtered
  }

  /// - Parameter combine: chooses between the value here and the other one.
  package func merging(_ others: some Sequence<Element>, _ combine: (AttributeValue, AttributeValue) -> AttributeValue)
    -> ItemAttributes
  {
    var merged = self
    for (attribute, value) in others { merged[attribute] = self[attribute].map { combine($0, value) } ?? value }
    return merged
  }

  /// Whether an attribute has that value. What is missing and `isEmptyByDefault` has an empty one.
  func has(_ value: AttributeValue, for attribute: ItemAttribute) -> Bool {
    self[attribute]?.matches(value) ?? (value.isEmpty && attribute.isEmptyByDefault)
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

/// The value of an attribute.
package enum AttributeValue: Sendable {
  case string(String)
  case data([UInt8])
  case integer(Int64)
  /// Microseconds since 1970-01-01T00:00:00Z.
  case date(microseconds: Int64)
  case bool(Bool)

  package var string: String? { if case .string(let value) = self { value } else { nil } }
  package var data: [UInt8]? { if case .data(let value) = self { value } else { nil } }
  package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  package var date: Int64? { if case .date(let value) = self { value } else { nil } }
  package var bool: Bool? {
    switch self {
    case .bool(let value): value
    case .integer(let value): value != 0
    default: nil
    }
  }

  /// What is compared and hashed: the bytes of a text or of data, a number as big-endian two's
  /// complement without leading bytes that say nothing. 0, false and what is empty give nothing,
  /// like an attribute that is missing. Part of the format.
  func withCanonicalBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    switch self {
    case .string(var text): return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    case .data(let bytes): return try bytes.withUnsafeBytes(body)
    case .bool(let value): return try Self.withShortest(value ? 1 : 0, body)
    case .integer(let value), .date(let value): return try Self.withShortest(value, body)
    }
  }

  private static func withShortest<R>(_ number: Int64, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeBytes(of: number.bigEndian) { bytes in
      try body(UnsafeRawBufferPointer(rebasing: bytes.suffix(shortestCount(number))))
    }
  }

  /// The bytes that `number` needs as two's complement: 0 for 0, 1 for -128…127, …
  static func shortestCount(_ number: Int64) -> Int {
    guard number != 0 else { return 0 }
    let sign = number < 0 ? ~number : number
    return (64 - sign.leadingZeroBitCount) / 8 + 1
  }

  /// Whether two values mean the same to a query. Texts are compared byte by byte, not by
  /// Unicode's equivalences, as Keychain Services does.
  package func matches(_ other: AttributeValue) -> Bool {
    withCanonicalBytes { mine in other.withCanonicalBytes { mine.elementsEqual($0) } }
  }

  var isEmpty: Bool { withCanonicalBytes { $0.isEmpty } }
}

extension AttributeValue: Equatable {
  /// The same kind and the same bytes.
  package static func == (left: AttributeValue, right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.string, .string), (.data, .data), (.integer, .integer), (.date, .date), (.bool, .bool): left.matches(right)
    default: false
    }
  }
}
