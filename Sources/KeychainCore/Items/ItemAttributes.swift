import Glibc

/// The attributes of an item, used like a dictionary: at most one value for each.
///
/// They are the bytes that are sealed, in the order of the attributes' own bytes, so an item is read and compared without
/// making a text of any of them:
///
///     attribute = tag 1 | length << 3 | kind (LEB128) | canonical bytes
///
/// Kinds: 0 text (UTF-8), 1 data, 2 integer and 3 date (shortest big-endian two's complement), 4 false, 5 true (both
/// without bytes).
package struct ItemAttributes: Equatable, Sendable {
  package typealias Element = (key: ItemAttribute, value: AttributeValue)

  private(set) var bytes: [UInt8] = []

  package init() {}

  /// - Returns: nil for bytes that are not those of attributes in their order.
  init?(decoding bytes: UnsafeRawBufferPointer) {
    var places = AttributePlaces(bytes)
    var last = 0
    while let place = places.next() {
      guard place.tag > last else { return nil }
      last = Int(place.tag)
    }
    guard places.isAtEnd else { return nil }
    self.bytes = Array(bytes)
  }

  package var count: Int { reduce(0) { count, _ in count + 1 } }
  package var isEmpty: Bool { bytes.isEmpty }
  package var keys: [ItemAttribute] { map(\.key) }

  /// Nil: it has no such attribute.
  package subscript(_ attribute: ItemAttribute) -> AttributeValue? {
    get { withPlace(of: attribute) { $0?.value } }
    set {
      let range = bytes.withUnsafeBytes { bytes in
        var (places, start) = (AttributePlaces(bytes), 0)
        while let place = places.next() {
          if place.tag == attribute.rawValue { return start..<places.offset }
          if place.tag > attribute.rawValue { break }
          start = places.offset
        }
        return start..<start
      }
      guard let newValue else { return bytes.removeSubrange(range) }
      put(attribute, newValue, over: range)
    }
  }

  private mutating func put(_ attribute: ItemAttribute, _ value: AttributeValue, over range: Range<Int>) {
    value.withCanonicalBytes { canonical in
      // A truth value is all in its kind.
      let count = value.kind >= 4 ? 0 : canonical.count
      // 11: a tag of one byte, and a length of at most ten.
      withUnsafeTemporaryAllocation(byteCount: 11 + count, alignment: 1) { memory in
        var writer = RowWriter(memory)
        writer.write(attribute.rawValue)
        writer.writeShort(UInt64(count) << 3 | UInt64(value.kind))
        writer.write(UnsafeRawBufferPointer(rebasing: canonical.prefix(count)))
        bytes.replaceSubrange(range, with: memory[..<writer.count])
      }
    }
  }

  /// Lends an attribute as it lies there; nil: it has no such.
  func withPlace<R>(of attribute: ItemAttribute, _ body: (AttributePlaces.Place?) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { bytes in
      var places = AttributePlaces(bytes)
      while let place = places.next(), place.tag <= attribute.rawValue {
        if place.tag == attribute.rawValue { return try body(place) }
      }
      return try body(nil)
    }
  }

  package func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> ItemAttributes {
    var filtered = ItemAttributes()
    for (attribute, value) in self where try isIncluded((attribute, value)) {
      filtered.put(attribute, value, over: filtered.bytes.count..<filtered.bytes.count)
    }
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
    value.withCanonicalBytes { wanted in withPlace(of: attribute) { AttributePlaces.isMet(wanted, by: $0, attribute) } }
  }

  /// Whether all of `wanted` have those values.
  func have(_ wanted: ItemAttributes) -> Bool {
    wanted.bytes.withUnsafeBytes { wanted in
      var places = AttributePlaces(wanted)
      while let one = places.next() {
        let attribute = ItemAttribute(rawValue: one.tag)
        guard withPlace(of: attribute, { AttributePlaces.isMet(one.canonical, by: $0, attribute) }) else {
          return false
        }
      }
      return true
    }
  }
}

extension ItemAttributes: Sequence {
  package struct Iterator: IteratorProtocol {
    fileprivate let bytes: [UInt8]
    private var offset = 0

    fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

    package mutating func next() -> Element? {
      bytes.withUnsafeBytes { bytes in
        var places = AttributePlaces(bytes, from: offset)
        defer { offset = places.offset }
        return places.next().map { (ItemAttribute(rawValue: $0.tag), $0.value) }
      }
    }
  }

  package func makeIterator() -> Iterator { Iterator(bytes) }
}

extension ItemAttributes: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (ItemAttribute, AttributeValue)...) {
    // Most are short, and all come with the dates.
    bytes.reserveCapacity(128)
    for (attribute, value) in elements { self[attribute] = value }
  }
}

/// Goes through the bytes of `ItemAttributes` as long as they are lent.
struct AttributePlaces {
  /// An attribute as it lies there.
  struct Place {
    let tag: UInt8
    fileprivate let kind: UInt8
    /// See `AttributeValue.withCanonicalBytes`.
    let canonical: UnsafeRawBufferPointer

    var value: AttributeValue { AttributeValue(kind: kind, canonical) }
  }

  private static let truth: StaticString = "\u{1}"

  private let bytes: UnsafeRawBufferPointer
  /// Where the next one lies.
  private(set) var offset: Int

  init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0) { (self.bytes, self.offset) = (bytes, offset) }

  var isAtEnd: Bool { offset == bytes.count }

  /// Nil at the end, and for what is no attribute. Not by a `RowReader`: that takes three times as long.
  mutating func next() -> Place? {
    guard !isAtEnd else { return nil }
    var (position, head, shift) = (offset, UInt64(0), UInt64(0))
    repeat {
      position += 1
      guard position < bytes.count, shift < 64 else { return nil }
      head |= UInt64(bytes[position] & 0x7F) << shift
      shift += 7
    } while bytes[position] >= 0x80
    let (kind, start) = (UInt8(head & 7), position + 1)
    guard head >> 3 <= bytes.count - start, kind < 2 || kind < 4 && head >> 3 <= 8 || kind < 6 && head >> 3 == 0 else {
      return nil
    }
    let tag = bytes[offset]
    offset = start + Int(head >> 3)
    let truth = UnsafeRawBufferPointer(start: Self.truth.utf8Start, count: 1)
    return Place(
      tag: tag, kind: kind, canonical: kind == 5 ? truth : UnsafeRawBufferPointer(rebasing: bytes[start..<offset]))
  }

  static func isMet(_ wanted: UnsafeRawBufferPointer, by found: Place?, _ attribute: ItemAttribute) -> Bool {
    guard let found = found?.canonical else { return wanted.isEmpty && attribute.isEmptyByDefault }
    return found.isEqual(to: wanted)
  }
}

extension UnsafeRawBufferPointer {
  func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let mine = baseAddress, let theirs = other.baseAddress else {
      return count == other.count
    }
    return memcmp(mine, theirs, count) == 0
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
    withCanonicalBytes { mine in other.withCanonicalBytes { mine.isEqual(to: $0) } }
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

extension AttributeValue {
  fileprivate var kind: UInt8 {
    switch self {
    case .string: 0
    case .data: 1
    case .integer: 2
    case .date: 3
    case .bool(let value): value ? 5 : 4
    }
  }

  fileprivate init(kind: UInt8, _ canonical: UnsafeRawBufferPointer) {
    switch kind {
    case 0: self = .string(String(decoding: canonical, as: UTF8.self))
    case 1: self = .data(Array(canonical))
    case 2: self = .integer(Self.number(canonical))
    case 3: self = .date(microseconds: Self.number(canonical))
    default: self = .bool(kind == 5)
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    var result: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
    for byte in bytes { result = result << 8 | Int64(byte) }
    return result
  }
}
