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
      let value: AttributeValue? = Bool.random(using: &random) ? .integer(Int64(step)) : nil
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
}
