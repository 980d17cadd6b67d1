// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// An item as it was when it was read: everything but its secret.
package struct Item: Sendable {
  /// The row; with `id` it finds the item again.
  package let rowID: Int64
  package let id: ItemID
  package let itemClass: ItemClass
  package let accessible: Accessibility
  /// The dates of creation and of the last change are among them.
  package let attributes: ItemAttributes
  /// Rises by one with every change.
  package let version: Int64
  let secretVersion: Int64

  package subscript(_ attribute: ItemAttribute) -> AttributeValue? { attributes[attribute] }

  package var reference: ItemReference { ItemReference(rowID: rowID, id: id) }
  package var accessGroup: String { attributes[.accessGroup]?.string ?? "" }
  package var isSynchronizable: Bool { attributes[.synchronizable]?.bool ?? false }
  /// Microseconds since 1970.
  package var created: Int64 { attributes[.creationDate]?.date ?? 0 }
  package var modified: Int64 { attributes[.modificationDate]?.date ?? 0 }
}

extension Item: CustomStringConvertible {
  /// Attributes can be private too: only what the store's file shows.
  package var description: String { "\(itemClass.code) item \(id)" }
}

/// An item to be added.
package struct NewItem: Sendable {
  /// The most bytes of a secret, and of all attributes together.
  package static let secretLimit = 16 << 20
  package static let attributesLimit = 1 << 20

  package var itemClass: ItemClass
  /// The dates are stamped, unless they are given.
  package var attributes: ItemAttributes
  package var secret: SecretBytes
  package var accessible: Accessibility

  package init(
    _ itemClass: ItemClass, attributes: ItemAttributes, secret: SecretBytes,
    accessible: Accessibility = .whenUnlocked
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.secret = secret
    self.accessible = accessible
  }

  static func tooLarge(_ what: String) -> KeychainError {
    KeychainError(.dataTooLarge, "the \(what) of an item is larger than the store takes")
  }
}

/// Finds an item again after any change of its attributes.
package struct ItemReference: Hashable, Sendable {
  package let rowID: Int64
  package let id: ItemID

  package init(rowID: Int64, id: ItemID) {
    self.rowID = rowID
    self.id = id
  }
}

/// Which items are meant. Everything that is given must hold.
package struct ItemQuery: Sendable {
  /// Nil: every class.
  package var itemClass: ItemClass?
  /// Equal byte by byte. An empty value also finds an attribute that is missing and `isEmptyByDefault`.
  package var attributes: ItemAttributes
  package var accessible: Accessibility?
  /// Nil: every group.
  package var accessGroups: [String]?
  /// Keychain Services leave synchronizable items out unless they are asked for.
  package var synchronizable: Synchronizable
  package var reference: ItemReference?
  /// The most items to return; nil: all.
  package var limit: Int?
  package var unreadable: Unreadable

  package enum Synchronizable: Sendable {
    case no, yes, any
  }

  /// What to do about a row that was altered.
  package enum Unreadable: Sendable {
    /// Answer -26275: nobody knows whether it would have been meant.
    case fail
    /// Leave it out; `Keychain.quarantine` names it.
    case skip
  }

  package init(
    _ itemClass: ItemClass? = nil, _ attributes: ItemAttributes = [:],
    accessible: Accessibility? = nil, accessGroups: [String]? = nil,
    synchronizable: Synchronizable = .no, reference: ItemReference? = nil, limit: Int? = nil,
    unreadable: Unreadable = .fail
  ) {
    self.itemClass = itemClass
    self.attributes = attributes
    self.accessible = accessible
    self.accessGroups = accessGroups
    self.synchronizable = synchronizable
    self.reference = reference
    self.limit = limit
    self.unreadable = unreadable
  }

  /// Whether an item is meant.
  func matches(_ item: Item) -> Bool {
    if let itemClass, item.itemClass != itemClass { return false }
    if let accessible, item.accessible != accessible { return false }
    // The name alone: it is bound to the item, the row is only where to look.
    if let reference, item.id != reference.id { return false }
    switch synchronizable {
    case .any: break
    case .no: if item.isSynchronizable { return false }
    case .yes: if !item.isSynchronizable { return false }
    }
    if let accessGroups, !accessGroups.contains(item.accessGroup) { return false }
    for (attribute, wanted) in attributes {
      if let found = item.attributes[attribute] {
        guard found.matches(wanted) else { return false }
      } else {
        guard wanted.isEmpty, attribute.isEmptyByDefault else { return false }
      }
    }
    return true
  }
}

/// What the metadata part of an item says, before it is sealed:
///
///     accessibility 1 | secret version (LEB128) | attribute … | 0x80 00 … to a multiple of 128
///     attribute = tag 1 | length << 3 | kind (LEB128) | bytes
///
/// Kinds: 0 text (UTF-8), 1 data, 2 integer and 3 date (shortest big-endian two's complement),
/// 4 false, 5 true. Attributes are in the order of their tags.
struct ItemMetadata {
  static let block = 128

  var accessible: Accessibility
  /// The version of the item in which its secret was last written: binds the one to the other.
  var secretVersion: Int64
  var attributes: ItemAttributes

  /// Encoded and padded. The caller wipes it.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.block * 2)
    bytes.append(accessible.rawValue)
    Self.append(UInt64(bitPattern: secretVersion), to: &bytes)
    for (attribute, value) in attributes {
      bytes.append(attribute.rawValue)
      value.withCanonicalBytes { canonical in
        // A truth value is all in its kind.
        let count = value.kind >= 4 ? 0 : canonical.count
        Self.append(UInt64(count) << 3 | UInt64(value.kind), to: &bytes)
        bytes.append(contentsOf: canonical.prefix(count))
      }
    }
    let count = bytes.count
    bytes.append(0x80)
    bytes.append(
      contentsOf: repeatElement(0, count: Padding.paddedCount(count, block: Self.block) - count - 1)
    )
    return bytes
  }
}

extension ItemMetadata {
  /// Reads what `encoded` wrote. Only authentic bytes come here, so an error means a defect or a
  /// store of a newer version.
  init(decoding padded: UnsafeRawBufferPointer) throws {
    // Not in constant time, unlike a secret's: what it says is about to be compared and printed.
    let end = padded.lastIndex { $0 != 0 }
    guard let count = end, padded[count] == 0x80 else { throw SodiumError.badPadding }
    var reader = Reader(bytes: UnsafeRawBufferPointer(rebasing: padded[..<count]))
    guard let accessible = Accessibility(rawValue: try reader.byte()) else {
      throw SodiumError.badPadding
    }
    self.accessible = accessible
    secretVersion = Int64(bitPattern: try reader.number())
    attributes = ItemAttributes(minimumCapacity: 12)
    while !reader.isAtEnd {
      let attribute = ItemAttribute(rawValue: try reader.byte())
      let head = try reader.number()
      let bytes = try reader.take(head >> 3)
      attributes[attribute] = try AttributeValue(kind: UInt8(head & 7), bytes)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() throws -> UInt8 {
      guard position < bytes.count else { throw SodiumError.badPadding }
      defer { position += 1 }
      return bytes[position]
    }

    mutating func number() throws -> UInt64 {
      var result: UInt64 = 0
      for shift in stride(from: 0, to: 64, by: 7) {
        let next = try byte()
        result |= UInt64(next & 0x7F) << UInt64(shift)
        if next < 0x80 { return result }
      }
      throw SodiumError.badPadding
    }

    mutating func take(_ count: UInt64) throws -> UnsafeRawBufferPointer {
      guard count <= UInt64(bytes.count - position) else { throw SodiumError.badPadding }
      defer { position += Int(count) }
      return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + Int(count))])
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

  fileprivate init(kind: UInt8, _ bytes: UnsafeRawBufferPointer) throws {
    switch kind {
    case 0: self = .string(String(decoding: bytes, as: UTF8.self))
    case 1: self = .data(Array(bytes))
    case 2: self = .integer(try Self.number(bytes))
    case 3: self = .date(microseconds: try Self.number(bytes))
    case 4: self = .bool(false)
    case 5: self = .bool(true)
    default: throw SodiumError.badPadding
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    guard bytes.count <= 8 else { throw SodiumError.badPadding }
    var result: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
    for byte in bytes { result = result << 8 | Int64(byte) }
    return result
  }
}
