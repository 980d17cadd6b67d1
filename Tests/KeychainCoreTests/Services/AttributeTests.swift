// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KeychainCore

@Suite struct AttributeTests {
  private static let numbers: [(Int64, [UInt8])] = [
    (0, []), (1, [1]), (127, [127]), (128, [0, 128]), (-1, [255]), (-128, [128]),
    (-129, [255, 127]), (65_535, [0, 255, 255]), (.max, [127, 255, 255, 255, 255, 255, 255, 255]),
    (.min, [128, 0, 0, 0, 0, 0, 0, 0]),
  ]

  @Test(arguments: numbers)
  func aNumberHasOneShortestForm(_ number: Int64, _ bytes: [UInt8]) {
    #expect(AttributeValue.integer(number).withCanonicalBytes { Array($0) } == bytes)
    #expect(AttributeValue.date(microseconds: number).withCanonicalBytes { Array($0) } == bytes)
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
    for accessibility in Accessibility.allCases {
      #expect(Accessibility(code: accessibility.code) == accessibility)
    }
    #expect(ItemAttribute.hasNoData.code == nil)
    #expect(ItemAttribute(code: "nope", in: .key) == nil)
    #expect(ItemAttribute(code: "type", in: .key) == .keyType)
    #expect(ItemAttribute(code: "type", in: .genericPassword) == .type)
  }

  @Test func metadataThatIsCutOrBentIsRefused() throws {
    let metadata = ItemMetadata(
      accessible: .always, secretVersion: 1 << 40, attributes: [.label: .string("a label")])
    let bytes = metadata.encoded()
    let again = try bytes.withUnsafeBytes { try ItemMetadata(decoding: $0) }
    #expect(again.secretVersion == 1 << 40 && again.attributes == metadata.attributes)
    // No bytes make it crash, whatever they are.
    for position in 0..<24 {
      for value in UInt8.min ... .max {
        var bent = bytes
        bent[position] = value
        _ = try? bent.withUnsafeBytes { try ItemMetadata(decoding: $0) }
      }
    }
    #expect(throws: (any Error).self) {
      try [UInt8](repeating: 0, count: 128).withUnsafeBytes { try ItemMetadata(decoding: $0) }
    }
  }

  @Test func anItemDoesNotPrintItsAttributes() {
    let item = Item(
      rowID: 1, id: ItemID(high: 1, low: 2), itemClass: .genericPassword, accessible: .always,
      attributes: [.account: .string("anna")], version: 1, secretVersion: 1)
    #expect("\(item)" == "genp item 00000000000000010000000000000002")
  }
}
