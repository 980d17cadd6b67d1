// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import ThreadkeeperSupport

@Suite("JSON that is written")
struct JSONWriterTests {
  private enum Kind: String, Encodable, CaseIterable { case first, second }

  private struct Whole: Encodable {
    var z = Int.min
    var numbers: [UInt64] = [0, .max]
    var small: Int8? = -1
    var nothing: String?
    var kinds = Kind.allCases
    var isIt = true
    var texts = ["b": "x/y", "a": "", "aa": "é👩‍🚒", "e\u{301}": "1", "f": "2", "Z": "3", "a_b": "4"]
    var empty: [String: Int] = [:]
    var none: [Int] = []
    var inner = Inner()
  }

  private struct Inner: Encodable {
    private enum Keys: String, CodingKey { case list, object, absent, b, a }

    /// As nobody here does it: containers within containers, and two for one object.
    func encode(to encoder: any Encoder) throws {
      var first = encoder.container(keyedBy: Keys.self)
      try first.encode(1, forKey: .b)
      var list = first.nestedUnkeyedContainer(forKey: .list)
      var object = first.nestedContainer(keyedBy: Keys.self, forKey: .object)
      try object.encode("inside", forKey: .a)
      try list.encode(false)
      try list.encodeNil()
      var nested = list.nestedContainer(keyedBy: Keys.self)
      try nested.encodeNil(forKey: .absent)
      var second = encoder.container(keyedBy: Keys.self)
      try second.encode("before", forKey: .a)
      try second.encode("after", forKey: .a)
    }
  }

  private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) {}
  }

  /// What Foundation writes, with which this agrees byte by byte.
  private func expected(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func written(_ value: some Encodable) throws -> String {
    String(decoding: try JSONWriter.bytes(of: value), as: UTF8.self)
  }

  @Test(
    "Objects, arrays, numbers, words and containers within containers are as Foundation writes them"
  )
  func forms() throws {
    #expect(try written(Whole()) == expected(Whole()))
    #expect(try written([Whole(), Whole()]) == expected([Whole(), Whole()]))
    #expect(try written("text") == expected("text"))
    #expect(try written(Kind.second) == expected(Kind.second))
    #expect(try written([Int?.none, 1]) == "[null,1]")
  }

  @Test("A value that encodes nothing is an empty object")
  func nothing() throws {
    #expect(try written(Nothing()) == "{}")
    #expect(try written(["a": Nothing()]) == #"{"a":{}}"#)
  }

  @Test("Every character of a text is as Foundation writes it")
  func characters() throws {
    for scalar in (0..<0x180).compactMap(Unicode.Scalar.init) {
      let text = "a\(scalar)b"
      #expect(try written([text: text]) == expected([text: text]), "\(scalar.value)")
    }
    #expect(try written("\u{2028}\u{FFFF}\u{10FFFF}") == expected("\u{2028}\u{FFFF}\u{10FFFF}"))
  }

  @Test("Random texts come back as they were")
  func roundTrip() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      var read: String?
      _ = try UntrustedJSON.readMembers(of: JSONWriter.bytes(of: ["text": text]), depth: 1) {
        if case .string(let string) = $0.value { read = string.text }
      }
      #expect(read.map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test("Fractions are refused, wherever they are")
  func fractions() {
    #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: 0.5) }
    #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: [0.5 as Float]) }
    #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: ["a": 1.0]) }
  }
}
