// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing

@testable import KeychainCore

@Suite("The attributes of an item")
struct ItemAttributesTests {
  @Test("They answer as a dictionary does, and come in the order of their bytes")
  func model() {
    var random = SeededGenerator(seed: 3)
    var attributes = ItemAttributes()
    var model: [ItemAttribute: AttributeValue] = [:]
    for step in 0..<2_000 {
      let attribute = ItemAttribute(rawValue: UInt8.random(in: 1...24, using: &random))
      let value: AttributeValue? =
        Bool.random(using: &random) ? .integer(Int64(step)) : nil
      #expect(attributes.updateValue(value, forKey: attribute) == model[attribute])
      model[attribute] = value
      #expect(attributes[attribute] == value)
      #expect(attributes.count == model.count)
      #expect(attributes.isEmpty == model.isEmpty)
      #expect(attributes.keys == model.keys.sorted { $0.rawValue < $1.rawValue })
    }
    for (attribute, value) in attributes { #expect(model[attribute] == value) }
  }

  @Test(
    "Equal ones are equal in whatever order they were set; of one that is given twice the last counts"
  )
  func equality() {
    let one: ItemAttributes = [.label: .string("a"), .account: .string("b")]
    let other: ItemAttributes = [
      .account: .string("c"), .account: .string("b"), .label: .string("a"),
    ]
    #expect(one == other)
    #expect(one != [.account: .string("b")])
    #expect(one != [.account: .string("b"), .label: .data([0x61])])
  }

  @Test("Merging asks which of two values counts, and filtering leaves out")
  func merging() {
    let one: ItemAttributes = [.label: .string("a"), .account: .string("b")]
    let other: ItemAttributes = [.label: .string("x"), .service: .string("s")]
    #expect(
      one.merging(other) { $1 }
        == [.label: .string("x"), .account: .string("b"), .service: .string("s")])
    #expect(one.merging(other) { mine, _ in mine }[.label] == .string("a"))
    #expect(one.filter { $0.key == .label } == [.label: .string("a")])
  }
}
