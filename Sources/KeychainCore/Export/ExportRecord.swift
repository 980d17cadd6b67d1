// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What lies in an export, one after the other, without regard to chunks. Numbers are big-endian.
///
///     record     kind 1 | version 1 | length 4 | body
///     item (1)   class 1 | accessible 1 | attributes 2 | attribute… | length 4 | secret
///     attribute  number 1 | form 1 | length 4 | bytes
///                forms: 1 text (UTF-8), 2 data, 3 integer and 4 date (8 bytes), 5 truth (1 byte)
///     end (255)  items 8 | damaged 8 | classes 1 | (accessible 1 | items 8)…
///
/// The end is the last one. It says how many items there are, how many were left out because they are
/// damaged, and how many of which class because they are for one device only.
enum ExportRecord {
  case item(NewItem)
  case end(ExportEnd)

  static let headLength = 6
  /// The most bytes of a body.
  static let limit = NewItem.secretLimit + NewItem.attributesLimit + (1 << 20)
  static let version: UInt8 = 1

  enum Kind: UInt8 {
    case item = 1
    case end = 255
  }

  /// The caller wipes it.
  static func encode(_ item: Item, _ secret: SecretBytes) -> [UInt8] {
    record(.item, capacity: length(of: item, secret)) { body in
      body.append(item.itemClass.rawValue)
      body.append(item.accessible.rawValue)
      body.append(bigEndian: UInt16(clamping: item.attributes.count))
      for (attribute, value) in item.attributes {
        body.append(attribute.rawValue)
        value.append(to: &body)
      }
      body.append(bigEndian: UInt32(clamping: secret.count))
      secret.withUnsafeBytes { body.append(contentsOf: $0) }
    }
  }

  /// Bytes of its record, all at once: what grows leaves copies in freed memory.
  static func length(of item: Item, _ secret: SecretBytes) -> Int {
    let attributes = item.attributes.values.reduce(0) { $0 + headLength + $1.exportedCount }
    return headLength + 4 + attributes + 4 + secret.count
  }

  static func encode(_ end: ExportEnd) -> [UInt8] {
    record(.end, capacity: 128) { body in
      body.append(bigEndian: end.items)
      body.append(bigEndian: end.damaged)
      body.append(UInt8(clamping: end.notInExport.count))
      for (accessible, count) in end.notInExport.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        body.append(accessible.rawValue)
        body.append(bigEndian: count)
      }
    }
  }

  private static func record(
    _ kind: Kind, capacity: Int, _ fill: (inout [UInt8]) -> Void
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity)
    bytes += [kind.rawValue, version, 0, 0, 0, 0]
    fill(&bytes)
    let length = UInt32(clamping: bytes.count - headLength)
    for (place, shift) in [24, 16, 8, 0].enumerated() {
      bytes[2 + place] = UInt8(truncatingIfNeeded: length >> UInt32(shift))
    }
    return bytes
  }

  /// Reads a body. Only authentic bytes come here: what does not fit was written by another program.
  ///
  /// - Throws: `ExportFlaw`.
  init(kind: UInt8, version: UInt8, body: ArraySlice<UInt8>) throws {
    guard let kind = Kind(rawValue: kind), version == Self.version else {
      throw ExportFlaw(
        "is of a kind (\(kind).\(version)) that this program does not know: use the newer program")
    }
    var reader = ExportBytes(body)
    do {
      switch kind {
      case .item: self = .item(try Self.item(&reader))
      case .end: self = .end(try Self.end(&reader))
      }
    } catch is ExportBytes.End {
      throw ExportFlaw("ends too early")
    }
    guard reader.rest.isEmpty else { throw ExportFlaw("is longer than what it holds") }
  }

  private static func item(_ reader: inout ExportBytes) throws -> NewItem {
    let number: UInt8 = try reader.number()
    guard let itemClass = ItemClass(rawValue: number) else {
      throw ExportFlaw("has a class (\(number)) that this program does not know")
    }
    let accessible = try accessible(&reader)
    guard !accessible.isThisDeviceOnly else {
      throw ExportFlaw("is for another device only: no export has such items")
    }
    let count: UInt16 = try reader.number()
    var attributes: ItemAttributes = [:]
    let before = reader.rest.count
    for _ in 0..<count {
      let attribute = ItemAttribute(rawValue: try reader.number())
      guard attributes.updateValue(try AttributeValue(&reader), forKey: attribute) == nil else {
        throw ExportFlaw("has an attribute (\(attribute)) twice")
      }
    }
    guard before - reader.rest.count <= NewItem.attributesLimit - ItemMetadata.block * 2 else {
      throw ExportFlaw("has more attributes than a store takes")
    }
    for date in [ItemAttribute.creationDate, .modificationDate]
    where attributes[date]?.date == nil {
      throw ExportFlaw("has no date (\(date))")
    }
    let length: UInt32 = try reader.number()
    guard Int(length) <= NewItem.secretLimit else {
      throw ExportFlaw("has a secret larger than a store takes")
    }
    let secret = SecretBytes(copying: try reader.take(Int(length)))
    return NewItem(itemClass, attributes: attributes, secret: secret, accessible: accessible)
  }

  private static func end(_ reader: inout ExportBytes) throws -> ExportEnd {
    var end = ExportEnd(items: try reader.number(), damaged: try reader.number())
    let classes: UInt8 = try reader.number()
    for _ in 0..<classes { end.notInExport[try accessible(&reader)] = try reader.number() }
    return end
  }

  private static func accessible(_ reader: inout ExportBytes) throws -> Accessibility {
    let number: UInt8 = try reader.number()
    guard let accessible = Accessibility(rawValue: number) else {
      throw ExportFlaw("is accessible in a way (\(number)) that this program does not know")
    }
    return accessible
  }
}

/// The last record.
struct ExportEnd: Equatable {
  var items: UInt64
  var damaged: UInt64
  var notInExport: [Accessibility: UInt64] = [:]
}

/// What is wrong with a record; completes "record 7 …".
struct ExportFlaw: Error {
  let words: String
  init(_ words: String) { self.words = words }
}

extension AttributeValue {
  /// After its number, form and length.
  fileprivate var exportedCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let bytes): bytes.count
    case .integer, .date: 8
    case .bool: 1
    }
  }

  fileprivate func append(to body: inout [UInt8]) {
    func append(_ form: UInt8, _ bytes: some Collection<UInt8>) {
      body.append(form)
      body.append(bigEndian: UInt32(clamping: bytes.count))
      body.append(contentsOf: bytes)
    }
    func append(_ form: UInt8, _ number: Int64) {
      body.append(form)
      body.append(bigEndian: UInt32(8))
      body.append(bigEndian: number)
    }
    switch self {
    case .string(let text): append(1, text.utf8)
    case .data(let bytes): append(2, bytes)
    case .integer(let number): append(3, number)
    case .date(let number): append(4, number)
    case .bool(let isTrue): append(5, [isTrue ? 1 : 0])
    }
  }

  fileprivate init(_ reader: inout ExportBytes) throws {
    let form: UInt8 = try reader.number()
    let length: UInt32 = try reader.number()
    let bytes = try reader.take(Int(length))
    func number() throws -> Int64 {
      guard bytes.count == 8 else { throw ExportFlaw("has a number that is none") }
      return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
    switch form {
    case 1:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw ExportFlaw("has a text that is not UTF-8")
      }
      self = .string(text)
    case 2: self = .data(Array(bytes))
    case 3: self = .integer(try number())
    case 4: self = .date(microseconds: try number())
    case 5:
      guard bytes.count == 1, let byte = bytes.first, byte <= 1 else {
        throw ExportFlaw("has a truth value that is none")
      }
      self = .bool(byte == 1)
    default:
      throw ExportFlaw("has an attribute of a form (\(form)) that this program does not know")
    }
  }
}
