import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

@Suite struct AttributeTests {
  private static let numbers: [(Int64, [UInt8])] = [
    (0, []), (1, [1]), (127, [127]), (128, [0, 128]), (-1, [255]), (-128, [128]), (-129, [255, 127]),
    (65_535, [0, 255, 255]), (.max, [127, 255, 255, 255, 255, 255, 255, 255]), (.min, [128, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test func aNumberHasOneShortestForm() {
    for (number, bytes) in Self.numbers {
      #expect(AttributeValue.integer(number).withCanonicalBytes { Array($0) } == bytes)
      #expect(AttributeValue.date(microseconds: number).withCanonicalBytes { Array($0) } == bytes)
    }
  }

  @Test func valuesOfAnotherKindAreNotEqualButCanMatch() {
    #expect(AttributeValue.string("a") != .data([97]))
    #expect(AttributeValue.string("a").matches(.data([97])))
    #expect(AttributeValue.bool(true) != .integer(1))
    #expect(AttributeValue.bool(true).matches(.integer(1)))
    #expect(!AttributeValue.bool(true).matches(.integer(2)))
    #expect(AttributeValue.bool(false).isEmpty && AttributeValue.string("").isEmpty)
  }

  @Test func codesAreThoseOfKeychainServices() {
    for itemClass in ItemClass.allCases {
      for attribute in itemClass.primaryKey {
        let code = attribute.code
        #expect(code.flatMap { ItemAttribute(code: $0, in: itemClass) } == attribute)
      }
      #expect(ItemClass(code: itemClass.code) == itemClass)
    }
    for accessibility in Accessibility.allCases { #expect(Accessibility(code: accessibility.code) == accessibility) }
    #expect(ItemAttribute.hasNoData.code == nil)
    #expect(ItemAttribute(code: "nope", in: .key) == nil)
    #expect(ItemAttribute(code: "type", in: .key) == .keyType)
    #expect(ItemAttribute(code: "type", in: .genericPassword) == .type)
  }

  @Test func metadataThatIsCutOrBentIsRefused() throws {
    let item = Item(
      rowID: 1, id: ItemID(high: 1, low: 2), itemClass: .genericPassword, accessible: .always,
      attributes: [.label: .string("a label")], version: 1, secretVersion: 1 << 40)
    let bytes = item.encoded()
    var again = Item(rowID: 1, id: item.id, itemClass: .genericPassword, version: 1)
    try bytes.withUnsafeBytes { try again.decode($0) }
    #expect(again.accessible == .always && again.secretVersion == 1 << 40)
    #expect(again.attributes == item.attributes)
    // No bytes make it crash, whatever they are.
    for position in 0..<24 {
      for value in UInt8.min ... .max {
        var bent = bytes
        bent[position] = value
        try? bent.withUnsafeBytes { try again.decode($0) }
      }
    }
    #expect(throws: (any Error).self) { try [UInt8](repeating: 0, count: 128).withUnsafeBytes { try again.decode($0) } }
  }

  @Test("Metadata comes back whatever its length, with zeros at its end too, and without its mark it is refused")
  func metadataOfEachLength() throws {
    for count in 0...140 {
      let item = Item(
        rowID: 1, id: ItemID(high: 1, low: 2), itemClass: .genericPassword, accessible: .always,
        attributes: [.generic: .data([UInt8](repeating: 0, count: count))], version: 1)
      var bytes = item.encoded()
      #expect(bytes.count % 128 == 0)
      var again = Item(rowID: 1, id: item.id, itemClass: .genericPassword, version: 1)
      try bytes.withUnsafeBytes { try again.decode($0) }
      #expect(again.attributes == item.attributes)
      let mark = try #require(bytes.lastIndex(of: 0x80))
      bytes[mark] = 0
      #expect(throws: SodiumError.badPadding) { try bytes.withUnsafeBytes { try again.decode($0) } }
    }
  }

  @Test func anItemDoesNotPrintItsAttributes() {
    let item = Item(
      rowID: 1, id: ItemID(high: 1, low: 2), itemClass: .genericPassword, accessible: .always,
      attributes: [.account: .string("anna")], version: 1, secretVersion: 1)
    #expect("\(item)" == "genp item 00000000000000010000000000000002")
  }
}

@Suite("The attributes of an item") struct ItemAttributesTests {
  @Test("They answer as a dictionary does, and come in the order of their bytes") func model() {
    var random = SeededGenerator(seed: 3)
    var attributes = ItemAttributes()
    var model: [ItemAttribute: AttributeValue] = [:]
    for step in 0..<500 {
      let attribute = ItemAttribute(rawValue: UInt8.random(in: 1...24, using: &random))
      let count = Int.random(in: 0...200, using: &random)
      let values: [AttributeValue?] = [
        nil, nil, .integer(Int64(step)), .bool(step % 2 == 0), .string(String(repeating: "é", count: count)),
        .data([UInt8](repeating: 0x80, count: count)),
      ]
      let value = values[Int.random(in: values.indices, using: &random)]
      attributes[attribute] = value
      model[attribute] = value
      #expect(attributes[attribute] == value)
      #expect(attributes.count == model.count)
      #expect(attributes.isEmpty == model.isEmpty)
      #expect(attributes.keys == model.keys.sorted { $0.rawValue < $1.rawValue })
    }
    for (attribute, value) in attributes { #expect(model[attribute] == value) }
  }

  @Test("Equal ones are equal in whatever order they were set; of one that is given twice the last counts")
  func equality() {
    let one: ItemAttributes = [.label: .string("a"), .account: .string("b")]
    let other: ItemAttributes = [.account: .string("c"), .account: .string("b"), .label: .string("a")]
    #expect(one == other)
    #expect(one != [.account: .string("b")])
    #expect(one != [.account: .string("b"), .label: .data([0x61])])
  }

  @Test("Merging asks which of two values counts, and filtering leaves out") func merging() {
    let one: ItemAttributes = [.label: .string("a"), .account: .string("b")]
    let other: ItemAttributes = [.label: .string("x"), .service: .string("s")]
    #expect(one.merging(other) { $1 } == [.label: .string("x"), .account: .string("b"), .service: .string("s")])
    #expect(one.merging(other) { mine, _ in mine }[.label] == .string("a"))
    #expect(one.filter { $0.key == .label } == [.label: .string("a")])
  }

  @Test("They are the bytes that are sealed, in the order of the tags whatever was set first") func layout() throws {
    var attributes: ItemAttributes = [
      .label: .string("é"), .isInvisible: .bool(true), .synchronizable: .bool(false), .port: .integer(-129),
      .generic: .data([0, 1]), .creationDate: .date(microseconds: 0),
    ]
    let bytes: [UInt8] = [4, 4, 5, 2 << 3, 0xC3, 0xA9, 8, 2 << 3 | 1, 0, 1, 11, 5, 13, 3, 28, 2 << 3 | 2, 0xFF, 0x7F]
    #expect(attributes.bytes == bytes)
    #expect(bytes.withUnsafeBytes { ItemAttributes(decoding: $0) } == attributes)
    // Of another length, in the midst.
    let long = String(repeating: "x", count: 300)
    attributes[.label] = .string(long)
    #expect(attributes[.label] == .string(long) && attributes[.port] == .integer(-129) && attributes.count == 6)
    #expect(attributes.bytes.withUnsafeBytes { ItemAttributes(decoding: $0) } == attributes)
    attributes[.label] = nil
    #expect(attributes.bytes == Array(bytes[..<2] + bytes[6...]))
  }

  @Test(
    "Bytes that are no attributes are refused",
    arguments: [
      [1], [1, 0x80], [1, 1 << 3], [2, 0, 1, 0], [1, 0, 1, 0], [0, 0], [1, 6], [1, 7], [1, 1 << 3 | 4, 0],
      [1, 1 << 3 | 5, 1], [28, 9 << 3 | 2, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
      [1, 0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0],
    ] as [[UInt8]]) func malformed(_ bytes: [UInt8])
  { #expect(bytes.withUnsafeBytes { ItemAttributes(decoding: $0) } == nil) }

  @Test("A query is met by the same bytes of another kind, and an empty value by one that is missing in a primary key")
  func met() {
    let item: ItemAttributes = [
      .account: .string("a"), .isInvisible: .bool(true), .isNegative: .bool(false), .generic: .data([0x61]),
    ]
    let yes: [ItemAttributes] = [
      [:], [.account: .data([0x61])], [.isInvisible: .integer(1)], [.isNegative: .integer(0), .generic: .string("a")],
      [.service: .string("")], [.synchronizable: .bool(false)],
    ]
    let no: [ItemAttributes] = [
      [.account: .string("A")], [.account: .string("")], [.account: .string("ab")], [.label: .string("")],
      [.isInvisible: .bool(false)], [.isNegative: .bool(true)], [.service: .string("s")],
      [.account: .string("a"), .generic: .data([])],
    ]
    for wanted in yes { #expect(item.have(wanted) && wanted.allSatisfy { item.has($0.value, for: $0.key) }) }
    for wanted in no { #expect(!item.have(wanted) && !wanted.allSatisfy { item.has($0.value, for: $0.key) }) }
  }
}
