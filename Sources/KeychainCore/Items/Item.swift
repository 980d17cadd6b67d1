import SodiumCrypto

/// An item as it was when it was read: everything but its secret. As its metadata part says it, before that is sealed:
///
///     accessibility 1 | secret version (LEB128) | ItemAttributes | 0x80 00 … to a multiple of 128
package struct Item: Sendable {
  private static let block = 128

  /// The row; with `id` it finds the item again.
  package var rowID: Int64
  package let id: ItemID
  package let itemClass: ItemClass
  package var accessible = Accessibility.whenUnlocked
  /// The dates of creation and of the last change are among them.
  package var attributes = ItemAttributes()
  /// Rises by one with every change.
  package var version: Int64
  /// The version in which the secret was last written: binds the one to the other.
  var secretVersion: Int64 = 1

  package subscript(_ attribute: ItemAttribute) -> AttributeValue? { attributes[attribute] }

  package var reference: ItemReference { ItemReference(.stored(itemClass), rowID: rowID, id: id) }
  package var accessGroup: String { attributes[.accessGroup]?.string ?? "" }
  package var isSynchronizable: Bool { attributes[.synchronizable]?.bool ?? false }
  /// Microseconds since 1970.
  package var created: Int64 { attributes[.creationDate]?.date ?? 0 }
  package var modified: Int64 { attributes[.modificationDate]?.date ?? 0 }
}

extension Item {
  /// Where a part of it belongs. The metadata binds the version of the item, and has the version in which the secret
  /// was written: so neither is ever paired with an older other.
  func binding(of part: SealedPart.Role, _ store: StoreID) -> SealedPart.Binding {
    var binding = SealedPart.Binding(role: part, store: store, subject: id)
    (binding.itemClass, binding.version) = (itemClass.rawValue, part == .secret ? secretVersion : version)
    return binding
  }

  /// Its metadata, padded. The caller wipes it.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Padding.paddedCount(attributes.bytes.count + 11, block: Self.block))
    bytes.write(accessible.rawValue)
    bytes.writeShort(UInt64(bitPattern: secretVersion))
    bytes += attributes.bytes
    let count = bytes.count
    bytes.append(0x80)
    bytes.append(contentsOf: repeatElement(0, count: Padding.paddedCount(count, block: Self.block) - count - 1))
    return bytes
  }

  /// Reads what `encoded` wrote. Only authentic bytes come here, so an error means a defect or a
  /// store of a newer version.
  mutating func decode(_ padded: UnsafeRawBufferPointer) throws {
    // Not in constant time, unlike a secret's: what it says is about to be compared and printed.
    var end = padded.count
    // Eight zeros at once.
    while end >= 8, padded.loadUnaligned(fromByteOffset: end - 8, as: UInt64.self) == 0 { end -= 8 }
    guard let count = padded[..<end].lastIndex(where: { $0 != 0 }), padded[count] == 0x80 else {
      throw SodiumError.badPadding
    }
    var reader = RowReader(UnsafeRawBufferPointer(rebasing: padded[..<count]))
    guard let accessible = Accessibility(rawValue: try reader.number()) else { throw SodiumError.badPadding }
    self.accessible = accessible
    secretVersion = Int64(bitPattern: try reader.short())
    guard let attributes = ItemAttributes(decoding: reader.rest) else { throw SodiumError.badPadding }
    self.attributes = attributes
  }
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
    _ itemClass: ItemClass, attributes: ItemAttributes, secret: SecretBytes, accessible: Accessibility = .whenUnlocked
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

/// A name for an item that outlives the program and any change of the item's attributes. As bytes:
///
///     class 4 ("genp") | row 8, big-endian | item 16
///
/// For an identity, the item is its certificate.
package struct ItemReference: Hashable, Sendable {
  private static let length = 28

  package let itemClass: RequestClass
  package let rowID: Int64
  package let id: ItemID

  package init(_ itemClass: RequestClass, rowID: Int64, id: ItemID) {
    self.itemClass = itemClass
    self.rowID = rowID
    self.id = id
  }

  /// - Throws: `param` when the bytes are no reference.
  package init(decoding bytes: [UInt8]) throws(KeychainError) {
    let reference = bytes.withUnsafeBytes { bytes -> Self? in
      var reader = RowReader(bytes)
      guard bytes.count == Self.length, let code = try? reader.take(4),
        let itemClass = RequestClass(code: String(decoding: code, as: UTF8.self)),
        let rowID: Int64 = try? reader.number(), let id: ItemID = try? reader.name()
      else { return nil }
      return Self(itemClass, rowID: rowID, id: id)
    }
    guard let reference else { throw KeychainError(.param, "that is no persistent reference of this keychain") }
    self = reference
  }

  package var bytes: [UInt8] {
    var bytes = Array(itemClass.code.utf8)
    bytes.write(rowID)
    bytes.write(id)
    return bytes
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

  package enum Synchronizable: Sendable { case no, yes, any }

  /// What to do about a row that was altered.
  package enum Unreadable: Sendable {
    /// Answer -26275: nobody knows whether it would have been meant.
    case fail
    /// Leave it out; `Keychain.quarantine` names it.
    case skip
  }

  package init(
    _ itemClass: ItemClass? = nil, _ attributes: ItemAttributes = [:], accessible: Accessibility? = nil,
    accessGroups: [String]? = nil, synchronizable: Synchronizable = .no, reference: ItemReference? = nil,
    limit: Int? = nil, unreadable: Unreadable = .fail
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
    return item.attributes.have(attributes)
  }
}
